import { readFileSync, readSync, statSync, writeFileSync } from "node:fs";
import type { ImageBlock } from "@toolcrib/agent";
import { messageOf } from "@toolcrib/core/text";
import * as files from "@toolcrib/kit/files";
import { imageFormat, parseJson as parseJsonText, readImageHeader, signatureLength } from "@toolcrib/kit/text";
import { usageError } from "../exitReasons.ts";

/** Megabytes of a file or of standard input that are read for a prompt or for arguments. */
export const mostGivenMegabytes = 10;

/** Reads a file that the user named; undefined where there is none. Throws a usage error that begins with `what`. */
export function readGivenFile(path: string, what: string): Promise<string | undefined> {
  return files.readGivenFile(path, { what, maxMegabytes: mostGivenMegabytes, toError: usageError });
}

/** Bytes of a picture that services take: 5 MB as base64. */
const longestPicture = 3_750_000;

/** Reads a picture that the user named; undefined for any other file. Throws a usage error for one that is too large. */
export async function readGivenPicture(path: string, what: string): Promise<ImageBlock | undefined> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  const scope = files.createPathScope();
  const { descriptor, stats, close } = files.openRegularFile(await scope.resolve(path), scope);
  try {
    const head = Buffer.alloc(signatureLength);
    readSync(descriptor, head, 0, head.length, 0);
    if (imageFormat(head) === undefined) return undefined;
    if (stats.size > longestPicture)
      throw usageError(
        `${what}: a picture may have ${longestPicture} bytes, and this has ${stats.size}; make it smaller`,
      );
    const bytes = readFileSync(descriptor);
    const header = readImageHeader(bytes);
    // Text may begin as a picture does, but holds no NUL byte.
    if (!header || !bytes.includes(0)) return undefined;
    return { type: "image", data: bytes.toString("base64"), mimeType: header.mimeType };
  } finally {
    close();
  }
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
