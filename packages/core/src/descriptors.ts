import { closeSync, constants, existsSync, openSync, readlinkSync } from "node:fs";

/** Everything that depends on the platform's way of naming an open descriptor. */
const linuxDescriptors = "/proc/self/fd";

let available: boolean | undefined;

function hasDescriptorPaths(): boolean {
  available ??= process.platform === "linux" && existsSync(linuxDescriptors);
  return available;
}

/** The real path of what a descriptor has open, where the system tells (Linux); else undefined. */
export function descriptorPath(descriptor: number): string | undefined {
  return hasDescriptorPaths() ? readlinkSync(`${linuxDescriptors}/${descriptor}`) : undefined;
}

/** A directory held open, so that names in it mean the same directory whatever becomes of the path to it. */
export interface OpenDirectory {
  readonly descriptor: number;
  /** A path to a name in this directory: through the descriptor on Linux (no race, no length limit), else by its path. */
  at(name: string): string;
  close(): void;
}

/** Throws the system's error; a symlink as the last name is refused (ELOOP or ENOTDIR). */
export function openDirectory(path: string): OpenDirectory {
  const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
  const descriptor = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const base = hasDescriptorPaths() ? `${linuxDescriptors}/${descriptor}` : path;
  return { descriptor, at: (name) => `${base}/${name}`, close: () => closeSync(descriptor) };
}
