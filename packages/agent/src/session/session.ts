import { isObject } from "@toolcrib/core/text";
import { repairConversation } from "../conversation/repair.ts";
import type { ConversationLine } from "../conversation/state.ts";
import type { WaitingCall } from "../conversation/waiting.ts";
import type { Message, Usage } from "../messages.ts";
import type { ConversationChange, Opening } from "../provider.ts";

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
  /** What the first request said, and what has changed since. */
  readonly opening?: Opening;
  readonly changes?: readonly ConversationChange[];
}

/** One line of a journal; the first is the `session` line. */
export type JournalLine =
  | ConversationLine
  | {
      readonly type: "session";
      readonly format: typeof sessionFormat;
      readonly version: typeof sessionVersion;
      readonly savedAt: string;
      readonly name?: string;
      readonly systemPrompt: string;
    };

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
export function withBlocks<M>(message: M): M {
  if (!isObject(message) || typeof message.content !== "string" || message.role === "tool") return message;
  return { ...message, content: [{ type: "text", text: message.content }] };
}
