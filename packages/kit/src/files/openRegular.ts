import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, statSync } from "node:fs";
import { ToolError } from "@toolcrib/core";
import { isError } from "@toolcrib/core/internal";
import { createPathScope, type PathScope } from "../paths/pathScope.ts";
import { plainPathError } from "./missingPath.ts";
import { systemErrorCode } from "./systemErrors.ts";

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
  const refuse = (stats: FileStats): void => {
    if (fileKind(stats) !== "file") refuseSpecial(stats, scope.print(path));
  };
  const { O_RDONLY, O_WRONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
  let descriptor: number | undefined;
  try {
    // Checked before opening too: opening a device can have effects of its own.
    refuse(lstatSync(path));
    descriptor = openSync(path, (write ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_NOFOLLOW);
    const stats = fstatSync(descriptor);
    refuse(stats);
    scope.confirm(descriptor, path, { use: write ? "write" : "read" });
    const opened = descriptor;
    return { descriptor: opened, path, stats, close: () => closeSync(opened) };
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw plainPathError(error, path, scope);
  }
}

const megabyte = 2 ** 20;

export interface GivenFileOptions {
  /** Begins each message: the name of the file, or the flag that names it. */
  what: string;
  /** A longer file is refused. */
  maxMegabytes: number;
  /** Makes the error that is thrown. */
  toError: (message: string) => Error;
}

/**
 * Reads a file that the user named; undefined where there is none. A directory, named pipe or device is refused and never waited
 * for, and so is a file of more than `maxMegabytes`.
 */
export async function readGivenFile(path: string, options: GivenFileOptions): Promise<string | undefined> {
  const { what, toError } = options;
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw toError(`${what}: it is a ${fileKind(stats)}; name a regular file`);
    refuseMore(stats.size, options);
    const scope = createPathScope();
    const file = openRegularFile(await scope.resolve(path), scope);
    try {
      return readCounted(file.descriptor, (bytes) => refuseMore(bytes, options));
    } finally {
      file.close();
    }
  } catch (error) {
    const code = systemErrorCode(error) ?? (isError(error) ? systemErrorCode(error.cause) : undefined);
    if (code === undefined) throw error;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw toError(`${what}: it cannot be read (${code})`);
  }
}

/** Throws for more than `maxMegabytes`. */
export function refuseMore(bytes: number, { what, maxMegabytes, toError }: GivenFileOptions): void {
  if (bytes <= maxMegabytes * megabyte) return;
  throw toError(`${what}: it holds more than ${maxMegabytes} MB, the most that is read; use a smaller one`);
}

/** Reads and counts, as the size alone says too little: a file may grow, and some say that they are empty. */
function readCounted(descriptor: number, check: (bytes: number) => void): string {
  const chunks: Buffer[] = [];
  for (let bytes = 0; ; check(bytes)) {
    const chunk = Buffer.allocUnsafe(megabyte / 4);
    const length = readSync(descriptor, chunk);
    if (length === 0) return Buffer.concat(chunks).toString("utf8");
    chunks.push(chunk.subarray(0, length));
    bytes += length;
  }
}
