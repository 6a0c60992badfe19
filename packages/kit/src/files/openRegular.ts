import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { ToolError } from "@toolcrib/core";
import type { PathScope } from "../paths/pathScope.ts";
import { plainPathError } from "./missingPath.ts";

/** The fields that are used of Node's Stats: its name in a signature would ask users for the types of Node. */
interface FileStats {
  readonly mode: number;
  readonly size: number;
  readonly mtime: Date;
}

/** Returns the kind of a file, for messages. */
export function fileKind(stats: Pick<FileStats, "mode">): string {
  return kinds[stats.mode & constants.S_IFMT] ?? "special file";
}

const kinds: Readonly<Record<number, string>> = {
  [constants.S_IFREG]: "file",
  [constants.S_IFDIR]: "directory",
  [constants.S_IFLNK]: "symbolic link",
  [constants.S_IFIFO ?? -1]: "named pipe",
  [constants.S_IFSOCK ?? -2]: "socket",
  [constants.S_IFCHR]: "character device",
  [constants.S_IFBLK ?? -3]: "block device",
};

/** Throws, by its name, for anything but a regular file: a directory, link, named pipe, socket or device. */
export function refuseSpecial(stats: Pick<FileStats, "mode">, printedPath: string): void {
  const kind = fileKind(stats);
  if (kind === "file") return;
  const next = kind === "directory" ? "name a file in it (list_dir shows them)" : "name a regular file";
  throw new ToolError({
    code: "execution_failed",
    message: `Not a regular file: ${printedPath} is a ${kind}; ${next}`,
  });
}

export interface RegularFile {
  readonly descriptor: number;
  /** The one it was opened by. */
  readonly path: string;
  readonly stats: FileStats;
  close(): void;
}

/**
 * Opens a canonical path for reading (or, with `write`, for writing without truncation), never waiting for the other end of
 * a pipe. Throws a ToolError in plain words unless it is a regular file inside the scope once open.
 */
export function openRegularFile(path: string, scope: PathScope, write = false): RegularFile {
  const printed = scope.print(path);
  const { O_RDONLY, O_WRONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
  let descriptor: number | undefined;
  try {
    // Checked before opening too: opening a device can have effects of its own.
    refuseSpecial(lstatSync(path), printed);
    descriptor = openSync(path, (write ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_NOFOLLOW);
    const stats = fstatSync(descriptor);
    refuseSpecial(stats, printed);
    scope.confirm(descriptor, path, { use: write ? "write" : "read" });
    const opened = descriptor;
    return { descriptor: opened, path, stats, close: () => closeSync(opened) };
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw plainPathError(error, path, scope);
  }
}
