import type { AssistantMessage, Message, ToolMessage } from "../messages.ts";
import { callsOf, interrupted, notRun, toolMessage, toValidReply } from "./conversation.ts";

/**
 * Makes a valid conversation of any messages: each reply is followed by exactly one result for each of its calls, in their
 * order; results without a call are dropped; ids are unique and legal. A call without a result gets one that says whether
 * it may have run: those in `started` may, without `started` all may.
 */
export function repairConversation(messages: readonly Message[], started?: ReadonlySet<string>): readonly Message[] {
  const takenIds = new Set<string>();
  const repaired: Message[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant") {
      let next = index + 1;
      while (next < messages.length && messages[next]?.role !== "assistant") next += 1;
      const results = messages.slice(index + 1, next).filter((other) => other.role === "tool");
      repaired.push(...replyWithResults(message, results, takenIds, started));
    } else if (message.role !== "tool") repaired.push(message);
  }
  return repaired;
}

function replyWithResults(
  reply: AssistantMessage,
  results: readonly ToolMessage[],
  takenIds: Set<string>,
  started: ReadonlySet<string> | undefined,
): Message[] {
  const valid = toValidReply(reply, takenIds);
  if (valid.content.length === 0) return [];
  const unused = [...results];
  const answers = callsOf(valid).map((call, position) => {
    const originalId = callsOf(reply)[position]?.id ?? call.id;
    const found = unused.findIndex((result) => result.callId === originalId);
    const [result] = found < 0 ? [] : unused.splice(found, 1);
    if (result) return toolMessage(call, result);
    return !started || started.has(originalId) ? interrupted(call) : notRun(call, "aborted");
  });
  return [valid, ...answers];
}
