import { readSync, statSync } from "node:fs";
import { createPathScope, fileKind, openRegularFile, systemErrorCode } from "@toolcrib/core/files";
import { usageError } from "../exitReasons.ts";

const megabyte = 2 ** 20;
/** Megabytes of a file or of standard input that are read for a prompt or for arguments. */
export const mostGivenMegabytes = 10;

/**
 * Reads a file that the user named; undefined where there is none. A directory, named pipe or device is refused and never waited
 * for, and so is a file of more than `mostMegabytes`. Throws a usage error that begins with `what`.
 */
export async function readGivenFile(
  path: string,
  what: string,
  mostMegabytes: number = mostGivenMegabytes,
): Promise<string | undefined> {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw usageError(`${what}: it is a ${fileKind(stats)}; name a regular file`);
    refuseMore(stats.size, what, mostMegabytes);
    const scope = createPathScope();
    const file = openRegularFile(await scope.resolve(path), scope);
    try {
      return readCounted(file.descriptor, (bytes) => refuseMore(bytes, what, mostMegabytes));
    } finally {
      file.close();
    }
  } catch (error) {
    const code = systemErrorCode(error) ?? systemErrorCode((error as Error).cause);
    if (code === undefined) throw error;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw usageError(`${what}: it cannot be read (${code})`);
  }
}

/** Throws a usage error for more than `mostMegabytes`. */
export function refuseMore(bytes: number, what: string, mostMegabytes: number): void {
  if (bytes <= mostMegabytes * megabyte) return;
  throw usageError(`${what}: it holds more than ${mostMegabytes} MB, the most that is read; use a smaller one`);
}

/** Not by the size alone: a file may grow, and some say that they are empty. */
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
