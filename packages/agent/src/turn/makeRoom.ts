import { textOf, userMessage } from "../conversation/conversation.ts";
import type { AgentEvent } from "../messages.ts";
import {
  type CompactionOptions,
  clearOldResults,
  leastGain,
  summarised,
  summaryCut,
  summaryRequest,
  totalWeight,
} from "./compaction.ts";
import { busyError, type LoopState } from "./loopState.ts";
import { requestReply } from "./retry.ts";
import { TurnSignal } from "./turnSignal.ts";

/** What making room did. */
export type Compacted = Extract<AgentEvent, { type: "compaction" }>;

// For what the service has not counted yet.
const weightOfToken = 4;
// What is aimed at when the user asks for it.
const askedTarget = 0.25;

/**
 * Makes room when the service has reported a context near the model's limit: clears the oldest tool results first, then
 * has the model sum up the older part. Where too little would be won it does nothing, and looks again only when the
 * context has grown by a tenth of the window: so it cannot go in circles.
 */
export async function* makeRoom(
  state: LoopState,
  { contextWindow, startAt = 0.8, target = 0.5, keepResults = 5 }: CompactionOptions,
  turn: TurnSignal,
): AsyncGenerator<AgentEvent, void> {
  const { history } = state;
  if (history.contextTokens === undefined) return;
  const lastReply = history.messages.findLastIndex((message) => message.role === "assistant");
  const unseen = totalWeight(history.messages.slice(lastReply + 1)) / weightOfToken;
  const tokens = history.contextTokens + unseen;
  if (tokens < Math.max(startAt * contextWindow, history.fullUntil)) return;

  const goal = target * contextWindow * (totalWeight(history.messages) / tokens);
  if (!(yield* shrink(state, turn, goal, keepResults))) history.fullUntil = tokens + leastGain * contextWindow;
}

/** Makes room now, whatever the size; resolves to what was done. Throws `busy` while a turn runs, or what the provider threw. */
export async function compactNow(state: LoopState, signal?: AbortSignal): Promise<Compacted | undefined> {
  if (state.running) throw busyError();
  const turn = new TurnSignal(signal, state.limits);
  state.running = true;
  try {
    const { keepResults = 5 } = state.compaction ?? {};
    const goal = totalWeight(state.history.messages) * askedTarget;
    for await (const event of shrink(state, turn, goal, keepResults)) if (event.type === "compaction") return event;
    return undefined;
  } finally {
    turn.dispose();
    await state.history.recorder?.rest();
    state.running = false;
  }
}

/** Brings the conversation down to a weight, as far as that goes; returns whether it became lighter. */
async function* shrink(
  state: LoopState,
  turn: TurnSignal,
  goal: number,
  keepResults: number,
): AsyncGenerator<AgentEvent, boolean> {
  const { history } = state;
  const excess = totalWeight(history.messages) - goal;
  const clearing = clearOldResults(history.messages, excess, keepResults);
  const messages = clearing?.messages ?? history.messages;
  const cut = (clearing?.freed ?? 0) >= excess ? undefined : summaryCut(messages, goal / 2);
  const summary = cut === undefined ? "" : yield* summaryOf(messages.slice(0, cut), state, turn);
  const summed = cut !== undefined && summary !== "";
  if (!summed && !clearing) return false;
  await history.replace(summed ? summarised(messages, cut, summary) : messages);
  yield { type: "compaction", clearedResults: clearing?.cleared ?? 0, summarisedMessages: summed ? cut : 0 };
  return true;
}

/** The model's summary; empty where it gave none. Its text is not shown, its tokens count. */
async function* summaryOf(
  head: LoopState["history"]["messages"],
  { provider, tools, limits, history, systemPrompt }: LoopState,
  turn: TurnSignal,
): AsyncGenerator<AgentEvent, string> {
  // The same prompt and tools as ever: services cache the prefix, and some refuse past calls without their tools.
  const request = {
    systemPrompt,
    messages: [...head, userMessage(summaryRequest)],
    tools: tools.getEnabledSchemas(),
    toolChoice: "none",
  } as const;
  const events = requestReply(provider, request, turn, limits);
  for (;;) {
    const next = await events.next();
    if (!next.done) {
      if (next.value.type === "retry") yield { ...next.value, discardText: false };
      continue;
    }
    const { message, stop, usage } = next.value;
    if (usage) {
      history.count(usage);
      yield { type: "usage", usage, total: history.usage };
    }
    return stop === "stop" ? textOf(message) : "";
  }
}
