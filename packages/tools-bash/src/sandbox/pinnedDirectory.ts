import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { systemErrorCode } from "@toolcrib/core/files";

/** A directory as it was when a tool was made: what stands at its path later is not it. */
export interface PinnedDirectory {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

/** `path` is canonical. Throws a TypeError, with `option` in its message, unless there is a directory. */
export function pinDirectory(path: string, option: string): PinnedDirectory {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats?.isDirectory()) {
    throw new TypeError(
      `${option}: ${path} ${stats ? "is not a directory" : "does not exist"}; name an existing directory`,
    );
  }
  return { path, device: stats.dev, inode: stats.ino };
}

/** A descriptor of the pinned directory; throws an Error in plain words when another one, or none, stands at its path. */
export function openPinned({ path, device, inode }: PinnedDirectory): number {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    throw new Error(`its directory ${path} cannot be opened (${systemErrorCode(error) ?? "unknown reason"})`, {
      cause: error,
    });
  }
  const stats = fstatSync(descriptor, { bigint: true });
  if (stats.dev === device && stats.ino === inode) return descriptor;
  closeSync(descriptor);
  throw new Error(`another directory stands at ${path} than when this tool was made; make the tool again`);
}
