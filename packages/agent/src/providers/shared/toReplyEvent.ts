import type { AssistantMessage, StopReason, Usage } from "../../messages.ts";
import type { ReplyEvent } from "../../provider.ts";
import { missingCalls } from "../errors/endWords.ts";
import type { Service } from "../errors/wireErrors.ts";

/** The parts of one reply that a reducer gathered. */
interface GatheredReply {
  readonly content: AssistantMessage["content"];
  readonly stop: StopReason;
  /** The service's word for that. */
  readonly word?: unknown;
  /** `provider/model`. */
  readonly model: string;
  readonly usage: Usage | undefined;
  /** The service's words about the stop. */
  readonly detail?: string | null | undefined;
}

/**
 * Returns the reply event. Services differ in what they call the end of a reply with calls, so whether there are any decides. Throws
 * `bad_reply` for an end that promises calls where there are none.
 */
export function toReplyEvent(reply: GatheredReply, service: Service): ReplyEvent {
  const { content, stop, model, usage, detail, word } = reply;
  const hasCalls = content.some((block) => block.type === "tool-call");
  if (stop === "tool-calls" && !hasCalls) throw missingCalls(word, service);
  const isCallStop = stop === "stop" || stop === "pause" || stop === "tool-calls";
  return {
    type: "reply",
    message: { role: "assistant", content, model },
    stop: hasCalls && isCallStop ? "tool-calls" : stop,
    ...(detail && { detail }),
    ...(usage && { usage }),
  };
}
