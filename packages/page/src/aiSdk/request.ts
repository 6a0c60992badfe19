import { isObject } from "@toolcrib/core/text";
import { approvalIdOf } from "../approvalId.ts";
import { PageError } from "../errors.ts";
import { isPageAnswer, type PageAction, type PageAnswer, type SessionState } from "../protocol.ts";
import { userContent } from "./messages.ts";

/** Reads what a page of `useChat` sends: its last message says what it wants. All before that is in the session already, and not read. */
export function actionOf(body: Readonly<Record<string, unknown>>, state: SessionState): PageAction {
  const { messages, trigger, messageId } = body;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  if (!isObject(last)) throw new PageError(400, "The body needs `messages`, the last of which is to be answered.");
  if (trigger === "regenerate-message")
    throw new PageError(
      409,
      "An answer cannot be made again: what it did is done. Send a message that asks for another.",
    );
  if (last.role === "assistant") return { type: "answer", answers: answersOf(last, body.answers, state) };
  if (last.role !== "user") throw new PageError(400, "The last message is neither the user's nor one with answers.");
  if (messageId !== undefined)
    throw new PageError(409, "A sent message cannot be changed: what followed it is done. Send another message.");
  if (body.answers !== undefined) throw new PageError(400, "Send either a message of the user or answers.");
  return { type: "send", content: userContent(last.parts) };
}

/** Returns the id of the last message, which a page that answers gives it. */
export function lastIdOf({ messages }: Readonly<Record<string, unknown>>): string | undefined {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  return isObject(last) && typeof last.id === "string" ? last.id : undefined;
}

/**
 * Reads the answers: yes and no in the parts of the message, all others in `answers`, by the id of the question, or by that of the call if the message shows
 * the question.
 */
function answersOf(last: object, given: unknown = {}, { pending }: SessionState): ReadonlyMap<string, PageAnswer> {
  const answers = new Map<string, PageAnswer>();
  const parts: unknown[] = "parts" in last && Array.isArray(last.parts) ? last.parts : [];
  const shown = new Set<unknown>();
  for (const part of parts) {
    if (!isObject(part)) continue;
    const { id, approved, reason } = isObject(part.approval) ? part.approval : {};
    shown.add(id);
    if (part.state !== "approval-responded") continue;
    if (typeof approved !== "boolean" || !(reason === undefined || typeof reason === "string"))
      throw new PageError(400, "An answer in a part is { id, approved: true or false, reason?: string }.");
    const call = pending.find((one) => approvalIdOf(one) === id);
    // The calls within it are asked about now.
    if (!call && pending.some(({ within }) => within !== undefined && within === part.toolCallId)) continue;
    if (!call) throw notOpen(String(part.toolCallId));
    if (call.answer === undefined) answers.set(call.callId, approved || (reason ?? false));
  }
  if (!isObject(given) || Array.isArray(given))
    throw new PageError(400, "`answers` must be an object, of answers by the ids of their questions.");
  for (const [key, answer] of Object.entries(given)) {
    const call = pending.find((one) => {
      const id = approvalIdOf(one);
      return key === id || (key === one.callId && shown.has(id));
    });
    if (!call) throw notOpen(key);
    if (!isPageAnswer(answer))
      throw new PageError(
        400,
        "An answer is true, false, a reason, { args }, { output }, { upTo } or { always: true }.",
      );
    answers.set(call.callId, answer);
  }
  if (answers.size > 0) return answers;
  throw new PageError(400, "There is no message of the user, and no answer: a page cannot speak for the assistant.");
}

function notOpen(callId: string): PageError {
  return new PageError(
    409,
    `The question about ${callId.slice(0, 100)} is not open: it was answered already, or never asked. Reload the page.`,
  );
}
