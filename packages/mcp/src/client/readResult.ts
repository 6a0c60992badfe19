import type { ContentBlock } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";
import { record } from "../mapping.ts";
import { asText, inLine, leftOut, type ReadPart, readBlob, readMedia } from "./media.ts";
import { isShown } from "./shownData.ts";

/** A server's answer to `tools/call`: text for a model, and the images and sounds beside it. */
interface ReadResult {
  text: string;
  rich: ContentBlock[];
  /** `structuredContent`, for programs. */
  data: unknown;
  isError: boolean;
}

/** The most characters of base64 in the images and sounds of one result. */
const maxMediaLength = 5 * 1024 * 1024;
export const maxMedia = 20;

/**
 * Reads any result of `tools/call`, and loses nothing in silence: structured data that the text does not show stands below it as JSON, and
 * so does a block of an unknown kind; images or sounds that cannot go along are told in words.
 */
export function readResult(result: unknown): ReadResult {
  const { structuredContent, isError } = record(result);
  const lines: string[] = [];
  const rich: ContentBlock[] = [];
  const media: string[] = [];
  let mediaLength = 0;
  for (const block of contentOf(result)) {
    const part = readBlock(block);
    // What a result repeats as data need not be said again, whether it goes along or not.
    const { type, data, mimeType, resource } = record(block);
    if (type !== "text") media.push(...[type, data, mimeType, record(resource).blob].map((one) => asText(one ?? "")));
    const why = isError === true ? "the call failed" : "over the limit";
    const fits = rich.length < maxMedia && mediaLength + (part.media?.data.length ?? 0) <= maxMediaLength;
    const isTaken = part.media !== undefined && isError !== true && fits;
    lines.push(part.media && !isTaken ? leftOut(part.line, why) : part.line);
    if (!part.media || !isTaken) continue;
    mediaLength += part.media.data.length;
    rich.push(part.media);
  }
  if (
    structuredContent !== undefined &&
    structuredContent !== null &&
    !isShown(structuredContent, [...lines, ...media])
  )
    lines.push(JSON.stringify(structuredContent));
  return { text: lines.join("\n"), rich, data: structuredContent ?? undefined, isError: isError === true };
}

/** Returns the blocks of a result, also where its content is one block or a text, or stands in `toolResult`, as older servers have it. */
export function contentOf(result: unknown): unknown[] {
  const { content, toolResult } = record(result);
  const given = content ?? toolResult;
  if (Array.isArray(given)) return given;
  if (given === undefined || given === null) return [];
  return [
    isObject(given) && (content !== undefined || typeof given.type === "string")
      ? given
      : { type: "text", text: given },
  ];
}

function readBlock(given: unknown): ReadPart {
  const block = record(given);
  switch (block.type) {
    case "text":
      return { line: asText(block.text ?? "") };
    case "image":
    case "audio":
      return readMedia(block.type, block.data, block.mimeType);
    case "resource_link": {
      const name = block.title ?? block.name ?? "resource";
      return { line: `[${inLine(name)}: ${inLine(block.uri)}]` };
    }
    case "resource": {
      const { text, blob, uri, mimeType } = record(block.resource);
      return typeof text === "string" ? { line: text } : readBlob(blob, uri, mimeType);
    }
    default:
      return { line: asText(given) };
  }
}
