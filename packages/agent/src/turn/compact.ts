import { textOf, userMessage } from "../conversation/conversation.ts";
import { addUsage } from "../conversation/usage.ts";
import type { AgentEvent, Message, Usage } from "../messages.ts";
import type { ReplyEvent, ToolChoice } from "../provider.ts";
import { modelRules } from "../providers/models/models.ts";
import { pictureShare } from "../providers/models/pictures.ts";
import { RequestClock } from "../requestClock.ts";
import { busyError, type CompactionOptions, type LoopState, waitingError } from "./loopState.ts";
import { requestReply } from "./requestReply.ts";
import { requestTools } from "./requestTools.ts";
import { leastGain, splitForSummary, summarised, summaryRequest, weightOf } from "./summary.ts";
import type { ToolRunner } from "./toolCalls.ts";

/** The result of a compaction. */
export type Compacted = Extract<AgentEvent, { type: "compaction" }>;

/**
 * Shortens the conversation when the service has reported a context near the model's limit. Where that would save too little it does
 * nothing, and tries again only when the context has grown by a tenth of the window. The pictures of a conversation count too, as far as it
 * is known how many of them the model takes.
 */
export async function* compact(
  state: LoopState,
  { contextWindow, startAt = 0.8 }: CompactionOptions,
  clock: RequestClock,
  tools: ToolRunner = state.tools,
): AsyncGenerator<AgentEvent, void> {
  const { history } = state;
  if (history.contextTokens === undefined) return;
  const lastReply = history.messages.findLastIndex((message) => message.role === "assistant");
  const tokens = history.contextTokens + weightOf(history.messages.slice(lastReply + 1));
  const limits = modelRules(state.provider)?.pictures;
  const isFull = tokens >= startAt * contextWindow || (limits && pictureShare(history.messages, limits) >= startAt);
  if (!isFull || tokens < history.retryCompactionAbove) return;
  const compacted = yield* beginAnew(state, clock, tools);
  if (!compacted) history.retryCompactionAbove = tokens + leastGain * contextWindow;
}

/** Compacts now, whatever the size; resolves to what was done. Throws `busy` while a turn runs or calls wait, or what the provider threw. */
export async function compactNow(state: LoopState, signal?: AbortSignal): Promise<Compacted | undefined> {
  if (state.running) throw busyError();
  if (state.history.pending.length > 0) throw waitingError();
  const clock = new RequestClock(signal, state.limits);
  state.running = true;
  try {
    const steps = beginAnew(state, clock, state.tools);
    let next = await steps.next();
    while (!next.done) next = await steps.next();
    await clock.drained();
    return next.value;
  } finally {
    clock.dispose();
    await state.history.recorder?.turnEnded();
    state.running = false;
  }
}

/** Replaces the conversation by its summary. Undefined where that would save too little, or the model gave none. */
async function* beginAnew(
  state: LoopState,
  clock: RequestClock,
  tools: ToolRunner,
): AsyncGenerator<AgentEvent, Compacted | undefined> {
  const { history, steps } = state;
  const split = splitForSummary(history.messages);
  if (!split) return undefined;
  const ask = (): AsyncGenerator<AgentEvent, Summary> => requestSummary(split.head, state, clock, tools);
  const { text, usage } = steps ? (yield* steps.next("compact", ask, clock)).value : yield* ask();
  if (usage) {
    await history.record({ type: "usage", usage });
    yield { type: "usage", usage, total: history.usage };
  }
  const message = summarised(split, text);
  if (text === "" || weightOf([message]) > (1 - leastGain) * weightOf(history.messages)) return undefined;
  await history.replace([message]);
  const compacted: Compacted = { type: "compaction", summarisedMessages: split.head.length };
  yield compacted;
  return compacted;
}

/** The record of the step of a summary. */
interface Summary {
  readonly text: string;
  readonly usage?: Usage;
}

/** Asks the model for its summary; empty where it gave none. The text is not shown. */
async function* requestSummary(
  head: readonly Message[],
  { provider, limits, history, systemPrompt }: LoopState,
  clock: RequestClock,
  tools: ToolRunner,
): AsyncGenerator<AgentEvent, Summary> {
  const { opening, foundTools, callIds } = history;
  const present = { systemPrompt, ...requestTools(tools, foundTools) };
  const messages = [...head, userMessage(summaryRequest)];
  // As in the request before: services cache the prefix, and some refuse earlier calls without their tools.
  const content = { ...present, ...(opening && { opening, changes: history.changesFor(messages, present) }), messages };
  const ask = (toolChoice?: ToolChoice): AsyncGenerator<AgentEvent, ReplyEvent> => {
    const asked = { ...content, ...(toolChoice && { toolChoice }) };
    return requestReply({ provider, content: asked, clock, limits, callIds, hidden: true });
  };
  let { message, stop, usage } = yield* ask();
  if (stop === "tool-calls") {
    // Only now, since another choice of tools costs the cache of the whole conversation.
    const before = usage;
    ({ message, stop, usage } = yield* ask("none"));
    if (before) usage = usage ? addUsage(before, usage) : before;
  }
  return { text: stop === "stop" ? textOf(message) : "", ...(usage && { usage }) };
}
