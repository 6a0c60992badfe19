import { createHash } from "node:crypto";
import { isObject } from "../isObject.ts";
import type { Fields } from "./checks.ts";

/** A request as the service compares it: settings and cache marks left out, neighbouring messages of one role joined. */
export interface Prompt {
  readonly model: string;
  readonly system: string;
  readonly tools: ReadonlyMap<string, PromptTool>;
  readonly blocks: readonly PromptBlock[];
}

interface PromptTool {
  readonly digest: string;
  readonly isDeferred: boolean;
}

export interface PromptBlock {
  /** Its place in the request, as in the service's own errors. */
  readonly path: string;
  readonly role: string;
  readonly digest: string;
  /** The tools that it refers to. */
  readonly names: readonly string[];
  /** Set for thinking. */
  readonly signature?: string;
  readonly block: Fields;
}

export function digestOf(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("base64url").slice(0, 22);
}

/** JSON without cache marks, the fields of each object in one order. */
export function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) => {
      if (!isObject(inner)) return inner;
      const names = Object.keys(inner).filter((name) => name !== "cache_control");
      return Object.fromEntries(names.sort().map((name) => [name, inner[name]]));
    }) ?? ""
  );
}

/** A body of the Messages API. */
export function messagesPrompt(body: Fields): Prompt {
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
  return {
    model: String(body.model),
    system: digestOf(asBlocks(body.system)),
    tools: toolsOf(Array.isArray(body.tools) ? body.tools : []),
    blocks: messages.flatMap((message, index) => messageBlocks(message, index)),
  };
}

/** A body of chat completions, for models of Anthropic behind them. */
export function chatPrompt(body: Fields): Prompt {
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
  const system = messages.filter(({ role }) => role === "system");
  const tools = Array.isArray(body.tools) ? body.tools.map((tool) => (isObject(tool) ? tool.function : tool)) : [];
  return {
    model: String(body.model),
    system: digestOf(system),
    tools: toolsOf(tools),
    blocks: messages.flatMap((message, index) => {
      if (message.role === "system") return [];
      const { reasoning_details: details, tool_calls: calls, ...rest } = message;
      const thinking = (Array.isArray(details) ? details.filter(isObject) : [])
        .filter(({ signature }) => typeof signature === "string")
        .map((detail) => ({ ...detail, type: "thinking" }));
      const content = [...thinking, { type: "message", ...rest, calls }];
      return messageBlocks({ role: message.role, content }, index);
    }),
  };
}

function toolsOf(tools: readonly unknown[]): Map<string, PromptTool> {
  return new Map(
    tools.filter(isObject).map(({ defer_loading: deferred, ...tool }) => {
      return [String(tool.name), { digest: digestOf(tool), isDeferred: deferred === true }];
    }),
  );
}

function asBlocks(content: unknown): unknown {
  return typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
}

function messageBlocks({ role, content, ...rest }: Fields, index: number): PromptBlock[] {
  const blocks = asBlocks(content);
  const list: unknown[] = Array.isArray(blocks) ? [...blocks] : [];
  // A system message that only sets the effort is a part of the conversation, too.
  if (list.length === 0 && role === "system") list.push({ type: "settings" });
  return list.filter(isObject).map((given, place) => {
    const block = given.type === "tool_result" ? { ...given, content: asBlocks(given.content) } : given;
    const signature = signatureOf(block);
    return {
      path: `messages.${index}.content.${place}`,
      role: String(role),
      digest: digestOf([role, rest, block]),
      names: namesIn(block),
      block: given,
      ...(signature !== undefined && { signature }),
    };
  });
}

function signatureOf({ type, signature, data }: Fields): string | undefined {
  if (type === "thinking") return String(signature);
  return type === "redacted_thinking" ? String(data) : undefined;
}

function namesIn(block: Fields): string[] {
  const names: string[] = [];
  JSON.stringify(block, (_key, value: unknown) => {
    if (isObject(value) && value.type === "tool_reference") names.push(String(value.tool_name ?? value.name));
    return value;
  });
  return names;
}
