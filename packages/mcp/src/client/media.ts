import type { ContentBlock } from "@toolcrib/core";
import { attempt, showLine } from "@toolcrib/core/internal";
import { imageFormat } from "@toolcrib/kit/text";

export type Media = Extract<ContentBlock, { data: string }>;

/** A part of a result: a line for the model, and what goes along with it. */
export interface ReadPart {
  readonly line: string;
  readonly media?: Media;
}

/** Reads a picture or a sound. One that models do not take, or that is not as it says, is told in words; an SVG picture is its text. */
export function readMedia(type: Media["type"], data: unknown, mime: unknown): ReadPart {
  const bytes = bytesOf(data);
  const line = `[${type}: ${describeData(bytes, data, mime)}]`;
  if (!bytes || typeof mime !== "string") return { line: leftOut(line, "its data is not base64, or has no type") };
  const encoded = bytes.toString("base64");
  if (type === "audio") {
    const isPlain = /^[\w.+-]+\/[\w.+-]+$/.test(mime);
    return isPlain
      ? { line, media: { type, data: encoded, mimeType: mime } }
      : { line: leftOut(line, "its type is none") };
  }
  const format = imageFormat(bytes);
  // Services judge by the bytes, and refuse a type that is not theirs.
  if (format) return { line, media: { type, data: encoded, mimeType: `image/${format.toLowerCase()}` } };
  const text = textOf(bytes);
  if (text !== undefined && /^\s*<(?:\?xml|!--|!DOCTYPE svg|svg)\b/i.test(text) && /<svg\b/i.test(text))
    return { line: text };
  return { line: leftOut(line, "it is no PNG, JPEG, GIF or WebP, which models take") };
}

/** Returns a line about something with the reason why it does not go along. */
export function leftOut(line: string, why: string): string {
  return line.replace(/]$/, `, left out: ${why}]`);
}

/** Reads the bytes of a resource: their text if they are text, else a line that names it. */
export function readBlob(blob: unknown, uri: unknown, mimeType: unknown): ReadPart {
  const kind = asText(mimeType ?? "").split("/")[0];
  if (kind === "image" || kind === "audio") return readMedia(kind, blob, mimeType);
  const bytes = bytesOf(blob);
  const text = bytes && textOf(bytes);
  if (text !== undefined) return { line: text };
  return { line: leftOut(`[resource ${inLine(uri)}: ${describeData(bytes, blob, mimeType)}]`, "it is no text") };
}

/** Decodes base64, also with line breaks, as in addresses, or behind `data:`. A model API refuses a conversation for any other. */
function bytesOf(data: unknown): Buffer | undefined {
  if (typeof data !== "string") return undefined;
  const plain = data.replace(/^\s*data:[^,]{0,200},/, "").replace(/\s+/g, "");
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(plain) ? Buffer.from(plain, "base64") : undefined;
}

/** Decodes text; undefined for bytes that are none. */
function textOf(bytes: Uint8Array): string | undefined {
  const text = attempt(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  return text !== undefined && /[\u0000-\u0008\u000e-\u001f]/.test(text) ? undefined : text;
}

function describeData(bytes: Uint8Array | undefined, data: unknown, mimeType: unknown): string {
  const count = bytes?.length ?? (typeof data === "string" ? data.length : 0);
  return `${typeof mimeType === "string" ? inLine(mimeType) : "unknown type"}, ${count} bytes`;
}

/** Returns text without calling `String(value)`: an object from JSON may have a `toString` that cannot be called. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "unknown");
}

/** Returns text for a line of ours, which a line break of the server must not end. */
export function inLine(value: unknown): string {
  return showLine(asText(value), 2000);
}
