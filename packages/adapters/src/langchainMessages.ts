import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  type ContentBlock,
  HumanMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { attempt } from "@toolcrib/core/internal";
import type { Answered } from "./langchainQuestions.ts";
import { type AdapterOptions, callTool, imagesHeading, type ToolSource } from "./registryCall.ts";

/** Kept by the middleware with a reply of the model, for the calls in it. */
export interface ReplyNotes {
  /** The arguments that are no JSON, by the id of the call. */
  readonly broken?: Readonly<Record<string, string | undefined>>;
  readonly answers?: readonly Answered[];
}

/** Returns the last reply of the model. */
export function lastReply(messages: readonly BaseMessage[]): AIMessage | undefined {
  return messages.findLast((message): message is AIMessage => AIMessage.isInstance(message));
}

export function notesOf(reply: AIMessage | undefined): ReplyNotes {
  return Object(reply?.response_metadata).toolcrib ?? {};
}

/**
 * Returns the arguments of a call as the model wrote them, where they are no JSON: LangChain fills up those of a streamed reply, as if they
 * were complete.
 */
export function brokenText(reply: AIMessage | undefined, id: string | undefined): string | undefined {
  if (!reply || id === undefined) return undefined;
  const text = notesOf(reply).broken?.[id] ?? writtenText(reply, id);
  return text === undefined || text.trim() === "" || isJson(text) ? undefined : text;
}

/** Returns the text of a call's arguments from wherever the reply still has it: its chunks, or what the providers keep. */
function writtenText(reply: AIMessage, id: string): string | undefined {
  const chunks = AIMessageChunk.isInstance(reply) ? (reply.tool_call_chunks ?? []) : [];
  const first = chunks.find((chunk) => chunk.id === id);
  const own = chunks.filter((chunk) => chunk.id === id || (first && !chunk.id && chunk.index === first.index));
  if (own.length > 0) return own.map(({ args = "" }) => args).join("");
  const kept: unknown[] = [reply.additional_kwargs.tool_calls, reply.response_metadata.output, reply.content].flat();
  const call = kept.map(Object).find((each) => (each.call_id ?? each.id) === id);
  const text: unknown = call?.function?.arguments ?? call?.arguments ?? call?.input;
  return typeof text === "string" ? text : undefined;
}

function isJson(text: string): boolean {
  return attempt(() => JSON.parse(text) as unknown) !== undefined;
}

/** Returns the reply with these notes beside those of other registries and, if given, other calls. */
export function withNotes(
  reply: AIMessage,
  { broken, answers = [] }: ReplyNotes,
  { tool_calls, invalid_tool_calls }: Pick<AIMessage, "tool_calls" | "invalid_tool_calls"> = reply,
): AIMessage {
  const { id, name, content, additional_kwargs, usage_metadata } = reply;
  const had = notesOf(reply);
  const cut = Object.fromEntries((reply.tool_calls ?? []).map(({ id = "" }) => [id, brokenText(reply, id)]));
  const toolcrib = { broken: { ...cut, ...broken }, answers: [...(had.answers ?? []), ...answers] };
  const response_metadata = { ...reply.response_metadata, toolcrib };
  return new AIMessage({
    content,
    additional_kwargs,
    response_metadata,
    tool_calls: tool_calls ?? [],
    invalid_tool_calls: invalid_tool_calls ?? [],
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name }),
    ...(usage_metadata !== undefined && { usage_metadata }),
  });
}

/**
 * Makes calls of those whose arguments are no JSON, where the tool is the registry's: LangChain would end the run without a word. Empty
 * text is no arguments; any other is kept in the notes, so that the registry refuses it.
 */
export function repairCalls(registry: ToolSource, reply: AIMessage): AIMessage {
  const all = reply.invalid_tool_calls ?? [];
  const own = all.filter(({ name, id }) => name !== undefined && id !== undefined && registry.hasTool(name));
  const isCut = reply.tool_calls?.some(({ id }) => brokenText(reply, id) !== undefined);
  if (own.length === 0 && !isCut) return reply;
  const made = own.map(({ name = "", id = "" }) => ({ type: "tool_call" as const, name, id, args: {} }));
  const broken = Object.fromEntries(own.map(({ id = "", args = "" }) => [id, args]));
  const calls = [...(reply.tool_calls ?? []), ...made];
  const rest = all.filter((call) => !own.includes(call));
  return withNotes(reply, { broken }, { tool_calls: calls, invalid_tool_calls: rest });
}

/** Puts the registry's words in place of LangChain's answer to an unknown name, which lists every tool, disabled ones too. */
export async function rewordUnknown(
  registry: ToolSource,
  messages: readonly BaseMessage[],
  { labels }: Pick<AdapterOptions, "labels">,
): Promise<void> {
  const start = messages.findLastIndex((message) => AIMessage.isInstance(message));
  const calls = lastReply(messages)?.tool_calls ?? [];
  for (const message of messages.slice(start + 1)) {
    if (!ToolMessage.isInstance(message) || message.status !== "error") continue;
    const { tool_call_id: callId, content } = message;
    const { name, args } = calls.find(({ id }) => id === callId) ?? {};
    if (name === undefined || registry.hasTool(name)) continue;
    if (typeof content !== "string" || !content.startsWith(`Error: ${name} is not a valid tool, try one of [`))
      continue;
    const { text } = await callTool(registry, name, args, { labels, callId });
    // In place, as LangChain names its messages: a middleware cannot replace a message without another step of the graph.
    message.content = text;
    message.lc_kwargs.content = text;
  }
}

/**
 * Returns the messages for an API whose tool messages are only text: images stand in a user message behind the results, joined with
 * the user's next one.
 */
export function imagesBehindResults(messages: readonly BaseMessage[]): BaseMessage[] {
  const result: BaseMessage[] = [];
  let images: ContentBlock[] = [];
  for (const message of messages) {
    if (ToolMessage.isInstance(message) && Array.isArray(message.content)) {
      const shown = message.content.filter(isImage);
      const heading = { type: "text", text: imagesHeading(message.name ?? "a tool") };
      if (shown.length > 0) images.push(heading, ...shown);
      result.push(shown.length > 0 ? textOf(message) : message);
      continue;
    }
    if (!ToolMessage.isInstance(message) && images.length > 0) {
      const isUser = HumanMessage.isInstance(message);
      result.push(new HumanMessage({ content: isUser ? [...images, ...blocksOf(message)] : images }));
      images = [];
      if (isUser) continue;
    }
    result.push(message);
  }
  if (images.length > 0) result.push(new HumanMessage({ content: images }));
  return result;
}

const isImage = ({ type }: ContentBlock): boolean => type === "image_url" || type === "image";

const blocksOf = ({ content }: BaseMessage): ContentBlock[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

function textOf({ text, tool_call_id, name = "", status = "success", id = "" }: ToolMessage): ToolMessage {
  return new ToolMessage({ content: text, tool_call_id, name, status, id });
}
