import { totalmem } from "node:os";

/** Resource limits of a command in the sandbox; `Infinity` for no limit. */
export interface SandboxLimits {
  /** Processes and threads at once. No effect if this process runs as root. Default: 4,096. */
  processes?: number;
  /** Bytes of private memory for each process. Default: half of the machine's memory, at least 2 GiB. */
  memoryBytes?: number;
  /** Bytes in each of /tmp, /run and /dev/shm, which are in memory. Default: 1 GiB. */
  temporaryBytes?: number;
}

const gibibyte = 2 ** 30;

export function limitsWithDefaults(limits: SandboxLimits): Required<SandboxLimits> {
  return {
    processes: 4096,
    memoryBytes: Math.max(2 * gibibyte, Math.floor(totalmem() / 2)),
    temporaryBytes: gibibyte,
    ...limits,
  };
}

/**
 * Returns arguments for `/bin/sh`: a script that sets the limits and then runs the program given after them. A limit that is already lower
 * stays. The limit of processes is option `p` in dash and `u` in other shells.
 */
export function limitingShell({ processes, memoryBytes }: Required<SandboxLimits>): string[] {
  const script = `limit() { ulimit "-$1" "$2" 2>/dev/null || [ "$(ulimit "-$1" 2>/dev/null)" -le "$2" ] 2>/dev/null; }
[ "$1" = Infinity ] || limit u "$1" || limit p "$1" || { echo "/bin/sh cannot limit processes" >&2; exit 125; }
[ "$2" = Infinity ] || limit d "$2" || { echo "/bin/sh cannot limit memory" >&2; exit 125; }
shift 2
exec "$@"`;
  return ["-c", script, "sh", String(processes), String(Math.ceil(memoryBytes / 1024))];
}
