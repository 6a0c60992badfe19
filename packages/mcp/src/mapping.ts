import { type ContentBlock, type JsonSchema, type McpTool, renderOutcome, type ToolOutcome } from "@toolcrib/core";
import { freeName, showLine, withLegalCharacters } from "@toolcrib/core/internal";
import { clip, isObject, limitBytes } from "@toolcrib/core/text";
import { serverPrefix } from "@toolcrib/kit/text";

/** A tool as a server lists it. Only the name is checked. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  readonly annotations?: unknown;
}

/** The result of `tools/call` that a registry's outcome becomes. */
export interface CallResult {
  content: ContentBlock[];
  isError: boolean;
  [key: string]: unknown;
}

/** A server's answer to `tools/call`: text for a model, and the images and sounds beside it. */
interface MappedResult {
  text: string;
  rich: ContentBlock[];
  /** `structuredContent`, for programs. */
  data: unknown;
  isError: boolean;
}

/**
 * Returns a registry's outcome as a result of MCP: the text that `execute` returns, then the rich content. A failure has `isError`.
 * Content that holds text blocks is sent alone. With `structured` the data of a success goes along where it is an object; a tool whose
 * schema was announced must have some.
 */
export function toCallResult(
  name: string,
  outcome: ToolOutcome,
  structured?: { readonly isAnnounced: boolean },
): CallResult {
  const text = renderOutcome(name, outcome);
  const blocks = [...(outcome.content ?? [])];
  const complete = outcome.ok && blocks.length > 0 && (text === "" || blocks.some((block) => block.type === "text"));
  const content = complete ? blocks : [{ type: "text" as const, text }, ...blocks];
  if (!structured || !outcome.ok) return { content, isError: !outcome.ok };
  const { data } = outcome;
  if (!structured.isAnnounced && !isObject(data)) return { content, isError: false };
  return { content, structuredContent: record(data), isError: false };
}

/**
 * Returns the output schema that is announced, if there is one for objects. Nothing in it is required: data that is too large is left
 * out of an outcome, and `{}` stands for it.
 */
export function announcedSchema(outputSchema: JsonSchema | undefined): McpTool["inputSchema"] | undefined {
  if (outputSchema?.type !== "object") return undefined;
  const { required: _, ...schema } = outputSchema;
  return { ...schema, type: "object" };
}

/** The most bytes of text that a mounted tool's result has. */
const maxResultBytes: number = 256 * 1024;
/** The most characters of base64 in the images and sounds of one result. */
const maxMediaLength = 5 * 1024 * 1024;
export const maxMedia = 20;

/**
 * Reads any result of `tools/call`: a block of an unknown kind becomes JSON text, text beyond the limit is cut with a notice,
 * and images or sounds beyond theirs are only described.
 */
export function fromCallResult(result: unknown): MappedResult {
  const { content, structuredContent, isError } = record(result);
  const lines: string[] = [];
  const rich: ContentBlock[] = [];
  let mediaLength = 0;
  for (const block of Array.isArray(content) ? content : []) {
    const { line, media } = fromBlock(record(block));
    const fits = media && rich.length < maxMedia && mediaLength + media.data.length <= maxMediaLength;
    if (line !== undefined) lines.push(media && !fits ? line.replace(/]$/, ", left out: over the limit]") : line);
    if (!media || !fits) continue;
    mediaLength += media.data.length;
    rich.push(media);
  }
  if (lines.length === 0 && structuredContent !== undefined) lines.push(JSON.stringify(structuredContent));
  const data = isObject(structuredContent) ? structuredContent : undefined;
  return { text: limitBytes(lines.join("\n"), maxResultBytes), rich, data, isError: isError === true };
}

/**
 * Says why the server's tool `name` failed, without the prefix that a registry on the server has added: the registry here adds its
 * own.
 */
export function failureReason(name: string, text: string): string {
  const prefix = `Error executing ${name}: `;
  return (text.startsWith(prefix) ? text.slice(prefix.length) : text) || "the tool failed without giving a reason";
}

type Media = Extract<ContentBlock, { data: string }>;

function fromBlock(block: Record<string, unknown>): { line?: string; media?: Media } {
  switch (block.type) {
    case "text":
      return { line: asText(block.text ?? "") };
    case "image":
    case "audio":
      return fromMedia(block.type, block.data, block.mimeType);
    case "resource_link": {
      const name = block.title ?? block.name ?? "resource";
      return { line: `[${inLine(name)}: ${inLine(block.uri)}]` };
    }
    case "resource": {
      const { text, blob, uri, mimeType } = record(block.resource);
      if (typeof text === "string") return { line: text };
      const kind = asText(mimeType ?? "").split("/")[0];
      if (kind === "image" || kind === "audio") return fromMedia(kind, blob, mimeType);
      return { line: `[resource ${inLine(uri)}: ${describeData(blob, mimeType)}]` };
    }
    default:
      return { line: clip(JSON.stringify(block), 10_000) };
  }
}

/** Returns text without calling `String(value)`: an object from JSON may have a `toString` that cannot be called. */
function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "unknown");
}

/** Returns text for a line of ours, which a line break of the server must not end. */
function inLine(value: unknown): string {
  return showLine(asText(value), 2000);
}

/** Converts media. A model API refuses the whole conversation for data that is not base64. */
function fromMedia(type: "image" | "audio", data: unknown, mime: unknown): { line: string; media?: Media } {
  const line = `[${type}: ${describeData(data, mime)}]`;
  if (typeof data !== "string" || typeof mime !== "string") return { line };
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(mime) || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return { line };
  return { line, media: { type, data, mimeType: mime } };
}

function describeData(data: unknown, mimeType: unknown): string {
  const bytes = typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0;
  return `${typeof mimeType === "string" ? inLine(mimeType) : "unknown type"}, ${bytes} bytes`;
}

/** Returns a server's input schema as parameters of a tool: an object schema, draft-07 or 2020-12, with `type` filled in. */
export function toParameters(inputSchema: unknown): JsonSchema {
  const schema = record(inputSchema);
  return schema.type === undefined ? { ...schema, type: "object" } : schema;
}

const maxNameLength = 64;

/**
 * Returns the name under which a tool is mounted: `mcp__server__tool`, what the model APIs forbid replaced by `_`, cut to 64
 * characters, and numbered where `isTaken` says so.
 */
export function mountedName(server: string, tool: string, isTaken: (name: string) => boolean): string {
  const name = (serverPrefix(server) + withLegalCharacters(tool)).slice(0, maxNameLength);
  return isTaken(name) ? freeName(name, isTaken) : name;
}

/** Returns `value` if it is an object, else an empty one. */
export function record(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
