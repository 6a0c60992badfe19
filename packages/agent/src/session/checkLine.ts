import { isObject } from "@toolcrib/core/text";
import type { ConversationLine } from "../conversation/state.ts";
import { isAnswer, type WaitingCall } from "../conversation/waiting.ts";
import {
  badSession,
  checkAnnounced,
  checkChange,
  checkFoundTools,
  checkMessage,
  checkOpening,
  checkPending,
  checkWaiting,
} from "./checkSession.ts";

/** Checks a line of a journal after its header, and freezes copies of what joins the conversation. Throws `bad_session`. */
export function checkLine(line: unknown, at: string, waiting: ReadonlyMap<string, WaitingCall>): ConversationLine {
  if (!isObject(line)) throw badSession(at, "it is not a JSON object");
  return { ...line, ...checkedFields(line, at, waiting) } as unknown as ConversationLine;
}

function checkedFields(line: Record<string, unknown>, at: string, waiting: ReadonlyMap<string, WaitingCall>): object {
  const { type, message, usage, pending, messages, callIds, answers, count, systemPrompt } = line;
  switch (type as ConversationLine["type"]) {
    case "message":
      return {
        message: checkMessage(message, at),
        usage: isObject(usage) ? usage : undefined,
        pending: pending === undefined ? undefined : checkWaiting(pending, at),
      };
    case "answers":
      for (const [id, answer] of Object.entries(isObject(answers) ? answers : {}))
        if (!waiting.has(id) || !isAnswer(answer))
          throw badSession(at, "an answer is true, false or a reason for a call that waits");
      return { answers: isObject(answers) ? answers : {} };
    case "tool-start":
      return { callIds: Array.isArray(callIds) ? callIds.map(String) : [] };
    case "messages":
      if (!Array.isArray(messages)) throw badSession(at, "messages is not a list");
      return {
        messages: messages.map((one) => checkMessage(one, at)),
        pending: checkPending(line.pending, at),
        foundTools: checkFoundTools(line.foundTools, at),
        ...checkAnnounced(line, at),
      };
    case "opening":
      return checkOpening(line, at);
    case "change":
      return checkChange(line, at);
    case "withdrawn":
      if (!Number.isSafeInteger(count) || Number(count) < 0) throw badSession(at, "count is not a number of messages");
      return {};
    case "usage":
      if (!isObject(usage)) throw badSession(at, "usage is not an object");
      return {};
    case "system-prompt":
      return { systemPrompt: String(systemPrompt) };
    default:
      throw badSession(at, `unknown type ${JSON.stringify(type)}`);
  }
}
