import { messageOf } from "@toolcrib/core/text";
import { fitEncodedPicture } from "@toolcrib/kit/files";
import { maxMedia, record } from "../mapping.ts";

/**
 * Resolves to a result of `tools/call` with its pictures as services take them beside many others, as far as they can be made smaller; one
 * that cannot be decoded becomes a line that says so. Rejects with the signal's reason.
 */
export async function withFittedPictures(result: unknown, signal: AbortSignal | undefined): Promise<unknown> {
  const { content } = record(result);
  if (!Array.isArray(content)) return result;
  const fitted: unknown[] = [];
  let pictures = 0;
  for (const given of content) {
    const { type, data, mimeType } = record(given);
    const isPicture = type === "image" && typeof data === "string" && typeof mimeType === "string";
    // As many as are taken of one result.
    if (!isPicture || pictures >= maxMedia) {
      fitted.push(given);
      continue;
    }
    pictures += 1;
    try {
      fitted.push(await fitEncodedPicture({ type, data, mimeType }, signal));
    } catch (error) {
      signal?.throwIfAborted();
      fitted.push({ type: "text", text: `[image left out: ${messageOf(error)}]` });
    }
  }
  return { ...record(result), content: fitted };
}
