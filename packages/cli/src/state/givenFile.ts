import * as files from "@toolcrib/core/files";
import { usageError } from "../exitReasons.ts";

/** Megabytes of a file or of standard input that are read for a prompt or for arguments. */
export const mostGivenMegabytes = 10;

/** Reads a file that the user named; undefined where there is none. Throws a usage error that begins with `what`. */
export function readGivenFile(path: string, what: string): Promise<string | undefined> {
  return files.readGivenFile(path, { what, maxMegabytes: mostGivenMegabytes, toError: usageError });
}

/** Throws a usage error for more than `maxMegabytes`. */
export function refuseMore(bytes: number, what: string, maxMegabytes: number): void {
  files.refuseMore(bytes, { what, maxMegabytes, toError: usageError });
}
