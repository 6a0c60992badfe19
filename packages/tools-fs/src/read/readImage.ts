import { readSync } from "node:fs";
import { ToolError, toolOutput } from "@toolcrib/core";
import { messageOf } from "@toolcrib/core/text";
import { fitPicture, type RegularFile } from "@toolcrib/kit/files";
import { imageFormat, pictureLimits, readImageHeader, sharpAdvice } from "@toolcrib/kit/text";
import { createYielder, type Yield } from "../yieldToEventLoop.ts";

/** The limits of one image at the services that models run at: bytes (5 MB as base64), and pixels a side. */
export const longestImage = 3_750_000;
export const mostPixels = 8000;

/**
 * Resolves to an open file that is an image, as a picture for the model with its size in words; undefined for any other file. One that is
 * too large for a request with many is made smaller where that can be done. Throws for one that is too large for any, or cannot be
 * decoded. `path` is its name as data, `notice` what else is to be said. Leaves the file's position where it is.
 */
export async function readImage(
  file: RegularFile,
  { path, printed, notice }: { path: string; printed: string; notice: string | undefined },
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const yieldToEventLoop = createYielder(signal);
  if (imageFormat(await readHead(file.descriptor, pictureLimits.signatureBytes, yieldToEventLoop)) === undefined)
    return undefined;
  const bytes = await readHead(file.descriptor, pictureLimits.mostBytes + 1, yieldToEventLoop);
  const header = readImageHeader(bytes);
  // Text may begin as an image does, but holds no NUL byte.
  if (header === undefined || !bytes.includes(0)) return undefined;
  const { format, width, height } = header;
  const pixels = `${width} x ${height} pixels`;
  const length = Math.max(bytes.length > pictureLimits.mostBytes ? file.stats.size : 0, bytes.length);
  const refuse = (reason: string): ToolError =>
    new ToolError({
      code: "execution_failed",
      message: `Image too large: ${printed} (${format}, ${pixels}, ${length} bytes); ${reason}; encoding=base64 reads its bytes`,
    });
  const fitted = await fitPicture(bytes, signal).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw refuse(messageOf(error));
  });
  if (!fitted && (bytes.length > longestImage || Math.max(width, height) > mostPixels))
    throw refuse(`the most is ${mostPixels} pixels a side and ${longestImage} bytes: ${sharpAdvice}`);
  const shown = fitted ?? bytes;
  const sent = readImageHeader(shown) ?? header;
  const note = shown === bytes ? "" : `, shown as ${sent.format} of ${sent.width} x ${sent.height} pixels`;
  const content = [{ type: "image" as const, data: Buffer.from(shown).toString("base64"), mimeType: sent.mimeType }];
  const data = { path, bytes: bytes.length, image: { format, width, height } };
  return toolOutput(
    `${format} image, ${pixels}, ${length} bytes${note}${notice === undefined ? "" : `\n\n${notice}`}`,
    {
      content,
      data,
    },
  );
}

/** Resolves to the first bytes of a file, whatever size it claims to have. */
async function readHead(descriptor: number, length: number, yieldToEventLoop: Yield): Promise<Buffer> {
  const parts: Buffer[] = [];
  let filled = 0;
  while (filled < length) {
    const part = Buffer.allocUnsafeSlow(Math.min(length - filled, 2 ** 20));
    const read = readSync(descriptor, part, 0, part.length, filled);
    if (read === 0) break;
    parts.push(part.subarray(0, read));
    filled += read;
    await yieldToEventLoop();
  }
  return Buffer.concat(parts);
}
