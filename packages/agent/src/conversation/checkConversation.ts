import { isLegalName } from "@toolcrib/core/internal";
import type { Message } from "../messages.ts";
import { callsOf } from "./conversation.ts";

/**
 * Throws an Error that lists what is wrong with a conversation. It is valid when every call has exactly one result, right after its reply
 * and in the order of the calls; every result has its call; ids are unique; no string holds a lone surrogate.
 */
export function assertConversation(messages: readonly Message[]): void {
  const problems = problemsOf(messages);
  if (problems.length > 0) throw new Error(`The conversation is not valid:\n${problems.join("\n")}`);
}

function problemsOf(messages: readonly Message[]): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `message ${index + 1} (${message.role})`;
    if (message.role === "tool") {
      const expected = open.shift();
      if (message.callId !== expected)
        problems.push(`${at} answers ${message.callId}, expected ${expected ?? "no result"}`);
      continue;
    }
    if (open.length > 0) problems.push(`${at} comes before the results of ${open.join(", ")}`);
    open = [];
    if (message.content.length === 0) problems.push(`${at} is empty`);
    if (message.role === "user") continue;
    for (const call of callsOf(message)) {
      if (ids.has(call.id)) problems.push(`${at} uses the id ${call.id} again`);
      if (!isLegalName(call.id)) problems.push(`${at} has the illegal id ${JSON.stringify(call.id)}`);
      if (!isLegalName(call.name)) problems.push(`${at} has the illegal name ${JSON.stringify(call.name)}`);
      if (typeof call.args !== "object" || call.args === null || Array.isArray(call.args)) {
        problems.push(`${at} has arguments that are not an object`);
      }
      ids.add(call.id);
      open.push(call.id);
    }
  }
  if (open.length > 0) problems.push(`the conversation ends before the results of ${open.join(", ")}`);
  const text = JSON.stringify(messages);
  if (/(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/i.test(text)) problems.push("a string contains a lone surrogate");
  return problems;
}
