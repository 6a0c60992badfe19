import { isObject } from "@toolcrib/core/text";
import { repairConversation } from "../conversation/repair.ts";
import type { ConversationLine, SavedState } from "../conversation/state.ts";
import type { Message } from "../messages.ts";

/** The name of the format; `session.schema.json` in this package describes it. */
export const sessionFormat = "toolcrib-session";
export const sessionVersion = 1;

/** A saved conversation: what `save_session_context` writes and `Agent.resume` reads. */
export interface Session extends SavedState {
  readonly format: typeof sessionFormat;
  readonly version: typeof sessionVersion;
  /** ISO 8601, UTC. */
  readonly savedAt: string;
  /** The reason for the save. */
  readonly reason?: string;
  readonly name?: string;
  readonly systemPrompt: string;
  readonly messages: readonly Message[];
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

/** Creates a session to be saved at any moment: calls that still run get the result "interrupted". */
export function createSession(content: Omit<Session, "format" | "version" | "savedAt">): Session {
  return {
    format: sessionFormat,
    version: sessionVersion,
    savedAt: new Date().toISOString(),
    ...content,
    messages: repairConversation(content.messages.map(withBlocks)),
  };
}

/** Turns the plain string of a message written by hand into a block. */
export function withBlocks<M>(message: M): M {
  if (!isObject(message) || typeof message.content !== "string" || message.role === "tool") return message;
  return { ...message, content: [{ type: "text", text: message.content }] };
}
