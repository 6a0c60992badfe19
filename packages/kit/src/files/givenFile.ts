import { readSync, statSync } from "node:fs";
import { isError } from "@toolcrib/core/internal";
import { createPathScope } from "../paths/pathScope.ts";
import { fileKind, openRegularFile } from "./openRegular.ts";
import { systemErrorCode } from "./systemErrors.ts";

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
