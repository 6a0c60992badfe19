import {
  type Approve,
  type ChatTool,
  type ExecutableTool,
  type ExecuteOptions,
  isToolError,
  type ToolLabels,
  type ToolOutcome,
} from "@toolcrib/core";
import { malformedCall, toolMessage } from "../conversation/conversation.ts";
import type { WaitingCall } from "../conversation/waiting.ts";
import type { AgentEvent, ToolCallBlock, ToolMessage } from "../messages.ts";
import { type Asked, approveAsAnswered, deniedResult, questionOf } from "./approvals.ts";
import { boundedResult } from "./boundedResult.ts";
import { type CallEnd, runCallSteps } from "./callSteps.ts";
import type { RecordedSteps } from "./recordedSteps.ts";
import { type Steps, until } from "./steps.ts";

/** The part of a registry that the loop needs. */
export interface ToolRunner {
  execute(name: string, args: unknown, options?: ExecuteOptions): Promise<string>;
  get(name: string): ExecutableTool | undefined;
  getEnabledSchemas(): readonly ChatTool[];
}

/** Where and how the calls of one reply run. */
export interface ToolRun {
  readonly tools: ToolRunner;
  /** Runs the steps of the calls; without it they run as they are. */
  readonly steps: RecordedSteps | undefined;
  readonly signal: AbortSignal;
  readonly labels: ToolLabels | undefined;
  /** Of one result's text. */
  readonly maxToolResultBytes: number;
  /** Answers the questions of guards, one at a time. Without it such a call ends with its question. */
  readonly approve: Approve | undefined;
  /** What was known of calls that have waited, by id. */
  readonly waited: ReadonlyMap<string, WaitingCall>;
  /** Ends the running calls when the caller leaves the stream. */
  abort(): void;
  /** Awaited right before these calls start; there may be none. */
  starting(calls: readonly ToolCallBlock[]): Promise<void> | undefined;
  /** Awaited as soon as a call has ended, in the order in which calls end. */
  finished(result: ToolMessage, data: unknown): Promise<void> | undefined;
  /** Adds a result to history. */
  addResult(result: ToolMessage, data: unknown): void;
}

/**
 * Removes the calls that run next from the front of `calls`: neighbouring read-only ones together, any other alone.
 */
export function takeSideBySide(calls: ToolCallBlock[], tools: ToolRunner): ToolCallBlock[] {
  const isReadOnly = (call: ToolCallBlock | undefined): boolean => {
    try {
      return call !== undefined && tools.get(call.name)?.readOnly === true;
    } catch {
      // Its getter throws, so the tool does not state that it is read-only.
      return false;
    }
  };
  let count = 1;
  if (isReadOnly(calls[0])) while (isReadOnly(calls[count])) count += 1;
  return calls.splice(0, count);
}

/**
 * Runs calls side by side and yields what happens, the results in the order of the calls. Returns the questions: a call that
 * was asked about has no result. The result of every other call is added, also when the caller leaves the stream.
 */
export function* runSideBySide(calls: readonly ToolCallBlock[], run: ToolRun): Steps<readonly Asked[]> {
  for (const { id, name, args } of calls) yield { type: "tool-call", id, name, args };
  const known = knownResults(calls, run);
  const starting = run.starting(known.size === 0 ? calls : calls.filter((call) => !known.has(call)));
  if (starting !== undefined) yield starting;
  const state: RunningCalls = { progress: [], ends: calls.map(nothing), failure: undefined, wake: nothing };
  const running = calls.map((call, index) => runOne(call, index, known.get(call), run, state));
  const questions: Asked[] = [];
  let next = 0;
  try {
    while (next < calls.length) {
      for (let report = state.progress.shift(); report; report = state.progress.shift()) yield report;
      if (state.failure) throw state.failure.error;
      const end = state.ends[next];
      if (end) {
        next += 1;
        if (end.asked) questions.push(end.asked);
        if (!end.result) continue;
        run.addResult(end.result, end.data);
        yield resultEvent(end.result, end.data);
      } else {
        yield new Promise<void>((resolve) => {
          state.wake = resolve;
        });
      }
    }
    return questions;
  } finally {
    if (next < calls.length) {
      run.abort();
      yield* until(Promise.all(running));
      for (const end of state.ends.slice(next)) if (end?.result) run.addResult(end.result, end.data);
    }
  }
}

/** What has come of calls that run side by side. */
interface RunningCalls {
  readonly progress: AgentEvent[];
  readonly ends: (CallEnd | undefined)[];
  failure: { readonly error: unknown } | undefined;
  /** Something has come. */
  wake(): void;
}

function resultEvent({ callId: id, name, output, isError, content }: ToolMessage, data: unknown): AgentEvent {
  const event: AgentEvent = { type: "tool-result", id, name, output, isError };
  if (content === undefined && data === undefined) return event;
  return { ...event, ...(content && { content }), ...(data !== undefined && { data }) };
}

const nothing = (): undefined => undefined;
const noneKnown: ReadonlyMap<ToolCallBlock, ToolMessage> = new Map();

/** The results of calls that need not run. */
function knownResults(calls: readonly ToolCallBlock[], run: ToolRun): ReadonlyMap<ToolCallBlock, ToolMessage> {
  if (run.waited.size === 0 && calls.every((call) => call.malformed === undefined)) return noneKnown;
  const known = new Map<ToolCallBlock, ToolMessage>();
  for (const call of calls) {
    const result = call.malformed === undefined ? deniedResult(call, run.waited.get(call.id)) : malformedCall(call);
    if (result) known.set(call, result);
  }
  return known;
}

/** Never rejects. Not async functions, which would take two more turns of the microtask queue for each call. */
function runOne(
  call: ToolCallBlock,
  index: number,
  known: ToolMessage | undefined,
  run: ToolRun,
  state: RunningCalls,
): Promise<void> {
  const fail = (error: unknown): void => {
    state.failure = { error };
    state.wake();
  };
  const conclude = (end: CallEnd): Promise<void> | undefined => {
    state.ends[index] = end;
    const finished = end.result && run.finished(end.result, end.data);
    if (finished !== undefined) return finished.then(() => state.wake());
    state.wake();
    return undefined;
  };
  try {
    if (known) return Promise.resolve({ result: known }).then(conclude).catch(fail);
    if (!run.steps) return execute(call, run, state, conclude).catch(fail);
    return executeInSteps(call, run, run.steps, state, fail)
      .then((end) => end && conclude(end))
      .catch(fail);
  } catch (error) {
    fail(error);
    return Promise.resolve();
  }
}

function executeInSteps(
  call: ToolCallBlock,
  run: ToolRun,
  steps: RecordedSteps,
  state: RunningCalls,
  onFailure: (error: unknown) => void,
): Promise<CallEnd | undefined> {
  const executeHere = (onEnd: (end: CallEnd) => void): Promise<void> =>
    execute(call, run, state, (end) => {
      onEnd(end);
      return undefined;
    });
  return runCallSteps(call, { tools: run.tools, signal: run.signal, steps, execute: executeHere, onFailure });
}

function execute(
  call: ToolCallBlock,
  run: ToolRun,
  state: RunningCalls,
  conclude: (end: CallEnd) => Promise<void> | undefined,
): Promise<void> {
  const waited = run.waited.get(call.id);
  let outcome: ToolOutcome | undefined;
  let asked: Asked | undefined;
  const approve = waited?.question
    ? approveAsAnswered(waited, run.approve, (anew) => {
        asked = anew;
      })
    : run.approve;
  const options: ExecuteOptions = {
    signal: run.signal,
    callId: call.id,
    labels: run.labels,
    onProgress: (progress) => {
      state.progress.push({ type: "tool-progress", id: call.id, name: call.name, progress });
      state.wake();
    },
    onOutcome: (ended) => {
      outcome = ended;
    },
  };
  if (approve) options.approve = approve;
  // Resolved anew, as an own registry of the caller may return another thenable.
  return Promise.resolve(run.tools.execute(call.name, call.args, options)).then((output) => {
    if (outcome?.ok === false && !approve && isToolError(outcome.error) && outcome.error.code === "approval_required") {
      asked = questionOf(call.id, outcome.error.details);
    }
    return conclude(asked ? { asked } : endOf(call, output, outcome, run.maxToolResultBytes));
  });
}

function endOf(call: ToolCallBlock, output: string, outcome: ToolOutcome | undefined, maxBytes: number): CallEnd {
  const { output: text, content } = boundedResult({ output, content: outcome?.content }, maxBytes);
  const result = toolMessage(call, { output: text, content, isError: outcome?.ok === false });
  return outcome?.ok && outcome.data !== undefined ? { result, data: outcome.data } : { result };
}
