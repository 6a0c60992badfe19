import { writeFileSync } from "node:fs";
import { messageOf } from "@toolcrib/core/text";
import * as files from "@toolcrib/kit/files";
import { parseJson as parseJsonText } from "@toolcrib/kit/text";
import { usageError } from "../exitReasons.ts";

/** Megabytes of a file or of standard input that are read for a prompt or for arguments. */
export const mostGivenMegabytes = 10;

/** Reads a file that the user named; undefined where there is none. Throws a usage error that begins with `what`. */
export function readGivenFile(path: string, what: string): Promise<string | undefined> {
  return files.readGivenFile(path, { what, maxMegabytes: mostGivenMegabytes, toError: usageError });
}

/** Parses `text`; throws a usage error that shows where it stops being JSON. `what` begins the sentence. */
export function parseJson(text: string, what: string): unknown {
  return parseJsonText(text, what, usageError);
}

/** Throws a usage error for more than `maxMegabytes`. */
export function refuseMore(bytes: number, what: string, maxMegabytes: number): void {
  files.refuseMore(bytes, { what, maxMegabytes, toError: usageError });
}

/** Writes a file of the user's, readable by the user alone; one that exists is not replaced. Throws a usage error. */
export function writeNewFile(path: string, content: string): void {
  try {
    writeFileSync(path, content, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const exists = files.systemErrorCode(error) === "EEXIST";
    throw usageError(
      `${path}: ${exists ? "it exists; choose another name, or remove it" : messageOf(files.plainSystemError(error, path))}`,
    );
  }
}
