import {
  type AnyToolRegistry,
  type Approve,
  type ExecuteOptions,
  isToolError,
  renderOutcome,
  type ToolLabels,
  type ToolOutcome,
} from "@toolcrib/core";
import { attempt, noteChangedArguments } from "@toolcrib/core/internal";
import { limitBytes } from "@toolcrib/core/text";
import { malformedCall, toolMessage } from "../conversation/conversation.ts";
import type { Answers } from "../conversation/state.ts";
import { addUsage } from "../conversation/usage.ts";
import { givenArguments, lastCalls } from "../conversation/waiting.ts";
import type { AgentEvent, PendingCall, ToolCallBlock, ToolMessage, Usage } from "../messages.ts";
import { boundedResult } from "./boundedResult.ts";
import { checkAnswers } from "./checkAnswers.ts";
import { EventQueue } from "./eventQueue.ts";
import { fitPicture, type PictureLimiter } from "./pictures.ts";
import {
  type Ask,
  type Asked,
  answeredResult,
  approveAsAnswered,
  askedWithin,
  checkFit,
  isUnanswered,
  questionOf,
} from "./questions.ts";
import type { RepeatGuard } from "./repeats.ts";
import { type CallEnd, runCallSteps } from "./steps.ts";
import { isComposite, recordOf, type WithinRun } from "./withinCalls.ts";

export type ToolRunner = Pick<AnyToolRegistry, "execute" | "check" | "get" | "getEnabledSchemas">;

export interface ToolRun extends WithinRun {
  readonly tools: ToolRunner;
  readonly labels: ToolLabels | undefined;
  /** Of one result's text. */
  readonly maxToolResultBytes: number;
  readonly pictures: PictureLimiter;
  readonly repeats: RepeatGuard | undefined;
  /** Answers the questions of calls within a call, one at a time. */
  readonly approve: Approve | undefined;
  /** Calls whose start was told: one that was asked about runs again. */
  readonly told: Set<string>;
}

/** Runs the calls of a reply in order; one that is asked about is held until it is answered. Returns the questions that stay open. */
export async function* runCalls(
  { step, calls, text }: { readonly step: number; readonly calls: readonly ToolCallBlock[]; readonly text: string },
  run: ToolRun,
  ask: Ask | undefined,
): AsyncGenerator<AgentEvent, readonly PendingCall[]> {
  const { history, clock, steps } = run;
  const later = [...calls];
  for (;;) {
    while (later.length > 0) {
      clock.throwIfAborted(text);
      // Those whose question has no answer go on waiting.
      const ready = takeSideBySide(later, run).filter((call) => !isUnanswered(run.waited.get(call.id)));
      const questions = yield* runSideBySide(ready, run);
      clock.throwIfAborted(text);
      if (questions.length > 0) await history.hold(step, questions, later);
      if (history.pending.length > 0) break;
    }
    const { pending } = history;
    if (pending.length === 0 || !ask) return pending;
    // A step of its own: another process goes on with the same answers.
    const answers = await steps.run(`answers:${steps.count("answers")}`, async () => {
      const given = (await ask(pending)) ?? {};
      clock.throwIfAborted(text);
      return given;
    });
    if (Object.keys(answers).length === 0) return pending;
    later.splice(0, later.length, ...(await takeAnswers(checkAnswers(pending, answers), run)));
  }
}

/** Records answers. Returns the calls that wait, which run next. */
export async function takeAnswers(answers: Answers, run: ToolRun): Promise<readonly ToolCallBlock[]> {
  const { history } = run;
  await checkFit(history.pending, answers, run);
  await history.answer(answers);
  run.waited = new Map(history.state.waiting);
  return lastCalls(history.messages).filter((call) => run.waited.has(call.id));
}

/** Removes the calls that run next: neighbouring read-only ones together, any other alone, as is a composite one whose calls are steps. */
function takeSideBySide(calls: ToolCallBlock[], { tools, steps }: Pick<ToolRun, "tools" | "steps">): ToolCallBlock[] {
  // If its getter throws, the tool does not state that it is read-only. Steps of calls within one would come among those of others.
  const isReadOnly = (call: ToolCallBlock | undefined): boolean =>
    call !== undefined &&
    attempt(() => tools.get(call.name)?.readOnly) === true &&
    !(steps.areRecorded && isComposite(tools, call.name));
  let count = 1;
  if (isReadOnly(calls[0])) while (isReadOnly(calls[count])) count += 1;
  return calls.splice(0, count);
}

/**
 * Runs calls side by side and yields what happens, the results in the order of the calls. Returns the questions: a call that
 * was asked about has no result. The result of every other call is added as soon as it ends, also when the caller leaves the stream.
 */
async function* runSideBySide(
  calls: readonly ToolCallBlock[],
  run: ToolRun,
): AsyncGenerator<AgentEvent, readonly Asked[]> {
  for (const { id, name, args } of calls) {
    if (!run.told.has(id)) yield { type: "tool-call", id, name, args };
    run.told.add(id);
  }
  const known = knownResults(calls, run);
  const starting = calls.filter((call) => !known.has(call));
  await run.history.start(starting, ({ name }) => isComposite(run.tools, name));
  const events = new EventQueue();
  const running = calls.map((call) => runOne(call, known.get(call), run, events));
  const questions: Asked[] = [];
  let hasEnded = false;
  try {
    for (const work of running) {
      const end = yield* events.until(work);
      if (end?.asked) questions.push(end.asked);
      if (!end?.result) continue;
      const { role: _, callId: id, ...result } = end.result;
      yield { type: "tool-result", id, ...result, ...(end.data !== undefined && { data: end.data }) };
    }
    hasEnded = true;
    return questions;
  } finally {
    if (!hasEnded) {
      run.clock.abort();
      await Promise.all(running);
    }
  }
}

/** Returns the results of calls that need not run. */
function knownResults(calls: readonly ToolCallBlock[], run: ToolRun): ReadonlyMap<ToolCallBlock, ToolMessage> {
  const known = new Map<ToolCallBlock, ToolMessage>();
  for (const call of calls) {
    const answered = call.malformed === undefined ? answeredResult(call, run.waited.get(call.id)) : malformedCall(call);
    const bounded = answered && { ...answered, output: limitBytes(answered.output, run.maxToolResultBytes) };
    const result = run.repeats?.refuse(call) ?? bounded;
    if (result) known.set(call, result);
  }
  return known;
}

/** Runs a call and adds its result. Never rejects: what fails makes the reader of the events throw. */
async function runOne(
  call: ToolCallBlock,
  known: ToolMessage | undefined,
  run: ToolRun,
  events: EventQueue,
): Promise<CallEnd | undefined> {
  try {
    const end = known ? { result: known } : await runSteps(call, run, events);
    if (end?.usage) {
      const total = await run.history.addUsage(end.usage);
      events.push({ type: "usage", usage: end.usage, total, callId: call.id });
    }
    if (!end?.result) return end;
    const result = run.repeats?.noted(end.result) ?? end.result;
    await run.history.addResult(result, end.data);
    return { ...end, result };
  } catch (error) {
    events.fail(error);
    return undefined;
  }
}

async function runSteps(call: ToolCallBlock, run: ToolRun, events: EventQueue): Promise<CallEnd | undefined> {
  const onFailure = (error: unknown): void => events.fail(error);
  if (!isComposite(run.tools, call.name))
    return await runCallSteps("call", call, run, () => execute(call, run, events), onFailure);
  // The calls within it were steps, so it is none, and only its end is.
  const end = await execute(call, run, events);
  return await runCallSteps("end", call, run, async () => end, onFailure);
}

async function execute(call: ToolCallBlock, run: ToolRun, events: EventQueue): Promise<CallEnd> {
  const waited = run.waited.get(call.id);
  const given = givenArguments(waited);
  const options = { signal: run.clock.signal, callId: call.id, labels: run.labels };
  let outcome: ToolOutcome | undefined;
  let asked: Asked | undefined;
  let isAskedAgain = false;
  let usage: Usage | undefined;
  const approve = waited?.question
    ? approveAsAnswered({
        waited,
        sent: call.args,
        given: given && (await checkedArguments(call.name, given, run.tools, options)),
        askAnew: (anew) => {
          asked = anew;
        },
      })
    : undefined;
  const use = (more: Usage): void => {
    usage = usage ? addUsage(usage, more) : more;
  };
  const log = recordOf(call, run, events, use);
  const running = run.tools.execute(call.name, given ?? call.args, {
    ...options,
    caller: {
      // A call that keeps a record waits with its questions, whoever answers them: asked in place, recorded answers would not count.
      ...(log ? { log } : { approve: run.approve }),
      onUsage: (more) => {
        use(more as Usage);
        return run.seeInner?.(more as Usage, call.id);
      },
    },
    onProgress: (progress) => events.push({ type: "tool-progress", id: call.id, name: call.name, progress }),
    onOutcome: (ended) => {
      outcome = given ? noteChangedArguments(ended, given) : ended;
    },
    ...(approve && {
      approve: (asking, question) => {
        isAskedAgain = true;
        return approve(asking, question);
      },
    }),
  });
  const output = await running.finally(() => log?.close());
  // Where no guard asked although one had, and no call within, the error is that of a middleware.
  if (outcome?.ok === false && isToolError(outcome.error) && outcome.error.code === "approval_required") {
    const { details } = outcome.error;
    if (details.within && log) asked = askedWithin(call, details, waited, run.tools.get(call.name));
    else if (!approve || isAskedAgain) asked ??= questionOf(call.id, details, call.args);
  }
  const used = usage && { usage };
  if (asked) return { asked: given ? { ...asked, instead: given } : asked, ...used };
  const end = await endOf(call, given && outcome ? renderOutcome(call.name, outcome) : output, outcome, run);
  return { ...end, ...used };
}

async function checkedArguments(
  name: string,
  given: Readonly<Record<string, unknown>>,
  tools: ToolRunner,
  options: ExecuteOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const checked = await tools.check(name, given, options);
  const isAsked = !checked.ok && isToolError(checked.error) && checked.error.code === "approval_required";
  return (isAsked && checked.error.details.args) || given;
}

async function endOf(
  call: ToolCallBlock,
  output: string,
  outcome: ToolOutcome | undefined,
  run: ToolRun,
): Promise<CallEnd> {
  const given = { output, content: outcome?.content };
  const { output: text, content } = await boundedResult(given, run.maxToolResultBytes, {
    fit: (one) => fitPicture(one, run.clock.signal),
    refuse: (one) => run.pictures.refuse(one),
  });
  const result = toolMessage(call, { output: text, content, isError: outcome?.ok === false });
  return outcome?.ok && outcome.data !== undefined ? { result, data: outcome.data } : { result };
}
