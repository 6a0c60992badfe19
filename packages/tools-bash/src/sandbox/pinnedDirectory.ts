import { closeSync, constants, fstatSync, openSync, readlinkSync, statSync } from "node:fs";
import { systemErrorCode } from "@toolcrib/core/files";
import { type BytePath, toSystemPath, toText } from "./bytePath.ts";

/** A directory identified by its inode when a tool is made; a later one at the same path is refused. */
export interface PinnedDirectory {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

/** `path` is canonical. Throws a TypeError, which names `option`, unless it is a directory. */
export function pinDirectory(path: string, option: string): PinnedDirectory {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats?.isDirectory()) {
    throw new TypeError(
      `${option}: ${path} ${stats ? "is not a directory" : "does not exist"}; name an existing directory`,
    );
  }
  return { path, device: stats.dev, inode: stats.ino };
}

/** Opens the pinned directory; throws an Error in plain words if its path has no directory or another one. */
export function openPinned({ path, device, inode }: PinnedDirectory): number {
  const descriptor = openDirectory(path);
  const stats = fstatSync(descriptor, { bigint: true });
  if (stats.dev === device && stats.ino === inode) return descriptor;
  closeSync(descriptor);
  throw new Error(`the directory at ${path} was replaced after this tool was made; make the tool again`);
}

/** Opens a directory by its canonical path; throws an Error in plain words if a link has taken the place of a part of it. */
export function openInPlace(path: BytePath): number {
  const descriptor = openDirectory(toSystemPath(path));
  if (readlinkSync(`/proc/self/fd/${descriptor}`, "latin1") === path) return descriptor;
  closeSync(descriptor);
  throw new Error(`${toText(path)} was moved meanwhile; try again`);
}

function openDirectory(path: string | Buffer): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const reason = systemErrorCode(error) ?? "unknown reason";
    throw new Error(`its directory ${path.toString()} cannot be opened (${reason})`, { cause: error });
  }
}
