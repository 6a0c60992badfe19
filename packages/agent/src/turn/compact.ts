import { answerOf, userMessage } from "../conversation/conversation.ts";
import type { History } from "../conversation/history.ts";
import { addUsage } from "../conversation/usage.ts";
import { isAgentError } from "../errors.ts";
import type { AgentEvent, Message, Usage } from "../messages.ts";
import type { ReplyEvent, ToolChoice } from "../provider.ts";
import { modelRules } from "../providers/models/models.ts";
import { pictureShare } from "../providers/models/pictures.ts";
import { RequestClock } from "../requestClock.ts";
import { type CompactionOptions, type LoopState, waitingError } from "./loopState.ts";
import { requestReply } from "./requestReply.ts";
import { requestTools } from "./requestTools.ts";
import { type Shortened, shorten } from "./shorten.ts";
import { leastGain, splitForSummary, summarised, summaryRequest, weightOf } from "./summary.ts";
import type { ToolRunner } from "./toolCalls.ts";
import { isOverfull, requestSize, windowOf } from "./window.ts";

/** The result of a compaction. */
export type Compacted = Extract<AgentEvent, { type: "compaction" }>;

interface Anew {
  readonly messages: readonly Message[];
  readonly done: Compacted;
}

/**
 * Shortens the conversation near the model's limit: by what the service has counted, else by an estimate. Where that would save too little it does
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
  const { messages } = history;
  const window = windowOf(state) ?? contextWindow;
  const tokens = requestSize(history);
  const limits = modelRules(state.provider)?.pictures;
  // A prompt and tools that fill most of the window do not become smaller.
  const isLong = tokens >= startAt * window && weightOf(messages) >= leastGain * window;
  const isFull = isLong || (limits && pictureShare(messages, limits) >= startAt);
  if (!isFull || tokens < history.retryCompactionAbove) return;
  const room = roomForSummary(history, window);
  const reason = isOverfull(history, window) ? "refused" : "nearly full";
  const anew = yield* beginAnew({ state, messages, clock, tools, room, reason });
  if (!anew) {
    history.retryCompactionAbove = tokens + leastGain * window;
    return;
  }
  await history.replace(anew.messages);
  yield anew.done;
}

/** Compacts now, whatever the size; resolves to what was done. Throws `busy` while calls wait, or what the provider threw. */
export async function compactNow(state: LoopState, signal?: AbortSignal): Promise<Compacted | undefined> {
  const { history, tools } = state;
  if (history.pending.length > 0) throw waitingError();
  const clock = new RequestClock(signal, state.limits);
  try {
    const room = roomForSummary(history, windowOf(state));
    const steps = beginAnew({ state, messages: history.messages, clock, tools, room, reason: "asked" });
    let next = await steps.next();
    while (!next.done) next = await steps.next();
    await clock.drained();
    if (!next.value) return undefined;
    await history.replace(next.value.messages);
    return next.value.done;
  } finally {
    clock.dispose();
    await history.recorder?.turnEnded();
  }
}

/** Returns the room for a request for a summary: what the user has sent since the last step is no part of it. */
function roomForSummary(history: History, window: number | undefined): number {
  const { messages } = history;
  const end = messages.findLastIndex((message) => message.role !== "user") + 1;
  const isTooLong = window !== undefined && requestSize(history) - weightOf(messages.slice(end)) >= window;
  return isTooLong ? roomIn(messages, window) : Number.POSITIVE_INFINITY;
}

/** Returns how much of a conversation may stay after a refusal: half of it, and no more than half of the window, if that is known. */
export function roomIn(messages: readonly Message[], window: number = Number.POSITIVE_INFINITY): number {
  return Math.min(weightOf(messages), window) / 2;
}

interface Shortening {
  readonly state: LoopState;
  readonly messages: readonly Message[];
  readonly clock: RequestClock;
  readonly tools: ToolRunner;
  /** Tokens of the messages that go on word for word, or into the request for a summary. */
  readonly room: number;
  /**
   * `refused`: they are too long for a request, so it is enough to cut results. `asked`: by the user, who wants a summary. In both cases what fits goes
   * on where there is none; with `nearly full` all of it does, since it still fits.
   */
  readonly reason: "refused" | "asked" | "nearly full";
}

/** Makes the next smaller conversation: what fits, and unless cutting results was enough its summary. Undefined if it saves too little. */
export async function* beginAnew(given: Shortening): AsyncGenerator<AgentEvent, Anew | undefined> {
  const { state, messages, reason } = given;
  const { changes, foundTools } = state.history.state;
  const isTold = changes.length + foundTools.size > 0;
  const most = (1 - leastGain) * weightOf(messages);
  let { room } = given;
  for (;;) {
    const rest = shorten(messages, room, isTold);
    const isShorter = rest.messages !== messages && weightOf(rest.messages) <= most;
    const shorter = isShorter && reason !== "nearly full" ? anewOf(rest) : undefined;
    if (reason === "refused" && isShorter && rest.leftOut === 0) return shorter;
    const split = splitForSummary(rest.messages);
    if (!split) return shorter;
    const { text, isTooLong } = yield* summaryOf(split.head, given, rest.messages !== state.history.messages);
    if (isTooLong && reason !== "nearly full") {
      room = roomIn(rest.messages);
      continue;
    }
    const summary = [summarised(split, text), ...split.later];
    if (text === "" || weightOf(summary) > most) return shorter;
    // In the place of those that were left out stands a message that says so.
    const summarisedMessages = split.head.length - (rest.leftOut > 0 ? 1 : 0);
    return anewOf({ messages: summary, cutMessages: 0, leftOut: rest.leftOut }, summarisedMessages);
  }
}

function anewOf({ messages, cutMessages, leftOut }: Shortened, summarisedMessages = 0): Anew {
  const parts = { ...(leftOut > 0 && { leftOutMessages: leftOut }), ...(cutMessages > 0 && { cutMessages }) };
  return { messages, done: { type: "compaction", summarisedMessages, ...parts } };
}

/** Asks for a summary, as a step that may be recorded, and counts what it used. */
async function* summaryOf(
  head: readonly Message[],
  { state, clock, tools, reason }: Shortening,
  isAnew: boolean,
): AsyncGenerator<AgentEvent, Summary> {
  const { history, steps } = state;
  const ask = (): AsyncGenerator<AgentEvent, Summary> => requestSummary(head, state, { clock, tools, isAnew });
  let summary: Summary;
  try {
    ({ value: summary } = yield* steps.next("compact", ask, clock));
  } catch (error) {
    // The turn goes on without a summary.
    if (reason !== "asked" && isAgentError(error) && error.code === "invalid_request") return { text: "" };
    throw error;
  }
  const { usage } = summary;
  if (usage) yield { type: "usage", usage, total: await history.addUsage(usage) };
  return summary;
}

interface Summary {
  readonly text: string;
  readonly usage?: Usage;
  /** The request was refused for its length. */
  readonly isTooLong?: true;
}

/** Asks the model for its summary; empty where it gave none. The text is not shown. `isAnew`: the messages do not begin as the conversation does. */
async function* requestSummary(
  head: readonly Message[],
  { provider, limits, history, systemPrompt }: LoopState,
  { clock, tools, isAnew }: Pick<Shortening, "clock" | "tools"> & { readonly isAnew: boolean },
): AsyncGenerator<AgentEvent, Summary> {
  const { opening, foundTools } = history.state;
  const present = { systemPrompt, ...requestTools(tools, foundTools) };
  const messages = [...head, userMessage(summaryRequest)];
  // As in the request before: services cache the prefix, and some refuse earlier calls without their tools.
  const content = {
    ...present,
    ...(opening && !isAnew && { opening, changes: history.changesFor(messages, present) }),
    messages,
  };
  const ask = (toolChoice?: ToolChoice): AsyncGenerator<AgentEvent, ReplyEvent> => {
    const asked = { ...content, ...(toolChoice && { toolChoice }) };
    return requestReply({ provider, content: asked, clock, limits, callIds: history.callIds, hidden: true });
  };
  let { message, stop, usage } = yield* ask();
  if (stop === "tool-calls") {
    // Only now, since another choice of tools costs the cache of the whole conversation.
    const before = usage;
    ({ message, stop, usage } = yield* ask("none"));
    if (before) usage = usage ? addUsage(before, usage) : before;
  }
  const isTooLong = stop === "context-limit" && { isTooLong: true as const };
  return { text: stop === "stop" ? answerOf(message) : "", ...(usage && { usage }), ...isTooLong };
}
