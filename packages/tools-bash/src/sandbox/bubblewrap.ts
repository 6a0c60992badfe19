import { isInside } from "@toolcrib/core/files";
import type { Masks } from "./masks.ts";

/** Private and empty inside: what lies in the real ones (sockets of services, say) is not for commands. */
const hidden: readonly string[] = ["/tmp", "/run"];
/** Parts of /run that programs cannot work without. */
const shownRun: readonly string[] = ["/run/current-system", "/run/opengl-driver"];
const shownRunForNetwork: readonly string[] = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];

/** A directory that is shown inside, and the descriptor that bubblewrap finds open on it. */
export interface ShownDirectory {
  readonly path: string;
  readonly descriptor: number;
}

export interface Surroundings {
  readonly writable: readonly ShownDirectory[];
  /** To be shown for reading, where it lies in a hidden place. */
  readonly home: ShownDirectory | undefined;
  readonly masks: Masks;
  readonly network: boolean;
  /** The number of the descriptor that the system call filter is read from. */
  readonly filter: number | undefined;
  /** What fits into each of /tmp, /run and /dev/shm, which are memory. */
  readonly temporaryBytes: number;
  readonly cwd: string;
  /** Set inside only, or LD_PRELOAD among them would run code outside. */
  readonly env: Readonly<Record<string, string>>;
}

/** Whether a path is replaced inside by something else. */
export function isHidden(path: string): boolean {
  return hidden.some((place) => isInside(place, path));
}

/**
 * All of the filesystem read-only, the roots writable, no capabilities, namespaces of its own and no way to make more. Nothing
 * in it outlives the command: a process left in its namespaces could not be reached by a later one.
 */
export function bubblewrapArguments(inside: Surroundings): string[] {
  const { writable, home, masks, network, filter, temporaryBytes, cwd, env } = inside;
  // Every descriptor that bubblewrap is given is used: one that is left open leads out of the sandbox.
  const bind = ({ path, descriptor }: ShownDirectory): string[] => ["--bind-fd", String(descriptor), path];
  const size = Number.isFinite(temporaryBytes) ? ["--size", String(temporaryBytes)] : [];
  const memory = (place: string): string[] => [...size, "--tmpfs", place];
  return [
    ...Object.entries(env).flatMap(([key, value]) => ["--setenv", key, value]),
    ..."--unshare-all --unshare-user --disable-userns --die-with-parent --cap-drop ALL --ro-bind / /".split(" "),
    ...(network ? ["--share-net"] : []),
    ...(filter === undefined ? [] : ["--seccomp", String(filter)]),
    // Before what would be mounted over them, after what would cover one in /tmp.
    ...writable.filter(({ path }) => !isHidden(path)).flatMap(bind),
    // Settings of the system are files in /proc, and root inside is root to them.
    ..."--dev /dev --proc /proc --remount-ro /proc".split(" "),
    ...["/dev/shm", ...hidden].flatMap(memory),
    "--remount-ro",
    "/dev",
    ...[...shownRun, ...(network ? shownRunForNetwork : [])].flatMap((place) => ["--ro-bind-try", place, place]),
    ...(home ? ["--ro-bind-fd", String(home.descriptor), home.path] : []),
    ...writable.filter(({ path }) => isHidden(path)).flatMap(bind),
    // Last: the writable directories would cover them.
    ...masks.fixed.flatMap((path) => ["--bind", path, path]),
    ...masks.empty.flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
    "--chdir",
    cwd,
    "--",
  ];
}
