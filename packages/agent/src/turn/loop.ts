import { callsOf, type NotRunReason, openCalls, textOf, userMessage } from "../conversation/conversation.ts";
import type { Answers, History } from "../conversation/history.ts";
import { lastCalls } from "../conversation/waiting.ts";
import { AgentError, isAgentError } from "../errors.ts";
import type { AgentEvent, AssistantMessage, EndReason, StopReason, ToolCallBlock, ToolMessage } from "../messages.ts";
import { type ChatOptions, checkApproveOptions, checkChatOptions, type UserContent } from "../options.ts";
import { RequestClock } from "../requestClock.ts";
import { isUserBlock } from "../session/session.ts";
import { checkAnswers, isUnanswered, oneAtATime, resultsWithoutAnswer } from "./approvals.ts";
import { compact } from "./compact.ts";
import { busyError, type LoopState } from "./loopState.ts";
import { requestReply } from "./requestReply.ts";
import { type Steps, until } from "./steps.ts";
import { deliverSteering, replyRequest, takeRecordedReply } from "./takeReply.ts";
import { runSideBySide, type ToolRun, takeSideBySide } from "./toolCalls.ts";

/** What a turn begins with: a message of the user, or the answers with which the turn that asked goes on. */
type TurnStart = { readonly message: UserContent } | { readonly answers: Answers };

/**
 * Runs one turn: asks the model and runs its calls until it answers, a guard asks the user, or a limit is reached. Yields what
 * happens, `end` last; throws an AgentError on failure and abort. However it ends, every call in history has one result.
 */
export function* runTurn(state: LoopState, start: TurnStart, options: ChatOptions = {}): Steps {
  const { history, limits, steps } = state;
  if (state.running) throw busyError();
  if ("message" in start) {
    refuseMessage(start.message);
    checkChatOptions(options);
  } else {
    checkAnswers(history, start.answers);
    checkApproveOptions(options);
  }
  const clock = new RequestClock(options.signal, limits);
  let text = "";
  let paused = false;
  state.running = true;
  try {
    let { step, reply, calls } = yield* begin(history, start);
    if (reply) text = textOf(reply);
    const run = toolRun(state, clock, options);
    for (;;) {
      if (reply && calls.length > 0) {
        for (const later = [...calls]; later.length > 0; ) {
          clock.throwIfAborted(text);
          const questions = yield* runSideBySide(takeReady(later, run), run);
          clock.throwIfAborted(text);
          if (questions.length > 0) yield* until(history.hold(step, questions, later));
          if (history.waiting.size === 0) continue;
          const { pending } = history;
          if (pending.length === 0) continue;
          return yield* endTurn(clock, { reason: "approval", text, pending });
        }
        if (options.stopWhen?.({ step, reply, messages: history.messages, usage: history.usage })) {
          return yield* endTurn(clock, { reason: "stop", text });
        }
      }
      step += 1;
      clock.throwIfAborted(text);
      // Before the compaction, which weighs it. Where steps are recorded it belongs to that of the reply.
      if (!steps && state.steering.length > 0) yield* deliverSteering(history, state.steering);
      if (state.compaction) yield* compact(state, state.compaction, clock);
      yield { type: "step-start", step };
      const request = replyRequest(state, step, clock, options);
      const taken = steps && (yield* takeRecordedReply(state, steps, request));
      const { message, stop, usage, detail, failed } = taken?.reply ?? (yield* requestReply(request));
      const added = history.addReply(message, usage);
      if (added !== undefined) yield* until(added);
      [reply, calls] = [message, callsOf(message)];
      text = paused ? text + textOf(message) : textOf(message);
      paused = stop === "pause";
      if (usage) yield { type: "usage", usage, total: history.usage };
      const isSteered = (taken?.waiting ?? state.steering).length > 0;
      const reason = endOf(stop, calls.length > 0, step >= limits.maxSteps, isSteered);
      if (reason) {
        yield* refuseCalls(history, reason === "step-limit" ? "step limit" : "cut off");
        const said = reason === stop && reason !== "stop" && detail;
        return yield* endTurn(clock, { reason, text, ...(said && { detail: said }), ...(failed && { failed }) });
      }
    }
  } catch (error) {
    if (isRefused(error)) yield* until(history.withdrawUnanswered());
    throw error;
  } finally {
    clock.abort();
    clock.dispose();
    try {
      yield* until(history.closeOpenCalls("aborted"));
      if (history.recorder) yield* until(history.recorder.turnEnded());
    } finally {
      state.running = false;
    }
  }
}

/** The last event, once nothing is left of the last request: what ends the turn would break its connection. */
function* endTurn(clock: RequestClock, end: Omit<Extract<AgentEvent, { type: "end" }>, "type">): Steps {
  const draining = clock.drained();
  if (draining !== undefined) yield* until(draining);
  yield { type: "end", ...end };
}

/** Where a turn stands: how many replies it has had, and the last one with the calls that have not run yet. */
interface TurnPosition {
  readonly step: number;
  readonly reply?: AssistantMessage;
  readonly calls: readonly ToolCallBlock[];
}

/** Adds the message, which denies what waits for an answer; or records the answers. */
function* begin(history: History, start: TurnStart): Steps<TurnPosition> {
  const waiting = lastCalls(history.messages).filter((call) => history.waiting.has(call.id));
  if ("message" in start) {
    const results = yield* until(history.close(resultsWithoutAnswer(waiting, history.waiting)));
    const added = history.add(userMessage(start.message));
    if (added !== undefined) yield* until(added);
    yield* notRunEvents(waiting, results);
    return { step: 0, calls: [] };
  }
  yield* until(history.answer(start.answers));
  const [{ step } = { step: 0 }] = history.waiting.values();
  const reply = history.messages.findLast((message) => message.role === "assistant");
  return { step, calls: waiting, ...(reply && { reply }) };
}

/** Takes the calls that run next from the front of `later`; those whose question has no answer go on waiting. */
function takeReady(later: ToolCallBlock[], run: ToolRun): readonly ToolCallBlock[] {
  const group = takeSideBySide(later, run.tools);
  if (run.approve || run.waited.size === 0) return group;
  return group.filter((call) => !isUnanswered(run.waited.get(call.id)));
}

/** Services refuse a message without content, and every later request that holds it. */
function refuseMessage(content: UserContent): void {
  const refuse = (message: string): AgentError => new AgentError({ code: "invalid_request", message });
  if (typeof content !== "string" && !(Array.isArray(content) && content.every(isUserBlock)))
    throw refuse("A message is text, or a list of text and image blocks.");
  const blocks = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
  if (blocks.every((block) => block.type === "text" && block.text.trim() === ""))
    throw refuse("The message is empty; say what to do.");
}

/** Why the turn ends after this reply; undefined when it goes on. */
function endOf(stop: StopReason, hasCalls: boolean, lastStep: boolean, steered: boolean): EndReason | undefined {
  switch (stop) {
    case "stop":
    case "tool-calls":
      if (!hasCalls && (lastStep || !steered)) return "stop";
      return lastStep ? "step-limit" : undefined;
    case "pause":
      return lastStep ? "step-limit" : undefined;
    default:
      return stop;
  }
}

function* refuseCalls(history: History, reason: NotRunReason): Steps {
  const calls = openCalls(history.messages);
  yield* notRunEvents(calls, yield* until(history.closeOpenCalls(reason)));
}

function* notRunEvents(calls: readonly ToolCallBlock[], results: readonly ToolMessage[]): Generator<AgentEvent, void> {
  for (const [index, { id, name, args }] of calls.entries()) {
    yield { type: "tool-call", id, name, args };
    yield { type: "tool-result", id, name, output: results[index]?.output ?? "", isError: true };
  }
}

function toolRun({ history, limits, tools, steps }: LoopState, clock: RequestClock, options: ChatOptions): ToolRun {
  return {
    steps,
    tools: options.tools ?? tools,
    labels: options.labels,
    maxToolResultBytes: limits.maxToolResultBytes,
    approve: options.approve && oneAtATime(options.approve),
    waited: new Map(history.waiting),
    get signal() {
      return clock.signal;
    },
    abort: () => clock.abort(),
    starting: (calls) => history.start(calls),
    finished: (result, data) => history.recorder?.message(result, { data }),
    addResult: (result, data) => history.addResult(result, data),
  };
}

/** Whether the service would refuse the message again in every later request. */
function isRefused(error: unknown): boolean {
  return isAgentError(error) && (error.code === "invalid_request" || error.code === "not_understood");
}
