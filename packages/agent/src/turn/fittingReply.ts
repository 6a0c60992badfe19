import { textOf } from "../conversation/conversation.ts";
import { isAgentError } from "../errors.ts";
import type { AgentEvent } from "../messages.ts";
import type { ChatOptions } from "../options.ts";
import { modelRules } from "../providers/models/models.ts";
import type { RequestClock } from "../requestClock.ts";
import { beginAnew, type Compacted, roomIn } from "./compact.ts";
import type { LoopState } from "./loopState.ts";
import { type TakenReply, takeReply } from "./takeReply.ts";
import { learnWindow, requestSize, windowOf } from "./window.ts";

/** A request of this share of the window may be refused for its length, whatever the service says. */
const nearlyFull = 0.9;

type Outcome<T> = { readonly taken: T } | { readonly error: unknown };

/**
 * Takes the next reply of a turn. A request that is refused for its length is sent again, each time with a smaller conversation, as long as there
 * is one. The conversation begins anew with the one that the service takes; if it takes none, it stays as it was, and the first refusal
 * counts. A request near the window that is refused for no reason we know is tried once more.
 */
export async function* takeFittingReply(
  state: LoopState,
  step: number,
  clock: RequestClock,
  options: ChatOptions,
): AsyncGenerator<AgentEvent, TakenReply> {
  const { history, tools } = state;
  const first = yield* outcomeOf(takeReply(state, step, clock, options));
  const outcomes: Outcome<TakenReply>[] = [first];
  let outcome = first;
  const drafts: Draft[] = [];
  let done: Compacted | undefined;
  let isTaken = false;
  try {
    while (isTooLong(outcome, state) && (outcome === first || "taken" in first)) {
      const { messages } = drafts.at(-1)?.history ?? history;
      if ("taken" in outcome) learnWindow(state, outcome.taken.reply.detail ?? "");
      const room = roomIn(messages, state.window?.isStated ? state.window.tokens : undefined);
      const given = { state, messages, clock, tools: options.tools ?? tools, room, reason: "refused" } as const;
      const shorter = yield* outcomeOf(beginAnew(given));
      if ("error" in shorter) outcome = shorter;
      const anew = "taken" in shorter ? shorter.taken : undefined;
      if (!anew) break;
      const discardText = "taken" in outcome && outcome.taken.reply.message.content.some(({ type }) => type === "text");
      if (discardText) yield { type: "retry", attempt: outcomes.length + 1, delayMs: 0, message: cutOff, discardText };
      done = done ? addDone(done, anew.done) : anew.done;
      const draft = history.draft(anew.messages);
      drafts.push(draft);
      outcome = yield* outcomeOf(takeReply({ ...state, history: draft.history }, step, clock, options));
      outcomes.push(outcome);
    }
    const result = isRefused(outcome) ? first : outcome;
    const draft = drafts.at(-1);
    isTaken = draft !== undefined && hasAnswered(outcome, draft);
    if (isTaken) await draft?.take();
    for (const one of outcomes) {
      if (one === result || "error" in one || !one.taken.reply.usage) continue;
      const { usage } = one.taken.reply;
      yield { type: "usage", usage, total: await history.addUsage(usage) };
    }
    if (isTaken && done) yield done;
    if ("error" in result) throw result.error;
    return result.taken;
  } finally {
    // Nothing of the drafts is in the conversation, so what was steered into them waits again.
    const steered = isTaken ? [] : drafts.flatMap((one) => one.added());
    state.steering.unshift(...steered.flatMap((message) => (message.role === "user" ? [textOf(message)] : [])));
  }
}

const cutOff = "The reply did not fit into the model's context window.";

type Draft = ReturnType<LoopState["history"]["draft"]>;

async function* outcomeOf<T>(work: AsyncGenerator<AgentEvent, T>): AsyncGenerator<AgentEvent, Outcome<T>> {
  try {
    return { taken: yield* work };
  } catch (error) {
    return { error };
  }
}

/** Returns whether the service took the request: it has answered, or was stopped while it did. */
function hasAnswered(outcome: Outcome<TakenReply>, draft: Draft): boolean {
  return "taken" in outcome ? !isRefused(outcome) : draft.added().some(({ role }) => role === "assistant");
}

function isTooLong(outcome: Outcome<TakenReply>, state: LoopState): boolean {
  if ("taken" in outcome) return isRefused(outcome);
  const { error } = outcome;
  if (!isAgentError(error) || error.code !== "invalid_request" || error.status !== 400) return false;
  const window = windowOf(state) ?? modelRules(state.provider)?.context;
  return window !== undefined && requestSize(state.history) > nearlyFull * window;
}

function isRefused(outcome: Outcome<TakenReply>): boolean {
  if ("taken" in outcome) return outcome.taken.reply.stop === "context-limit";
  return isAgentError(outcome.error) && outcome.error.code === "invalid_request";
}

/** Sums up two shortenings, one after the other; messages that the later one left out may be in the summary of the first. */
function addDone(a: Compacted, b: Compacted): Compacted {
  const leftOut = (a.leftOutMessages ?? 0) + (b.leftOutMessages ?? 0);
  const cutMessages = Math.max(a.cutMessages ?? 0, b.cutMessages ?? 0);
  return {
    type: "compaction",
    summarisedMessages: Math.max(a.summarisedMessages, b.summarisedMessages),
    ...(leftOut > 0 && { leftOutMessages: leftOut }),
    ...(cutMessages > 0 && { cutMessages }),
  };
}
