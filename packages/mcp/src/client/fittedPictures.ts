import { messageOf } from "@toolcrib/core/text";
import { fitEncodedPicture } from "@toolcrib/kit/files";
import { record } from "../mapping.ts";
import { contentOf, maxMedia } from "./readResult.ts";

/**
 * Resolves to a result of `tools/call` with its pictures as services take them beside many others, as far as they can be made smaller; one
 * that cannot be decoded becomes a line that says so. Rejects with the signal's reason.
 */
export async function withFittedPictures(result: unknown, signal: AbortSignal | undefined): Promise<unknown> {
  const content = contentOf(result);
  if (!content.some((block) => record(block).type === "image")) return result;
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
