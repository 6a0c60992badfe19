import type { AssistantMessage, StopReason, Usage } from "../../messages.ts";
import type { ReplyEvent } from "../../provider.ts";

/** The parts of one reply that a reducer gathered. */
interface GatheredReply {
  readonly content: AssistantMessage["content"];
  readonly stop: StopReason;
  /** `provider/model`. */
  readonly model: string;
  readonly usage: Usage | undefined;
  /** The service's words about the stop. */
  readonly detail?: string | null | undefined;
}

/** Returns the reply event. Services differ in what they call the end of a reply with calls, so whether there are any decides. */
export function toReplyEvent({ content, stop, model, usage, detail }: GatheredReply): ReplyEvent {
  const hasCalls = content.some((block) => block.type === "tool-call");
  const isCallStop = stop === "stop" || stop === "pause" || stop === "tool-calls";
  return {
    type: "reply",
    message: { role: "assistant", content, model },
    stop: hasCalls && isCallStop ? "tool-calls" : !hasCalls && stop === "tool-calls" ? "stop" : stop,
    ...(detail && { detail }),
    ...(usage && { usage }),
  };
}
