import { type ContentBlock, type JsonSchema, type McpTool, renderOutcome, type ToolOutcome } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";

/** A tool as a server lists it. Only the name is checked. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  readonly annotations?: unknown;
  readonly execution?: unknown;
}

/** The result of `tools/call` that a registry's outcome becomes. */
export interface CallResult {
  content: ContentBlock[];
  isError: boolean;
  [key: string]: unknown;
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

/**
 * Says why the server's tool `name` failed, without the prefix that a registry on the server has added: the registry here adds its
 * own.
 */
export function failureReason(name: string, text: string): string {
  const prefix = `Error executing ${name}: `;
  return (text.startsWith(prefix) ? text.slice(prefix.length) : text) || "the tool failed without giving a reason";
}

/** Returns `value` if it is an object, else an empty one. */
export function record(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
