import { ToolError } from "@toolcrib/core";
import { attempt, untilAborted } from "@toolcrib/core/internal";
import { clip, messageOf } from "@toolcrib/core/text";
import { type ImageHeader, imageFormat, pictureLimits, readImageHeader } from "../text/imageHeader.ts";
import { createSemaphore } from "./semaphore.ts";

const longestMs = 15_000;
const longestReason = 200;

/** The part of sharp that is used. */
interface Sharp {
  timeout(options: { seconds: number }): Sharp;
  resize(options: { width: number; height: number; fit: "inside"; withoutEnlargement: true }): Sharp;
  toFormat(format: Format, options?: { quality: number }): Sharp;
  toBuffer(): Promise<Buffer>;
}

type Format = "png" | "jpeg" | "webp";
type OpenPicture = (
  bytes: Uint8Array,
  options: { autoOrient: true; failOn: "error"; limitInputPixels: number; pages: 1 },
) => Sharp;

/** Formats to try for a picture, in order: the second if the first gives too many bytes. */
const formats: Readonly<Record<ImageHeader["format"], readonly Format[]>> = {
  PNG: ["png", "webp"],
  GIF: ["png", "webp"],
  JPEG: ["jpeg", "webp"],
  WebP: ["webp"],
};
const quality = 80;

/** One at a time, as each takes one of the few threads that serve all files. */
const queue = createSemaphore(1);

/**
 * Resolves to a picture that services take however many a request holds: to the bytes themselves where they are within
 * `pictureLimits`, or are no picture of a known format. A larger one is made smaller by the package sharp, upright, its first frame
 * alone, without metadata. Undefined where it is too large and sharp is not installed. Rejects with a ToolError that says why it
 * cannot be made smaller, or with the signal's reason.
 */
export async function fitPicture(bytes: Uint8Array, signal?: AbortSignal): Promise<Uint8Array | undefined> {
  const header = readImageHeader(bytes);
  if (!header || isFitting(bytes, header)) return bytes;
  const open = loadSharp();
  if (!open) return undefined;
  refuseLarge(bytes, header);
  const clock = AbortSignal.timeout(longestMs);
  const end = signal ? AbortSignal.any([signal, clock]) : clock;
  try {
    const work = queue(async () => {
      end.throwIfAborted();
      return makeSmaller(open, bytes, header);
    });
    return await untilAborted(work, end);
  } catch (error) {
    signal?.throwIfAborted();
    if (clock.aborted) throw cannot(`that takes more than ${longestMs / 1000} s`);
    throw error;
  }
}

/**
 * Resolves to a picture in base64 that services take however many a request holds: to the same one where `fitPicture` leaves it as it is,
 * or nothing makes it smaller, but with the type of its bytes. Rejects as `fitPicture` does.
 */
export async function fitEncodedPicture<Block extends { readonly data: string; readonly mimeType: string }>(
  block: Block,
  signal?: AbortSignal,
): Promise<Block> {
  if (imageFormat(Buffer.from(block.data.slice(0, 2 * pictureLimits.signatureBytes), "base64")) === undefined)
    return block;
  const bytes = Buffer.from(block.data, "base64");
  const shown = (await fitPicture(bytes, signal)) ?? bytes;
  // Services refuse a type that is not that of the bytes.
  const mimeType = readImageHeader(shown)?.mimeType ?? block.mimeType;
  if (shown !== bytes) return { ...block, data: Buffer.from(shown).toString("base64"), mimeType };
  return mimeType === block.mimeType ? block : { ...block, mimeType };
}

function isFitting(bytes: Uint8Array, { width, height }: ImageHeader): boolean {
  return bytes.length <= pictureLimits.fittingBytes && Math.max(width, height) <= pictureLimits.fittingSide;
}

/**
 * Loads it by `require`, which no bundler follows: it would look for a package that need not be there. Without an import of `createRequire`, a name
 * that many declare in front of a bundle.
 */
function loadSharp(): OpenPicture | undefined {
  // It may not be installed, or not for this system.
  return attempt(() => {
    const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);
    const found = require(require.resolve("sharp"));
    return found.default ?? found;
  });
}

function refuseLarge({ length }: Uint8Array, { width, height }: ImageHeader): void {
  const { mostPixels: pixels, mostBytes: bytes } = pictureLimits;
  if (length > bytes) throw cannot(`it has ${length} bytes, and the most is ${bytes}`);
  if (width * height > pixels)
    throw cannot(`it has ${width} x ${height} pixels, and the most is ${pixels / 1e6} million`);
}

async function makeSmaller(open: OpenPicture, bytes: Uint8Array, { format }: ImageHeader): Promise<Buffer> {
  const { fittingSide: side, fittingBytes: most } = pictureLimits;
  for (const become of formats[format]) {
    const smaller = await open(bytes, {
      autoOrient: true,
      failOn: "error",
      limitInputPixels: pictureLimits.mostPixels,
      pages: 1,
    })
      .timeout({ seconds: longestMs / 1000 })
      .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true })
      .toFormat(become, become === "png" ? undefined : { quality })
      .toBuffer()
      .catch((error: unknown) => {
        throw cannot(`it cannot be decoded: ${clip(firstLine(messageOf(error)), longestReason)}`);
      });
    if (smaller.length <= most) return smaller;
  }
  throw cannot(`at ${side} pixels a side it still has more than ${most} bytes`);
}

function firstLine(text: string): string {
  return (text.trim().split("\n", 1)[0] ?? "").replace(/:$/, "");
}

function cannot(reason: string): ToolError {
  return new ToolError({ code: "execution_failed", message: `it cannot be made smaller: ${reason}` });
}
