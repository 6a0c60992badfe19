import type { Agent, ImageBlock, Message, PendingCall, Session, TextBlock, ToolCallBlock } from "@toolcrib/agent";
import type { UIMessage } from "ai";
import { PageError } from "../errors.ts";
import type { SessionState } from "../protocol.ts";
import { lastReplies } from "../savedEvents.ts";
import { dataUrl, type Part } from "./parts.ts";
import { savedParts } from "./writer.ts";

/** A conversation: an agent, or a session that it has saved. */
export type Conversation = Pick<Agent, "sessionContext" | "pending" | "toolRegistry"> | Session;

/** Returns a conversation as the messages of `useChat`. Calls that wait for an answer are questions. */
export function toUIMessages(conversation: Conversation): UIMessage[] {
  return messagesOf(stateOf(conversation));
}

export function messagesOf(state: SessionState): UIMessage[] {
  const { messages } = state;
  const shown: UIMessage[] = [];
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index];
    if (message?.role !== "user") {
      const next = messages.findIndex(({ role }, at) => at > index && role === "user");
      const replies = messages.slice(index, next < 0 ? messages.length : next);
      const parts = savedParts(replies, next < 0 ? state : { ...state, pending: [] });
      if (parts.length > 0) shown.push({ id: replyId(messages, index), role: "assistant", parts });
      index += replies.length - 1;
    } else shown.push({ id: idOf(message), role: "user", parts: message.content.map(userPart) });
  }
  // A durable run has questions, but no messages.
  if (messages.length === 0 && state.pending.length > 0)
    shown.push({ id: replyId(messages, 0), role: "assistant", parts: savedParts([], state) });
  return shown;
}

/** Ids hold as long as the agent. A position would not: in a conversation that was shortened it is that of another message in the page. */
const ids = new WeakMap<Message, string>();

function idOf(message: Message): string {
  const id = ids.get(message) ?? crypto.randomUUID();
  ids.set(message, id);
  return id;
}

/** Returns the id of what follows a message of the user. */
function replyId(messages: readonly Message[], index: number): string {
  const message = messages[index - 1] ?? messages[0];
  return message ? `reply-${idOf(message)}` : "reply";
}

/** Returns the last message of the assistant, also one that is still empty: what followed the last message of the user. */
export function lastReply({ messages }: SessionState): { readonly id: string; readonly messages: readonly Message[] } {
  const last = lastReplies(messages);
  return { id: replyId(messages, messages.length - last.length), messages: last };
}

export function stateOf(conversation: Conversation): SessionState {
  if ("sessionContext" in conversation) {
    const { sessionContext: messages, pending, toolRegistry: tools } = conversation;
    return { messages, pending, tools };
  }
  const { messages, pending: waiting = [] } = conversation;
  const calls = new Map(messages.flatMap(callsIn).map((call) => [call.id, call]));
  const pending = waiting.flatMap(({ callId, question, args, answer, within }): PendingCall[] => {
    const { name = "", args: sent = {} } = calls.get(callId) ?? {};
    if (within) return within.map((call) => ({ ...call, within: callId }));
    return question ? [{ callId, name, args: args ?? sent, question, ...(answer !== undefined && { answer }) }] : [];
  });
  return { messages, pending };
}

function callsIn(message: Message): ToolCallBlock[] {
  return message.role === "assistant" ? message.content.filter((block) => block.type === "tool-call") : [];
}

function userPart(block: TextBlock | ImageBlock): Part {
  if (block.type === "text") return { type: "text", text: block.text };
  return { type: "file", mediaType: block.mimeType, url: dataUrl(block) };
}

/**
 * Returns messages of `useChat` as those of a session, for `Agent.resume`: it is for messages that your own server has kept, since nothing in them is
 * checked. Calls without a result become calls that were interrupted. Throws a PageError for content that no model takes.
 */
export function fromUIMessages(messages: readonly UIMessage[]): Message[] {
  return messages.flatMap(({ role, parts }): Message[] => {
    if (role === "user") return [{ role, content: userContent(parts) }];
    return role === "assistant" ? repliesOf(parts) : [];
  });
}

function repliesOf(parts: readonly Part[]): Message[] {
  const ends = parts.flatMap(({ type }, index) => (type === "step-start" ? [index] : []));
  return [0, ...ends].flatMap((start, index) => {
    const step = parts.slice(start, ends[index] ?? parts.length);
    const content: (TextBlock | { type: "reasoning"; text: string } | ToolCallBlock)[] = [];
    const results: Message[] = [];
    for (const part of step) {
      if (part.type === "text" || part.type === "reasoning") content.push({ type: part.type, text: part.text });
      if (!("toolCallId" in part) || part.toolMetadata?.within !== undefined) continue;
      const name = part.type === "dynamic-tool" ? part.toolName : part.type.slice("tool-".length);
      const { toolCallId: callId, input } = part;
      content.push({ type: "tool-call", id: callId, name, args: { ...(input as object) } });
      const isError = part.state === "output-error";
      const { output = part.errorText } = part;
      if (isError || part.state === "output-available")
        results.push({
          role: "tool",
          callId,
          name,
          output: typeof output === "string" ? output : JSON.stringify(output),
          isError,
        });
    }
    return content.length > 0 ? [{ role: "assistant", content }, ...results] : [];
  });
}

/** Reads the parts of a user's message, from whoever sent them. */
export function userContent(parts: unknown): (TextBlock | ImageBlock)[] {
  if (!Array.isArray(parts)) throw new PageError(400, "A message needs a list of parts.");
  return parts.map((part: { type?: unknown; text?: unknown; url?: unknown } | null) => {
    if (part?.type === "text" && typeof part.text === "string") return { type: "text", text: part.text };
    if (part?.type === "file" && typeof part.url === "string") return fileBlock(part.url);
    throw new PageError(400, "A message of the user has texts and files alone.");
  });
}

const pictures = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})$/;

function fileBlock(url: string): TextBlock | ImageBlock {
  const [, mimeType, data] = pictures.exec(url) ?? [];
  if (mimeType !== undefined && data !== undefined) return { type: "image", mimeType, data };
  if (!/^data:text\/[^,]*;base64,/.test(url))
    throw new PageError(400, "A file must be a PNG, JPEG, GIF or WebP picture or a text, as a data: URL in base64.");
  return { type: "text", text: Buffer.from(url.slice(url.indexOf(",") + 1), "base64").toString() };
}
