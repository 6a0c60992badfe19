import { textOf, userMessage } from "../conversation/conversation.ts";
import type { AgentEvent, Message, Usage } from "../messages.ts";
import { RequestClock } from "../requestClock.ts";
import { busyError, type LoopState, waitingError } from "./loopState.ts";
import { requestReply } from "./requestReply.ts";
import { requestTools } from "./requestTools.ts";
import {
  type CompactionOptions,
  clearOldResults,
  leastGain,
  summarised,
  summaryCut,
  summaryRequest,
  totalWeight,
} from "./shrinkMessages.ts";
import { runSteps, type Steps, until } from "./steps.ts";

/** What a compaction did. */
export type Compacted = Extract<AgentEvent, { type: "compaction" }>;

/** Characters of a token, for messages that the service has not counted yet. */
const charactersPerToken = 4;
/** The share of the conversation that `agent.compact()` aims to keep. */
const requestedTarget = 0.25;

/**
 * Shortens the conversation when the service has reported a context near the model's limit: clears the oldest tool results
 * first, then has the model summarise the older part. Where that would save too little it does nothing, and tries again
 * only when the context has grown by a tenth of the window.
 */
export function* compact(
  state: LoopState,
  { contextWindow, startAt = 0.8, target = 0.5, keepResults = 5 }: CompactionOptions,
  clock: RequestClock,
): Steps {
  const { history } = state;
  if (history.contextTokens === undefined) return;
  const lastReply = history.messages.findLastIndex((message) => message.role === "assistant");
  const uncounted = totalWeight(history.messages.slice(lastReply + 1)) / charactersPerToken;
  const tokens = history.contextTokens + uncounted;
  if (tokens < Math.max(startAt * contextWindow, history.retryCompactionAbove)) return;

  const goal = target * contextWindow * (totalWeight(history.messages) / tokens);
  if (!(yield* shrink(state, clock, goal, keepResults)))
    history.retryCompactionAbove = tokens + leastGain * contextWindow;
}

/** Compacts now, whatever the size; resolves to what was done. Throws `busy` while a turn runs or calls wait, or what the provider threw. */
export async function compactNow(state: LoopState, signal?: AbortSignal): Promise<Compacted | undefined> {
  if (state.running) throw busyError();
  if (state.history.pending.length > 0) throw waitingError();
  const clock = new RequestClock(signal, state.limits);
  state.running = true;
  try {
    const { keepResults = 5 } = state.compaction ?? {};
    const goal = totalWeight(state.history.messages) * requestedTarget;
    let compacted: Compacted | undefined;
    await runSteps(shrink(state, clock, goal, keepResults), (event) => {
      if (event.type === "compaction") compacted = event;
    });
    await clock.drained();
    return compacted;
  } finally {
    clock.dispose();
    await state.history.recorder?.turnEnded();
    state.running = false;
  }
}

/** Reduces the conversation to the weight `goal`, as far as possible; returns whether it became lighter. */
function* shrink(state: LoopState, clock: RequestClock, goal: number, keepResults: number): Steps<boolean> {
  const { history } = state;
  const excess = totalWeight(history.messages) - goal;
  const clearing = clearOldResults(history.messages, excess, keepResults);
  const messages = clearing?.messages ?? history.messages;
  const cut = (clearing?.freed ?? 0) >= excess ? undefined : summaryCut(messages, goal / 2);
  const summary = cut === undefined ? "" : yield* summaryOf(messages.slice(0, cut), state, clock);
  const summed = cut !== undefined && summary !== "";
  if (!summed && !clearing) return false;
  const replaced = history.replace(summed ? summarised(messages, cut, summary) : messages);
  if (replaced !== undefined) yield* until(replaced);
  yield { type: "compaction", clearedResults: clearing?.cleared ?? 0, summarisedMessages: summed ? cut : 0 };
  return true;
}

/** The model's summary; empty where it gave none. Its tokens are counted. */
function* summaryOf(head: readonly Message[], state: LoopState, clock: RequestClock): Steps<string> {
  const { history, steps } = state;
  const ask = (): Steps<Summary> => requestSummary(head, state, clock);
  const { text, usage } = steps ? (yield* steps.next("compact", ask, clock)).value : yield* ask();
  if (usage) {
    history.count(usage);
    yield { type: "usage", usage, total: history.usage };
  }
  return text;
}

/** What the step of a summary is recorded as. */
interface Summary {
  readonly text: string;
  readonly usage?: Usage;
}

/** The text is not shown. */
function* requestSummary(
  head: readonly Message[],
  { provider, tools, limits, history, systemPrompt }: LoopState,
  clock: RequestClock,
): Steps<Summary> {
  // With the same prompt and tools: services cache the prefix, and some refuse earlier calls without their tools.
  const content = {
    systemPrompt,
    messages: [...head, userMessage(summaryRequest)],
    ...requestTools(tools, history.foundTools),
    toolChoice: "none",
  } as const;
  const request = { provider, content, clock, limits, callIds: history.callIds, hidden: true };
  const { message, stop, usage } = yield* requestReply(request);
  return { text: stop === "stop" ? textOf(message) : "", ...(usage && { usage }) };
}
