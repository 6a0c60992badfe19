import type { Answers } from "../conversation/state.ts";
import { AgentError } from "../errors.ts";
import type { PendingCall } from "../messages.ts";
import { type ChatOptions, checkApproveOptions, checkChatOptions, type UserContent } from "../options.ts";
import { isUserBlock } from "../session/checkSession.ts";
import { checkAnswers } from "./checkAnswers.ts";

/** The start of a turn: a message of the user, or the answers with which the turn that asked goes on. */
export type TurnStart = { readonly message: UserContent } | { readonly answers: Answers };

/** Returns the start, its answers copied, before anything is waited for. Throws for what cannot begin a turn. */
export function checkStart(pending: readonly PendingCall[], start: TurnStart, options: ChatOptions): TurnStart {
  if ("message" in start) {
    refuseMessage(start.message);
    checkChatOptions(options);
    return start;
  }
  const answers = checkAnswers(pending, start.answers);
  checkApproveOptions(options);
  return { answers };
}

/** Throws for a message without content: services refuse it, and every later request that holds it. */
function refuseMessage(content: UserContent): void {
  const refuse = (message: string): AgentError => new AgentError({ code: "invalid_request", message });
  if (typeof content !== "string" && !(Array.isArray(content) && content.every(isUserBlock)))
    throw refuse("A message is text, or a list of text and image blocks.");
  const blocks = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
  if (blocks.every((block) => block.type === "text" && block.text.trim() === ""))
    throw refuse("The message is empty; say what to do.");
}
