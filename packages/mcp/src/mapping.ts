import { type ContentBlock, type JsonSchema, renderOutcome, type ToolOutcome, type ToolTraits } from "@toolcrib/core";
import { clip } from "@toolcrib/core/text";

/** A tool as a server lists it. Only the name is certain: servers are many. */
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

/** What a server's result of `tools/call` comes to: text for a model, and the blocks that text cannot hold. */
export interface MappedResult {
  text: string;
  rich: ContentBlock[];
  isError: boolean;
}

/**
 * A registry's outcome as MCP has it: the text that `execute` answers and the rich content beside it, failures marked by `isError`.
 * Content that has text blocks of its own is complete; otherwise the text comes first.
 */
export function toCallResult(name: string, outcome: ToolOutcome): CallResult {
  const text = renderOutcome(name, outcome);
  const blocks = [...(outcome.content ?? [])];
  const complete = outcome.ok && blocks.length > 0 && (text === "" || blocks.some((block) => block.type === "text"));
  return { content: complete ? blocks : [{ type: "text", text }, ...blocks], isError: !outcome.ok };
}

/** Reads a result of `tools/call`, whatever a server sent: a block of an unknown kind is shown as JSON. */
export function fromCallResult(result: unknown): MappedResult {
  const { content, structuredContent, isError } = record(result);
  const lines: string[] = [];
  const rich: ContentBlock[] = [];
  for (const block of Array.isArray(content) ? content : []) {
    const { line, block: kept } = fromBlock(record(block));
    if (line !== undefined) lines.push(line);
    if (kept) rich.push(kept);
  }
  if (lines.length === 0 && structuredContent !== undefined) lines.push(JSON.stringify(structuredContent));
  return { text: lines.join("\n"), rich, isError: isError === true };
}

/** Why the server's tool `name` failed, without the words that a registry puts before it: the registry here puts its own. */
export function failureReason(name: string, text: string): string {
  const prefix = `Error executing ${name}: `;
  return (text.startsWith(prefix) ? text.slice(prefix.length) : text) || "the tool failed and did not say why";
}

function fromBlock(block: Record<string, unknown>): { line?: string; block?: ContentBlock } {
  switch (block.type) {
    case "text":
      return { line: String(block.text ?? "") };
    case "image":
    case "audio":
      return fromMedia(block.type, block.data, block.mimeType);
    case "resource_link": {
      const name = block.title ?? block.name ?? "resource";
      return { line: `[${String(name)}: ${String(block.uri)}]` };
    }
    case "resource": {
      const { text, blob, uri, mimeType } = record(block.resource);
      if (typeof text === "string") return { line: text };
      const kind = String(mimeType ?? "").split("/")[0];
      if (kind === "image" || kind === "audio") return fromMedia(kind, blob, mimeType);
      return { line: `[resource ${String(uri)}: ${describeData(blob, mimeType)}]` };
    }
    default:
      return { line: clip(JSON.stringify(block), 10_000) };
  }
}

function fromMedia(type: "image" | "audio", data: unknown, mime: unknown): { line: string; block?: ContentBlock } {
  const line = `[${type}: ${describeData(data, mime)}]`;
  if (typeof data !== "string" || typeof mime !== "string") return { line };
  return { line, block: { type, data, mimeType: mime } };
}

function describeData(data: unknown, mimeType: unknown): string {
  const bytes = typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0;
  return `${typeof mimeType === "string" ? mimeType : "unknown type"}, ${bytes} bytes`;
}

/** A server's input schema as parameters of a tool: an object schema, draft-07 or 2020-12, with `type` filled in. */
export function toParameters(inputSchema: unknown): JsonSchema {
  const schema = record(inputSchema);
  return schema.type === undefined ? { ...schema, type: "object" } : schema;
}

/** MCP's hints as traits; what is not stated stays unstated. */
export function toTraits(annotations: unknown): ToolTraits {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = record(annotations);
  const stated = {
    readOnly: readOnlyHint,
    destructive: destructiveHint,
    idempotent: idempotentHint,
    openWorld: openWorldHint,
  };
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => typeof value === "boolean"));
}

const longestName = 64;

/**
 * The name under which a tool is mounted: `mcp__server__tool`, what the model APIs forbid replaced by `_`, cut to 64
 * characters, and numbered where `isTaken` says so.
 */
export function mountedName(server: string, tool: string, isTaken: (name: string) => boolean): string {
  const plain = (part: string): string => part.replace(/[^a-zA-Z0-9_-]/g, "_");
  // A long server name may not push the tool's name out.
  const head = `mcp__${plain(server).slice(0, 24)}__`;
  const name = (head + plain(tool)).slice(0, longestName);
  if (!isTaken(name)) return name;
  for (let number = 2; ; number += 1) {
    const suffix = `_${number}`;
    const numbered = name.slice(0, longestName - suffix.length) + suffix;
    if (!isTaken(numbered)) return numbered;
  }
}

/** `value` where it is an object, else an empty one. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
