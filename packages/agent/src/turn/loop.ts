import { answerOf, callsOf, type NotRunReason, openCalls, userMessage } from "../conversation/conversation.ts";
import type { History } from "../conversation/history.ts";
import { lastCalls } from "../conversation/waiting.ts";
import { isAgentError } from "../errors.ts";
import type { AgentEvent, AssistantMessage, EndReason, StopReason, ToolCallBlock, ToolMessage } from "../messages.ts";
import type { ChatOptions, UserContent } from "../options.ts";
import type { Provider, ToolChoice } from "../provider.ts";
import { picturesOf } from "../providers/models/pictures.ts";
import { RequestClock } from "../requestClock.ts";
import { unreadCall } from "../textCalls/unreadCall.ts";
import { compact } from "./compact.ts";
import { takeFittingReply } from "./fittingReply.ts";
import type { LoopState } from "./loopState.ts";
import { PictureLimiter, withFittedPictures, withoutPictures } from "./pictures.ts";
import { askerOf, oneAtATime, resultsWithoutAnswer } from "./questions.ts";
import { RepeatGuard } from "./repeats.ts";
import { requestTools } from "./requestTools.ts";
import { summaryAlone } from "./summary.ts";
import { deliverSteering } from "./takeReply.ts";
import { runCalls, type ToolRun, takeAnswers } from "./toolCalls.ts";
import type { TurnStart } from "./turnStart.ts";

export { compactNow } from "./compact.ts";

/**
 * Runs one turn: asks the model and runs its calls until it answers, a guard's question stays open, or a limit is reached. Yields what
 * happens, `end` last; throws an AgentError on failure and abort. However it ends, every call in history has one result.
 */
export async function* runTurn(
  state: LoopState,
  given: TurnStart,
  options: ChatOptions,
): AsyncGenerator<AgentEvent, void> {
  const { history, limits, steps } = state;
  const start = await withPictures(given, state, options);
  const clock = new RequestClock(options.signal, limits);
  let text = "";
  try {
    const run = toolRun(state, clock, options);
    const ask = askerOf(options, run);
    let { step, reply, calls } = yield* begin(state, start, run, options);
    if (reply) text = answerOf(reply);
    let isPaused = false;
    let end: Extract<AgentEvent, { type: "end" }> | undefined;
    while (!end) {
      if (reply && calls.length > 0) {
        const pending = yield* runCalls({ step, calls, text }, run, ask);
        if (pending.length > 0) end = { type: "end", reason: "approval", text, pending };
        else if (run.repeats?.isStuck) end = { type: "end", reason: "stuck", text };
        else if (options.stopWhen?.({ step, reply, messages: history.messages, usage: history.state.usage }))
          end = { type: "end", reason: "stop", text };
        if (end) break;
      }
      step += 1;
      clock.throwIfAborted(text);
      // Before the compaction, which weighs it. Where steps are recorded it belongs to that of the reply.
      if (!steps.areRecorded) yield* deliverSteering(history, state.steering);
      if (state.compaction) yield* compact(state, state.compaction, clock, options.tools);
      yield { type: "step-start", step };
      const taken = yield* takeFittingReply(state, step, clock, options);
      const { message, stop, usage, detail, failed } = taken.reply;
      await history.addReply(message, usage);
      [reply, calls] = [message, callsOf(message)];
      if (calls.length === 0 && (stop === "stop" || stop === "token-limit"))
        yield* unreadCallOf(message, state, options);
      text = isPaused ? text + answerOf(message) : answerOf(message);
      isPaused = stop === "pause";
      if (usage) yield { type: "usage", usage, total: history.state.usage };
      const isSteered = (steps.areRecorded ? taken.waiting : state.steering).length > 0;
      const reason = endOf(stop, calls.length > 0, step >= limits.maxSteps, isSteered);
      if (!reason) continue;
      // Cut off, or the last step: what it began must not run.
      yield* refuseCalls(history, reason === "step-limit" ? "step limit" : "cut off");
      const said = reason === stop && reason !== "stop" ? detail : undefined;
      end = { type: "end", reason, text, ...(said && { detail: said }), ...(failed && { failed }) };
    }
    // The signal that ends the turn would break the connection of the last request.
    await clock.drained();
    yield end;
  } catch (error) {
    // The service would refuse the message again in every later request.
    const isRefused = isAgentError(error) && (error.code === "invalid_request" || error.code === "not_understood");
    // While calls wait it is an error of whoever was asked, not of the service.
    if (isRefused && history.pending.length === 0) await withdrawRefused(history);
    throw error;
  } finally {
    clock.abort();
    clock.dispose();
    await history.closeOpenCalls("aborted");
    await history.recorder?.turnEnded();
  }
}

/** Resolves to the start of a turn, with the pictures of the user as they can be sent. */
async function withPictures(start: TurnStart, state: LoopState, { signal }: ChatOptions): Promise<TurnStart> {
  if (!("message" in start)) return start;
  return { message: await withFittedPictures(start.message, new PictureLimiter(state), signal) };
}

/** The position of a turn: the number of replies it has had, and the last one with the calls that have not run yet. */
interface TurnPosition {
  readonly step: number;
  readonly reply?: AssistantMessage;
  readonly calls: readonly ToolCallBlock[];
}

/** Adds the message, which denies what waits for an answer; or records the answers. */
async function* begin(
  { history, provider }: LoopState,
  start: TurnStart,
  run: ToolRun,
  { toolChoice }: ChatOptions,
): AsyncGenerator<AgentEvent, TurnPosition> {
  if ("message" in start) {
    const waiting = lastCalls(history.messages).filter((call) => history.state.waiting.has(call.id));
    const results = await history.close(resultsWithoutAnswer(waiting, history.state.waiting));
    await history.record({ type: "message", message: userMessage(askingForCall(start.message, toolChoice, provider)) });
    yield* notRunEvents(waiting, results);
    return { step: 0, calls: [] };
  }
  const calls = await takeAnswers(start.answers, run);
  const [{ step } = { step: 0 }] = history.state.waiting.values();
  const reply = history.messages.findLast((message) => message.role === "assistant");
  return { step, calls, ...(reply && { reply }) };
}

/** Returns the message, which asks for the call itself where the model cannot be made to call a tool. */
function askingForCall(message: UserContent, choice: ToolChoice = "auto", { abilities }: Provider): UserContent {
  if (choice === "auto" || choice === "none" || abilities?.forcedTools !== false) return message;
  const request =
    choice === "required" ? "Answer this by calling a tool." : `Answer this by calling the tool ${choice.name}.`;
  const content = typeof message === "string" ? [{ type: "text", text: message } as const] : message;
  return [...content, { type: "text", text: request }];
}

function* unreadCallOf(
  message: AssistantMessage,
  { tools, history }: LoopState,
  options: ChatOptions,
): Generator<AgentEvent, void> {
  const unread = unreadCall(message, requestTools(options.tools ?? tools, history.state.foundTools).tools);
  if (unread) yield unread;
}

/** Returns why the turn ends after this reply; undefined when it goes on. */
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

async function* refuseCalls(history: History, reason: NotRunReason): AsyncGenerator<AgentEvent, void> {
  const calls = openCalls(history.messages);
  yield* notRunEvents(calls, await history.closeOpenCalls(reason));
}

function* notRunEvents(calls: readonly ToolCallBlock[], results: readonly ToolMessage[]): Generator<AgentEvent, void> {
  for (const [index, { id, name, args }] of calls.entries()) {
    yield { type: "tool-call", id, name, args };
    yield { type: "tool-result", id, name, output: results[index]?.output ?? "", isError: true };
  }
}

function toolRun(state: LoopState, clock: RequestClock, options: ChatOptions): ToolRun {
  const { history, limits, steps } = state;
  const { tools = state.tools, labels } = options;
  return {
    ...{ history, clock, steps, tools, labels },
    maxToolResultBytes: limits.maxToolResultBytes,
    pictures: new PictureLimiter(state),
    repeats: state.stopRepeats && new RepeatGuard(state.stopRepeats, tools, history),
    approve: options.approve && oneAtATime(options.approve),
    seeInner: (usage, callId) => options.stopWhen?.seeInner?.(usage, callId) === true,
    waited: new Map(),
    told: new Set(),
  };
}

/**
 * Takes the user's last message back, and the pictures of results behind the last reply: the service may have refused the request for one
 * of them. A summary that the message begins with stays: nothing else is left of what was before.
 */
async function withdrawRefused(history: History): Promise<void> {
  const [last, before] = [history.messages.at(-1), history.messages.slice(0, -1)];
  const summary = last && summaryAlone(last);
  if (summary) await history.replace([...before, summary]);
  else await history.withdrawUnanswered();
  const lastReply = history.messages.findLastIndex((message) => message.role === "assistant");
  for (const message of history.messages.slice(lastReply + 1))
    if (message.role === "tool" && picturesOf(message).length > 0) await history.addResult(withoutPictures(message));
}
