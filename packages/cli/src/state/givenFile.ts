import { readFileSync, readSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { ImageBlock } from "@toolcrib/agent";
import { messageOf } from "@toolcrib/core/text";
import * as files from "@toolcrib/kit/files";
import {
  imageFormat,
  parseJson as parseJsonText,
  pictureLimits,
  readImageHeader,
  sharpAdvice,
} from "@toolcrib/kit/text";
import { usageError } from "../exitReasons.ts";

/** Megabytes of a file or of standard input that are read for a prompt or for arguments. */
export const mostGivenMegabytes = 10;

/** Reads a file that the user named; undefined where there is none. Throws a usage error that begins with `what`. */
export function readGivenFile(path: string, what: string): Promise<string | undefined> {
  return files.readGivenFile(path, { what, maxMegabytes: mostGivenMegabytes, toError: usageError });
}

/**
 * Reads a picture that the user named, made smaller where it would be refused beside many others and that can be done; undefined for any
 * other file. Throws a usage error for one that is too large.
 */
export async function readGivenPicture(path: string, what: string): Promise<ImageBlock | undefined> {
  if (!isFile(path)) return undefined;
  const scope = files.createPathScope();
  const { descriptor, stats, close } = files.openRegularFile(await scope.resolve(path), scope);
  try {
    const head = Buffer.alloc(pictureLimits.signatureBytes);
    readSync(descriptor, head, 0, head.length, 0);
    if (imageFormat(head) === undefined) return undefined;
    refusePicture(stats.size, pictureLimits.mostBytes, what);
    const bytes = readFileSync(descriptor);
    // Text may begin as a picture does, but holds no NUL byte.
    if (!readImageHeader(bytes) || !bytes.includes(0)) return undefined;
    const fitted = await files.fitPicture(bytes).catch((error: unknown) => {
      throw usageError(`${what}: ${messageOf(error)}`);
    });
    if (!fitted) refusePicture(bytes.length, pictureLimits.fittingBytes, what);
    const shown = fitted ?? bytes;
    const mimeType = readImageHeader(shown)?.mimeType;
    return mimeType === undefined
      ? undefined
      : { type: "image", data: Buffer.from(shown).toString("base64"), mimeType };
  } finally {
    close();
  }
}

export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // The code that reads it as a text says why.
    return false;
  }
}

function refusePicture(bytes: number, most: number, what: string): void {
  if (bytes <= most) return;
  throw usageError(`${what}: a picture may have ${most} bytes, and this has ${bytes}; ${sharpAdvice}`);
}

/** Reads a text that the user named for a message. Throws a usage error for a file that holds none. */
export async function readGivenText(path: string, what: string): Promise<string | undefined> {
  const text = await readGivenFile(path, what);
  const head = text?.slice(0, 8192) ?? "";
  if (/^%PDF-\d/.test(head))
    throw usageError(`${what}: a PDF is not read as text; convert it first, as with pdftotext FILE FILE.txt`);
  if (head.includes("\0") && head.includes("\ufffd"))
    throw usageError(`${what}: it is a binary file; name a text or a picture`);
  return text;
}

/** Parses `text`; throws a usage error that shows where it stops being JSON. `what` begins the sentence. */
export function parseJson(text: string, what: string): unknown {
  return parseJsonText(text, what, usageError);
}

export function refuseMore(bytes: number, what: string, maxMegabytes: number): void {
  files.refuseMore(bytes, { what, maxMegabytes, toError: usageError });
}

/** Writes a file of the user's, readable by the user alone; one that exists is not replaced. Throws a usage error. */
export function writeNewFile(path: string, content: string, cwd: string): void {
  try {
    writeFileSync(resolve(cwd, path), content, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const exists = files.systemErrorCode(error) === "EEXIST";
    throw usageError(
      `${path}: ${exists ? "it exists; choose another name, or remove it" : messageOf(files.plainSystemError(error, path))}`,
    );
  }
}
