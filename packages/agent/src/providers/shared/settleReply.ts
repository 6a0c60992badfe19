import type { AssistantMessage, StopReason, ToolCallBlock, Usage } from "../../messages.ts";
import type { ProviderEvent } from "../../provider.ts";
import { withDistinctIds } from "./wireText.ts";

export type ReplyEvent = Extract<ProviderEvent, { type: "reply" }>;

/** What a reducer gathered of one reply. */
export interface GatheredReply {
  readonly content: AssistantMessage["content"];
  readonly stop: StopReason;
  /** `provider/model`. */
  readonly model: string;
  readonly usage: Usage | undefined;
  /** What the service said of the stop. */
  readonly detail?: string | null | undefined;
}

/** The reply event: empty text dropped, call ids distinct, and a stop that agrees with whether there are calls. */
export function settleReply({ content, stop, model, usage, detail }: GatheredReply): ReplyEvent {
  const calls = withDistinctIds(content.filter((block): block is ToolCallBlock => block.type === "tool-call"));
  const kept = content
    .map((block) => (block.type === "tool-call" ? (calls.shift() ?? block) : block))
    .filter((block) => block.type === "tool-call" || block.text !== "" || block.opaque !== undefined);
  return {
    type: "reply",
    message: { role: "assistant", content: kept, model },
    stop: agreed(
      stop,
      kept.some((block) => block.type === "tool-call"),
    ),
    ...(detail && { detail }),
    ...(usage && { usage }),
  };
}

/** Services differ in what they call the end of a reply with calls; whether there are any decides. */
function agreed(stop: StopReason, hasCalls: boolean): StopReason {
  if (hasCalls && (stop === "stop" || stop === "pause")) return "tool-calls";
  return !hasCalls && stop === "tool-calls" ? "stop" : stop;
}
