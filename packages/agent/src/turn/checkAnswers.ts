import { mostUpTo, quote } from "@toolcrib/core/internal";
import { messageOf } from "@toolcrib/core/text";
import { frozenJson } from "../conversation/frozenJson.ts";
import type { Answers } from "../conversation/state.ts";
import { type Answer, isAnswer } from "../conversation/waiting.ts";
import { invalidOption } from "../errors.ts";
import type { PendingCall } from "../messages.ts";

/** Returns frozen copies of the answers. Throws unless each is one to a question that waits. */
export function checkAnswers(pending: readonly PendingCall[], answers: Answers): Answers {
  if (pending.length === 0) throw invalidOption("No call waits for an answer; see agent.pending.");
  if (typeof answers !== "object" || answers === null || Array.isArray(answers))
    throw invalidOption(`approve needs an object of answers by the id of the call: { [callId]: ${answerForms} }.`);
  const checked = Object.entries(answers).map(([id, answer]) => {
    if (!pending.some(({ callId }) => callId === id))
      throw invalidOption(`No call with the id ${quote(id)} waits; agent.pending lists those that do.`);
    if (!isAnswer(answer))
      throw invalidOption(`The answer for ${id} must be ${answerForms}, received ${quote(answer)}.`);
    return [id, copyOf(id, answer)] as const;
  });
  return Object.fromEntries(checked);
}

const answerForms = `true, false, a reason, { args } or { output }, or { upTo: 1 to ${mostUpTo} } if its question offers that`;

function copyOf(id: string, answer: Answer): Answer {
  try {
    return frozenJson(answer);
  } catch (cause) {
    throw invalidOption(`The answer for ${id} cannot be saved: ${messageOf(cause)}.`);
  }
}
