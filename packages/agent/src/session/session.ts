import { isObject } from "@toolcrib/core/text";
import { frozenJson } from "../conversation/frozenJson.ts";
import type { Answers } from "../conversation/history.ts";
import { repairConversation } from "../conversation/repair.ts";
import { readWaiting, stillWaiting, type WaitingCall } from "../conversation/waiting.ts";
import { AgentError } from "../errors.ts";
import type { Message, Usage } from "../messages.ts";

/** The name of the format; `session.schema.json` in this package describes it. */
export const sessionFormat = "toolcrib-session";
export const sessionVersion = 1;

/** A saved conversation: what `save_session_context` writes and `Agent.resume` reads. */
export interface Session {
  readonly format: typeof sessionFormat;
  readonly version: typeof sessionVersion;
  /** ISO 8601, UTC. */
  readonly savedAt: string;
  /** Why it was saved. */
  readonly reason?: string;
  readonly name?: string;
  readonly systemPrompt: string;
  readonly messages: readonly Message[];
  /** Of the session so far. */
  readonly usage?: Usage;
  /** Calls of the last reply that wait for an answer, or for those before them; the result of each in `messages` says so. */
  readonly pending?: readonly WaitingCall[];
  /** Deferred tools that were found. */
  readonly foundTools?: readonly string[];
}

/** One line of a journal; the first is the `session` line. */
export type JournalLine =
  | {
      readonly type: "session";
      readonly format: typeof sessionFormat;
      readonly version: typeof sessionVersion;
      readonly savedAt: string;
      readonly name?: string;
      readonly systemPrompt: string;
    }
  /**
   * `at`: when it was written, ISO 8601, UTC; absent in older journals. `usage`: tokens of the reply. `data`: what a result shows, as a JSON value. `pending`: this result stands for a call that waits. A
   * second result of a call replaces the first.
   */
  | {
      readonly type: "message";
      readonly at?: string;
      readonly message: Message;
      readonly usage?: Usage;
      readonly data?: unknown;
      readonly pending?: WaitingCall;
    }
  /** Answers to the questions about calls that wait, by id. */
  | { readonly type: "answers"; readonly answers: Answers }
  /** These calls are about to run. */
  | { readonly type: "tool-start"; readonly at?: string; readonly callIds: readonly string[] }
  /** The conversation is now these messages. `refused`: the last one was taken out, as the service refused it. */
  | {
      readonly type: "messages";
      readonly messages: readonly Message[];
      readonly refused?: true;
      readonly pending?: readonly WaitingCall[];
      readonly foundTools?: readonly string[];
    }
  | { readonly type: "system-prompt"; readonly systemPrompt: string };

/** A session to be saved at any moment: calls that still run get the result "interrupted". */
export function createSession(content: Omit<Session, "format" | "version" | "savedAt">): Session {
  return {
    format: sessionFormat,
    version: sessionVersion,
    savedAt: new Date().toISOString(),
    ...content,
    messages: repairConversation(content.messages.map(withBlocks)),
  };
}

/** A message written by hand may have its text as a plain string. */
function withBlocks<M>(message: M): M {
  if (!isObject(message) || typeof message.content !== "string" || message.role === "tool") return message;
  return { ...message, content: [{ type: "text", text: message.content }] };
}

/** Checks a session that was read or passed in; throws `bad_session` with `source` in its message. */
export function checkSession(value: unknown, source: string): Session {
  const session = checkHeader(value, source);
  if (!Array.isArray(session.messages)) throw badSession(source, "messages is not a list");
  const { pending: saved, foundTools: names, ...rest } = session;
  const messages = repairConversation(
    session.messages.map((message, index) => checkMessage(message, `${source}, message ${index + 1}`)),
  );
  const pending = stillWaiting(messages, checkPending(saved, source));
  const foundTools = checkFoundTools(names, source);
  return {
    ...(rest as unknown as Session),
    messages,
    ...(pending.length > 0 && { pending }),
    ...(foundTools.length > 0 && { foundTools }),
  };
}

/** Checks a list of names; none when it is absent. */
export function checkFoundTools(value: unknown, source: string): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((name) => typeof name === "string")) return value;
  throw badSession(source, "foundTools is not a list of names");
}

/** Checks a list of calls that wait; none when it is absent. */
export function checkPending(value: unknown, source: string): readonly WaitingCall[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw badSession(source, "pending is not a list");
  return value.map((call, index) => checkWaiting(call, `${source}, pending ${index + 1}`));
}

/** Checks one call that waits and freezes a copy. */
export function checkWaiting(value: unknown, source: string): WaitingCall {
  const call = readWaiting(value);
  if (!call) throw badSession(source, "not a call that waits, with callId and step");
  return call;
}

/** Checks format, version and system prompt. */
export function checkHeader(value: unknown, source: string): Record<string, unknown> {
  if (!isObject(value) || value.format !== sessionFormat) {
    throw badSession(source, `expected an object with "format": "${sessionFormat}"`);
  }
  if (value.version !== sessionVersion) {
    throw badSession(
      source,
      `this version reads format version ${sessionVersion}, not ${String(value.version)}; update toolcrib`,
    );
  }
  if (typeof value.systemPrompt !== "string") throw badSession(source, "systemPrompt is not a string");
  return value;
}

/** Checks the shape of one message and freezes a copy. */
export function checkMessage(given: unknown, source: string): Message {
  const value = withBlocks(given);
  if (!isObject(value)) throw badSession(source, "expected an object");
  const { role, content } = value;
  const well =
    role === "tool"
      ? ["callId", "name", "output"].every((key) => typeof value[key] === "string") &&
        typeof value.isError === "boolean"
      : (role === "user" || role === "assistant") && Array.isArray(content) && content.every(isBlock);
  if (!well) throw badSession(source, "not a user, assistant or tool message of this format");
  return frozenJson(value) as Message;
}

/** Whether it is a block that a user message may hold. */
export function isUserBlock(block: unknown): boolean {
  return isBlock(block) && ["text", "image"].includes(String((block as { type: unknown }).type));
}

function isBlock(block: unknown): boolean {
  if (!isObject(block)) return false;
  if (block.type === "image") return typeof block.data === "string" && typeof block.mimeType === "string";
  if (block.type === "tool-call") {
    return typeof block.id === "string" && typeof block.name === "string" && isObject(block.args);
  }
  return (block.type === "text" || block.type === "reasoning") && typeof block.text === "string";
}

export function badSession(source: string, problem: string, cause?: unknown): AgentError {
  return new AgentError({ code: "bad_session", message: `Cannot read the session ${source}: ${problem}.`, cause });
}
