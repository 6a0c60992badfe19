import { AsyncLocalStorage } from "node:async_hooks";
import { invalidArgument, type ToolCallInfo, ToolError, type WithinQuestion } from "@toolcrib/core";
import type { MayCall } from "./callable.ts";
import { callableTools } from "./callable.ts";
import type { CallRecord } from "./callRecord.ts";
import { ProgramCalls } from "./calls.ts";
import type { EngineLimits, FromThread, KeptOutput } from "./engine/messages.ts";
import { type RunningProgram, startProgram } from "./engine/programThread.ts";
import { lookUp, refusalOf } from "./lookUp.ts";
import type { ProgramSettings } from "./options.ts";
import { keptForFile, shownOutput } from "./output.ts";
import { ProgramLog } from "./programLog.ts";
import { type Failed, failureReport, lostNote } from "./report.ts";

/** Characters of output that are kept where nothing limits it: a program cannot make many more in its memory. */
const mostKept = 64 * 2 ** 20;
/** Seeds of the guest's chance, which are milliseconds of a clock. */
const mostSeed = 2 ** 40;
const noOutput: KeptOutput = { head: "", tail: "", bytes: 0 };
let unnamed = 0;

export interface ProgramRun {
  readonly code: string;
  readonly call: ToolCallInfo;
  readonly settings: ProgramSettings;
  readonly mayCall: MayCall;
  /** Runs within a call of another program. */
  readonly isInner: boolean;
}

type Ended = Extract<FromThread, { type: "end" }>;

/**
 * Runs a program; resolves to what it printed and returned once no call of it runs any more. Throws if it fails, with the list of its calls, and
 * `approval_required` if it can only go on with an answer.
 */
export async function runProgram(program: ProgramRun): Promise<string> {
  const { code, call, settings, mayCall, isInner } = program;
  const { caller, signal, onProgress } = call;
  if (!caller?.registry) throw new Error("run_program must be called through a registry, whose tools it calls");
  const bytes = Buffer.byteLength(code);
  const { maxSourceBytes: most } = settings;
  if (bytes > most) {
    const reason = `must have at most ${most} bytes, and has ${bytes}: do less in one program, or read data by tools`;
    throw invalidArgument("code", reason);
  }
  const { registry, guards: _, log: kept, ...rest } = caller;
  unnamed += 1;
  const outer = call.callId ?? `program-${unnamed}`;
  const log = await ProgramLog.open(kept, code, outer, {
    seed: Math.floor(Math.random() * mostSeed),
    time: Date.now(),
    names: callableTools(registry, mayCall).map(({ name }) => name),
    maxCalls: settings.maxCalls,
  });
  if (log.problem !== undefined) return cannotGoOn(program, log.problem, log);
  const { promise, resolve } = Promise.withResolvers<Ended>();
  let running: RunningProgram | undefined;
  let questions: readonly WithinQuestion[] | undefined;
  let difference: string | undefined;
  const calls = new ProgramCalls({
    ...{ registry, outer, log, maxConcurrent: settings.maxConcurrent },
    options: { signal, labels: call.labels, approve: caller.approve, caller: rest },
    refusal: (name) => refusalOf(registry, mayCall, name),
    lookUp: (name, asked) => lookUp(registry, mayCall, name, asked),
    deliver: (results) => running?.send({ type: "results", results }),
    onStart: ({ number, name, args }) => onProgress?.({ progress: number, message: `${name} ${args}` }),
    onParked: (asked) => {
      questions = asked;
      running?.stop();
    },
    onDifference: (why) => {
      difference = why;
      running?.stop();
    },
  });
  // Messages of a thread come outside the call, whose context (a span, an agent's nesting) its calls need.
  const inContext = AsyncLocalStorage.snapshot();
  const onMessage = (message: FromThread): void => {
    const hasEnded = message.type === "end";
    // A program that has ended waits for nothing, so no turn of it is asked about.
    inContext(() => calls.take(message.calls, hasEnded ? 0 : message.turn));
    if (hasEnded) resolve(message);
  };
  const { seed, time, names, maxCalls } = log.begin;
  const limits = { ...limitsOf(settings), maxCalls };
  running = await startProgram({ code, names, limits, seed, time, results: log.results }, onMessage, {
    signal,
    isInner,
  });
  const stop = (): void => running?.stop();
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  const ended = await promise;
  signal?.removeEventListener("abort", stop);
  running.release();
  // The thread is another program's from now on.
  running = undefined;
  await calls.end(ended.end.failed === undefined);
  if (questions && !signal?.aborted) throw approvalRequired(questions, calls.records);
  if (difference !== undefined) return cannotGoOn(program, difference, log, ended.output);
  return answerOf(program, ended, calls.records, { names });
}

/** Returns the answer of a program that has ended. Throws for one that has failed. */
async function answerOf(
  { code, settings }: ProgramRun,
  { end, output }: Pick<Ended, "end" | "output">,
  calls: readonly CallRecord[],
  { names = [], mayLackCalls = false }: Partial<Pick<Failed, "names" | "mayLackCalls">>,
): Promise<string> {
  const { spill, maxOutputBytes: bytes } = settings;
  if (end.failed !== undefined) {
    const failed = { end, code, output, calls, mayLackCalls, spill, names };
    throw new Error(await failureReport(failed));
  }
  const shown = await shownOutput(output, bytes, spill);
  return [shown.trimEnd() === "" ? "(no output)" : shown, lostNote(end, calls)].filter(Boolean).join("\n\n");
}

/** Throws for a program that its record does not fit. */
function cannotGoOn(program: ProgramRun, why: string, log: ProgramLog, output = noOutput): Promise<string> {
  const message = `it cannot go on: ${why}`;
  const end = { refusedCalls: 0, unhandled: 0, unseen: [], failed: "engine", message } as const;
  return answerOf(program, { end, output }, log.records, { mayLackCalls: log.mayLackCalls });
}

function approvalRequired(within: readonly WithinQuestion[], calls: readonly CallRecord[]): ToolError {
  const made = calls.filter(({ state }) => state === "ok" || state === "failed").length;
  const one = `${within.length} ${within.length === 1 ? "call" : "calls"} of a program`;
  const text = `May it go on? ${one} must be approved; ${made} made before: ${within.map(({ question }) => question.text).join("; ")}`;
  return new ToolError({ code: "approval_required", message: text, details: { question: { text }, within } });
}

function limitsOf(settings: ProgramSettings): EngineLimits {
  const { memoryBytes, stackBytes, guestTimeoutMs, maxCalls, maxOutputBytes, spill } = settings;
  const kept = spill === undefined ? maxOutputBytes : Math.max(maxOutputBytes, keptForFile);
  return { memoryBytes, stackBytes, guestTimeoutMs, maxCalls, keptOutput: Math.min(kept, mostKept) };
}
