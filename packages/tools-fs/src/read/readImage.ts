import { readSync } from "node:fs";
import { ToolError, toolOutput } from "@toolcrib/core";
import type { RegularFile } from "@toolcrib/kit/files";
import { imageFormat, readImageHeader, signatureLength } from "@toolcrib/kit/text";

/** What the services that models run at take of one image: bytes (5 MB as base64), and pixels a side. */
export const longestImage = 3_750_000;
export const mostPixels = 8000;

/**
 * Returns an open file that is an image, as a picture for the model with its size in words; undefined for any other file. Throws for one that
 * is too large. `path` is its name as data. Leaves the file's position where it is.
 */
export function readImage(file: RegularFile, path: string, printed: string): string | undefined {
  const format = imageFormat(readHead(file.descriptor, signatureLength));
  if (format === undefined) return undefined;
  const bytes = readHead(file.descriptor, longestImage + 1);
  const header = readImageHeader(bytes);
  // Text may begin as an image does, but holds no NUL byte.
  if (header === undefined || !bytes.includes(0)) return undefined;
  const { width, height, mimeType } = header;
  const pixels = `${width} x ${height} pixels`;
  const size = `${Math.max(bytes.length > longestImage ? file.stats.size : 0, bytes.length)} bytes`;
  if (bytes.length > longestImage || Math.max(width, height) > mostPixels) {
    throw new ToolError({
      code: "execution_failed",
      message: `Image too large: ${printed} (${format}, ${pixels}, ${size}); the most is ${mostPixels} pixels a side and ${longestImage} bytes: make it smaller, or pass encoding=base64 for its bytes`,
    });
  }
  const content = [{ type: "image" as const, data: bytes.toString("base64"), mimeType }];
  const data = { path, bytes: bytes.length, image: { format, width, height } };
  return toolOutput(`${format} image, ${pixels}, ${size}`, { content, data });
}

/** Returns the first bytes of a file, whatever size it claims to have. */
function readHead(descriptor: number, length: number): Buffer {
  const parts: Buffer[] = [];
  let filled = 0;
  while (filled < length) {
    const part = Buffer.allocUnsafeSlow(Math.min(length - filled, 2 ** 20));
    const read = readSync(descriptor, part, 0, part.length, filled);
    if (read === 0) break;
    parts.push(part.subarray(0, read));
    filled += read;
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}
