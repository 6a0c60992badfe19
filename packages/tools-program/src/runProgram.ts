import { AsyncLocalStorage } from "node:async_hooks";
import { invalidArgument, type ToolCallInfo } from "@toolcrib/core";
import type { MayCall } from "./callable.ts";
import { callableTools } from "./callable.ts";
import { ProgramCalls } from "./calls.ts";
import type { EngineLimits, FromThread } from "./engine/messages.ts";
import { type RunningProgram, startProgram } from "./engine/programThread.ts";
import { lookUp, refusalOf } from "./lookUp.ts";
import type { ProgramSettings } from "./options.ts";
import { keptForFile, shownOutput } from "./output.ts";
import { failureReport, lostNote } from "./report.ts";

/** Characters of output that are kept where nothing limits it: a program cannot make many more in its memory. */
const mostKept = 64 * 2 ** 20;
/** Seeds of the guest's chance, which are milliseconds of a clock. */
const mostSeed = 2 ** 40;
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

/** Runs a program; resolves to what it printed and returned once no call of it runs any more. Throws if it fails, with the list of its calls. */
export async function runProgram({ code, call, settings, mayCall, isInner }: ProgramRun): Promise<string> {
  const { caller, signal, labels, onProgress } = call;
  const registry = caller?.registry;
  if (!registry) throw new Error("run_program must be called through a registry, whose tools it calls");
  checkSource(code, settings.maxSourceBytes);
  const { promise, resolve } = Promise.withResolvers<Ended>();
  let running: RunningProgram | undefined;
  const { registry: _registry, guards: _guards, ...rest } = caller;
  const calls = new ProgramCalls({
    registry,
    outer: call.callId ?? nextName(),
    options: { signal, labels, approve: caller.approve, caller: rest },
    maxConcurrent: settings.maxConcurrent,
    refusal: (name) => refusalOf(registry, mayCall, name),
    lookUp: (name, asked) => lookUp(registry, mayCall, name, asked),
    deliver: (results) => running?.send({ type: "results", results, time: Date.now() }),
    onStart: ({ number, name, args }) => onProgress?.({ progress: number, message: `${name} ${args}` }),
  });
  // Messages of a thread come outside the call, whose context (a span, an agent's nesting) its calls need.
  const inContext = AsyncLocalStorage.snapshot();
  const onMessage = (message: FromThread): void => {
    if (message.type === "end") resolve(message);
    else inContext(() => calls.take(message.calls));
  };
  const names = callableTools(registry, mayCall).map(({ name }) => name);
  const program = {
    code,
    names,
    limits: limitsOf(settings),
    seed: Math.floor(Math.random() * mostSeed),
    time: Date.now(),
  };
  running = await startProgram(program, { onMessage }, { signal, isInner });
  const stop = (): void => running?.stop();
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  const { end, output } = await promise;
  signal?.removeEventListener("abort", stop);
  running.release();
  await calls.end(end.failed === undefined);
  const { records } = calls;
  if (end.failed !== undefined)
    throw new Error(await failureReport({ end, code, output, calls: records, spill: settings.spill }));
  const shown = await shownOutput(output, { bytes: settings.maxOutputBytes, spill: settings.spill });
  const note = lostNote(end, records);
  return [shown.trimEnd() === "" ? "(no output)" : shown, note].filter(Boolean).join("\n\n");
}

function nextName(): string {
  unnamed += 1;
  return `program-${unnamed}`;
}

function checkSource(code: string, most: number): void {
  const bytes = Buffer.byteLength(code);
  if (bytes <= most) return;
  throw invalidArgument(
    "code",
    `must have at most ${most} bytes, and has ${bytes}: do less in one program, or read data by tools`,
  );
}

function limitsOf(settings: ProgramSettings): EngineLimits {
  const { memoryBytes, stackBytes, guestTimeoutMs, maxCalls, maxOutputBytes, spill } = settings;
  const kept = spill === undefined ? maxOutputBytes : Math.max(maxOutputBytes, keptForFile);
  return { memoryBytes, stackBytes, guestTimeoutMs, maxCalls, keptOutput: Math.min(kept, mostKept) };
}
