import { totalmem } from "node:os";
import { isInside } from "@toolcrib/kit/files";

/** Private and empty inside the sandbox: the real ones contain sockets of services, for example. */
const hidden: readonly string[] = ["/tmp", "/run"];
/** Parts of /run that programs need. */
const shownRun: readonly string[] = ["/run/current-system", "/run/opengl-driver"];
const shownRunForNetwork: readonly string[] = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];

/** A directory that is visible inside, and the number of its open descriptor in bubblewrap. */
export interface ShownDirectory {
  readonly path: string;
  readonly descriptor: number;
}

export interface Surroundings {
  readonly writable: readonly ShownDirectory[];
  /** Directories that must be made visible: they lie in a hidden place and in no writable directory. Outer ones come first. */
  readonly readable: readonly ShownDirectory[];
  /** The descriptor from which bubblewrap reads the arguments that mask hidden and denied paths. */
  readonly masks: number | undefined;
  readonly network: boolean;
  /** The descriptor from which bubblewrap reads the system call filter. */
  readonly filter: number | undefined;
  /** Size limit of each of /tmp, /run and /dev/shm, which are in memory. */
  readonly temporaryBytes: number;
  readonly cwd: string;
  /** Set only inside: LD_PRELOAD set for bubblewrap itself would run code outside. */
  readonly env: Readonly<Record<string, string>>;
}

/** Returns whether a real path, which lies outside the directories that are shown, is replaced by something private inside. */
export function isReplaced(path: string): boolean {
  const shown = [...shownRun, ...shownRunForNetwork].some((place) => isInside(place, path) || isInside(path, place));
  return (isHidden(path) || isInside("/dev", path)) && !shown;
}

/** Returns whether the real path is not visible inside. */
export function isHidden(path: string): boolean {
  return hidden.some((place) => isInside(place, path));
}

/**
 * Returns the arguments: the filesystem is read-only except for `writable`; no capabilities; own namespaces, and no right to make
 * more. No process outlives the command, because later commands could not reach it.
 */
export function bubblewrapArguments(inside: Surroundings): string[] {
  const { writable, readable, masks, network, filter, temporaryBytes, cwd, env } = inside;
  // bubblewrap must use every descriptor that it gets: one left open would lead out of the sandbox.
  const bind = ({ path, descriptor }: ShownDirectory): string[] => ["--bind-fd", String(descriptor), path];
  const size = Number.isFinite(temporaryBytes) ? ["--size", String(temporaryBytes)] : [];
  const memory = (place: string): string[] => [...size, "--tmpfs", place];
  return [
    ...Object.entries(env).flatMap(([key, value]) => ["--setenv", key, value]),
    ..."--unshare-all --unshare-user --disable-userns --die-with-parent --cap-drop ALL --ro-bind / /".split(" "),
    ...(network ? ["--share-net"] : []),
    ...(filter === undefined ? [] : ["--seccomp", String(filter)]),
    // Those in /tmp and /run follow below, after the mounts that would cover them.
    ...writable.filter(({ path }) => !isHidden(path)).flatMap(bind),
    // Read-only, because system settings are files in /proc, and root inside the sandbox is root for them.
    ..."--dev /dev --proc /proc --remount-ro /proc".split(" "),
    ...["/dev/shm", ...hidden].flatMap(memory),
    "--remount-ro",
    "/dev",
    ...[...shownRun, ...(network ? shownRunForNetwork : [])].flatMap((place) => ["--ro-bind-try", place, place]),
    ...readable.flatMap(({ path, descriptor }) => ["--ro-bind-fd", String(descriptor), path]),
    ...writable.filter(({ path }) => isHidden(path)).flatMap(bind),
    // Last: the writable directories would cover them.
    ...(masks === undefined ? [] : ["--args", String(masks)]),
    "--chdir",
    cwd,
    "--",
  ];
}

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
