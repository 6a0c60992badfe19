// A turn as the chunks of the AI SDK's UI protocol.
import { type AgentEvent, isAgentError } from "@toolcrib/agent";
import type { UIMessageChunk } from "ai";
import type { Turn } from "../protocol.ts";
import { lastReplies, savedEvents } from "../savedEvents.ts";
import { Writer } from "./writer.ts";

type End = Extract<AgentEvent, { type: "end" }>;

const finishReasons = {
  stop: "stop",
  approval: "tool-calls",
  "step-limit": "other",
  stuck: "other",
  "token-limit": "length",
  "context-limit": "length",
  refusal: "content-filter",
  "content-filter": "content-filter",
} as const;

export interface TurnOptions {
  /** The id of the message in the page. Without it the page makes one. */
  readonly messageId: string | undefined;
  /** All of the message that the turn goes on with is written, for a page that joins. */
  readonly isWhole: boolean;
  readonly explain: (error: unknown) => string;
}

export async function* turnChunks(
  turn: Turn,
  { messageId, isWhole, explain }: TurnOptions,
): AsyncGenerator<UIMessageChunk, void> {
  const writer = new Writer(turn.before);
  const begun = turn.continues
    ? [...writer.tell(savedEvents(lastReplies(turn.before.messages), turn.before.pending).flat())]
    : [];
  writer.isBefore = !turn.continues;
  yield { type: "start", ...(messageId !== undefined && { messageId }) };
  if (isWhole) yield* begun;
  let end: End | undefined;
  try {
    for await (const event of turn.events()) {
      if (event.type === "end") end = event;
      yield* writer.take(event);
    }
    yield* writer.settle(turn.after());
    const { reason = "stop", detail, failed } = end ?? {};
    const messageMetadata = { endReason: reason, usage: writer.usage, detail, failed };
    yield { type: "finish", finishReason: finishReasons[reason], messageMetadata };
  } catch (error) {
    yield* writer.settle(turn.after());
    const isStopped = isAgentError(error) && error.code === "aborted";
    const messageMetadata = { endReason: isStopped ? "stopped" : "error", usage: writer.usage };
    yield { type: "message-metadata", messageMetadata };
    yield isStopped ? { type: "abort", reason: error.message } : { type: "error", errorText: explain(error) };
  }
}
