import { readFileSync, statSync } from "node:fs";
import { createPathScope, fileKind, openRegularFile, systemErrorCode } from "@toolcrib/core/files";
import { usageError } from "../exitReasons.ts";

/**
 * Reads a file that the user named; undefined where there is none. A directory, named pipe or device is refused and never waited
 * for. Throws a usage error that begins with `what`.
 */
export async function readGivenFile(path: string, what: string): Promise<string | undefined> {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw usageError(`${what}: it is a ${fileKind(stats)}; name a regular file`);
    const scope = createPathScope();
    const file = openRegularFile(await scope.resolve(path), scope);
    try {
      return readFileSync(file.descriptor, "utf8");
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
