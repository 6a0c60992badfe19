import { closeSync, constants, fstatSync, openSync, readlinkSync, statSync } from "node:fs";
import { systemErrorCode } from "@toolcrib/kit/files";
import { type BytePath, toText } from "./bytePath.ts";
import { toSystemPath } from "./treeWalk.ts";

/** O_PATH of Linux: waits for no named pipe, and needs no right to read. */
const openOnlyPlace = 0x20_0000;

/** A directory identified by its inode when a tool is made; a later one at the same path is refused. */
export interface PinnedDirectory {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

/** Pins a directory; `path` is canonical. Throws a TypeError, which names `option`, unless it is a directory. */
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
  const descriptor = open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  const stats = fstatSync(descriptor, { bigint: true });
  if (stats.dev === device && stats.ino === inode) return descriptor;
  closeSync(descriptor);
  throw new Error(`the directory at ${path} was replaced after this tool was created; create the tool again`);
}

/**
 * Opens a directory by its canonical path, or with `any` whatever is there, to be mounted; throws an Error in plain words if a link has
 * taken the place of a part of it.
 */
export function openInPlace(path: BytePath, any = false): number {
  const descriptor = open(toSystemPath(path), any ? openOnlyPlace : constants.O_RDONLY | constants.O_DIRECTORY);
  if (readlinkSync(`/proc/self/fd/${descriptor}`, "latin1") === path) return descriptor;
  closeSync(descriptor);
  throw new Error(`${toText(path)} was moved meanwhile; try again`);
}

function open(path: string | Buffer, flags: number): number {
  try {
    return openSync(path, flags | constants.O_NOFOLLOW);
  } catch (error) {
    const reason = systemErrorCode(error) ?? "unknown reason";
    throw new Error(`${path.toString()} cannot be opened (${reason})`, { cause: error });
  }
}
