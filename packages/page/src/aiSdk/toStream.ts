import type { Agent, AgentEvent } from "@toolcrib/agent";
import type { UIMessageChunk } from "ai";
import { toldWords } from "../errors.ts";
import { startingWith } from "../liveSession.ts";
import type { SessionState } from "../protocol.ts";
import { lastReply, stateOf } from "./messages.ts";
import { turnChunks } from "./stream.ts";

/** Options of a stream that no handler makes. */
export interface StreamOptions {
  /** The agent that runs the turn. Without it, the stream has no message id, shows programs as calls, and cannot tell what is kept of a failed reply. */
  readonly agent?: Agent;
  /** True for a turn of `streamApprove`: it goes on with the last message of the assistant. */
  readonly continues?: boolean;
  /** The id of that message in the page. Default: the one that `toUIMessages` gives it. */
  readonly messageId?: string;
  /** Words an error for the user. Default: errors of the model's service in their own words, any other in a sentence without details, and on the console. */
  readonly explain?: (error: unknown) => string;
}

/**
 * Makes the stream of a turn for `createUIMessageStreamResponse` of the AI SDK, or for `readUIMessageStream`. Cancelling it ends the turn with its
 * next event; to end it at once, give the turn a signal.
 */
export function toUIMessageStream(
  events: AsyncIterable<AgentEvent>,
  options: StreamOptions = {},
): ReadableStream<UIMessageChunk> {
  const all = chunksOf(events, options);
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await all.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await all.return();
      },
    },
    { highWaterMark: 0 },
  );
}

async function* chunksOf(
  events: AsyncIterable<AgentEvent>,
  { agent, continues = false, messageId, explain = explainAlone }: StreamOptions,
): AsyncGenerator<UIMessageChunk, void> {
  const iterator = events[Symbol.asyncIterator]();
  const state = (): SessionState | undefined => agent && stateOf(agent);
  // The message, or the answers, are in the session by then.
  const first = iterator.next();
  await first.catch(() => undefined);
  const before = state() ?? { messages: [], pending: [] };
  const turn = { before, continues, events: () => startingWith(first, iterator), after: state };
  yield* turnChunks(turn, { messageId: messageId ?? (agent && lastReply(before).id), isWhole: false, explain });
}

function explainAlone(error: unknown): string {
  const words = toldWords(error);
  if (words === undefined) console.error(error);
  return words ?? "Something went wrong on the server.";
}
