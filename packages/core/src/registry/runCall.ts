import type { CheckedArguments } from "../arguments/argumentChecker.ts";
import { attempt } from "../callSafely.ts";
import type { ToolError } from "../errors.ts";
import type { ExecutableTool, ExecuteOptions, Guard, Middleware, ToolCall, ToolOutcome } from "../interface.ts";
import { nearestName } from "../names.ts";
import { checkSpelling, type OptionSpecs } from "../options.ts";
import { untilAborted } from "../promises.ts";
import { shownName } from "../text/printable.ts";
import { copyForCall } from "./argumentCopies.ts";
import { checkLimit, limitOf, runWithDeadline } from "./deadline.ts";
import { askGuards, type GuardsAnswer } from "./guards.ts";
import { runThrough } from "./middleware.ts";
import { aborted, notAvailable, noteChangedArguments, notFound, replaced } from "./outcome.ts";
import type { Entry } from "./registration.ts";

/** The contents of a registry, read anew at each stage of a call. */
export interface RegistryState {
  readonly entries: ReadonlyMap<string, Entry>;
  middlewares: readonly Middleware[];
  guards: readonly Guard[];
}

/** Only a misspelt option is refused: a tool may pass on its own call, which has more. */
const optionNames: OptionSpecs<ExecuteOptions> = {
  signal: true,
  callId: true,
  labels: true,
  onProgress: true,
  timeoutMs: true,
  onOutcome: true,
  approve: true,
  caller: true,
};

interface CheckedCall extends CheckedArguments {
  readonly entry: Entry | undefined;
}

/** Runs one call. Synchronous, so that a call has started when `invoke` returns, unless its check must wait. May throw or reject. */
export function runCall(
  state: RegistryState,
  name: string,
  given: unknown,
  options: ExecuteOptions,
): Promise<ToolOutcome> {
  checkSpelling("execute", options, optionNames);
  const { signal } = options;
  const abortedEarly = (): ToolOutcome => failed(aborted(shownName(name), signal?.reason, false));
  if (signal?.aborted) return Promise.resolve(abortedEarly());
  const found = look(state, name, given);
  if (!("then" in found)) return runFound(state, found, name, options);
  return unlessAborted(found, signal).then((now) => (now ? runFound(state, now, name, options) : abortedEarly()));
}

/** Returns what `runCall` would refuse or ask, running neither the tool nor a middleware. May throw or reject. */
export async function refusalOfCall(
  state: RegistryState,
  name: string,
  given: unknown,
  options: ExecuteOptions,
): Promise<ToolError | undefined> {
  checkSpelling("check", options, optionNames);
  const { signal } = options;
  const answer = async (): Promise<{ refusal: ToolError | undefined }> => {
    const found = await look(state, name, given);
    const error = refusalOf(state, name) ?? found.error;
    if (error || !found.entry) return { refusal: error ?? unknownTool(name) };
    const call = callOf(found, name, options);
    const passed = await passGuards(state, found.entry, call, { ...options, approve: undefined });
    return { refusal: "error" in passed ? passed.error : undefined };
  };
  const answered = signal?.aborted ? undefined : await unlessAborted(answer(), signal);
  return answered ? answered.refusal : aborted(shownName(name), signal?.reason, false);
}

function runFound(
  state: RegistryState,
  found: CheckedCall,
  name: string,
  options: ExecuteOptions,
): Promise<ToolOutcome> {
  const call = callOf(found, name, options, refusalOf(state, name) ?? found.error);
  // Most registries have neither: then nothing waits before the tool runs, and the tool itself ends at the signal.
  if (state.middlewares.length === 0 && guardsOf(state, found.entry).length === 0) {
    return call.refusal || !found.entry
      ? Promise.resolve(failed(call.refusal ?? unknownTool(name)))
      : runTool(state, found.entry, call, options, nothing);
  }
  return runGuarded(state, found, call, options);
}

function nothing(): void {}

/** Passes a call through every middleware and past every guard. */
function runGuarded(
  state: RegistryState,
  found: CheckedCall,
  call: ToolCall,
  options: ExecuteOptions,
): Promise<ToolOutcome> {
  const { name } = call;
  const { signal } = options;
  let committed = false;
  const onCommit = (): void => {
    committed = true;
  };
  const orAborted = async (running: Promise<ToolOutcome>): Promise<ToolOutcome> =>
    (await unlessAborted(running, signal)) ?? failed(aborted(shownName(name), signal?.reason, committed));
  const start = (now: CheckedCall, current: ToolCall, error: ToolError | undefined): Promise<ToolOutcome> => {
    const { entry } = now;
    if (error || !entry) return Promise.resolve(failed(error ?? unknownTool(name)));
    const run = (args: Record<string, unknown>, { beforeRun } = current): Promise<ToolOutcome> => {
      // Also where a middleware passed on a call without the signal.
      if (signal?.aborted) return Promise.resolve(failed(aborted(shownName(name), signal.reason, false)));
      if (beforeRun) {
        const isUnchanged = watchExecute(entry.tool);
        // A copy: after the guards nobody changes what the tool gets.
        return Promise.resolve(beforeRun(copyForCall(args).forEffects())).then(() => {
          const isSame = state.entries.get(current.name)?.tool === entry.tool && isUnchanged();
          const changed = refusalOf(state, current.name) ?? (isSame ? undefined : replaced(current.name));
          return changed ? failed(changed) : run(args, { ...current, beforeRun: undefined });
        });
      }
      return runTool(state, entry, current.args === args ? current : { ...current, args }, options, onCommit);
    };
    if (guardsOf(state, entry).length === 0) return run(now.args);
    const guarded = { ...current, name: entry.schema.function.name, args: now.args, signal: current.signal ?? signal };
    return passGuards(state, entry, guarded, options).then((passed) => {
      if ("output" in passed) return { ok: true, output: passed.output };
      const { changed } = passed;
      const ended = "error" in passed ? failed(passed.error) : run(passed.args);
      return changed ? Promise.resolve(ended).then((outcome) => noteChangedArguments(outcome, changed)) : ended;
    });
  };
  if (state.middlewares.length === 0) return orAborted(start(found, call, call.refusal));
  const running = runThrough(state.middlewares, call, (current) => {
    // A middleware may have waited long, or changed the call.
    const again = lookAgain(state, current, call, found);
    const startAgain = (now: CheckedCall): Promise<ToolOutcome> =>
      start(now, current, refusalOf(state, current.name) ?? now.error);
    return "then" in again ? again.then(startAgain) : startAgain(again);
  });
  return orAborted(running);
}

function runTool(
  { guards }: RegistryState,
  { tool, checkData }: Entry,
  call: ToolCall,
  { timeoutMs, approve, caller = approve && { approve } }: ExecuteOptions,
  onCommit: () => void,
): Promise<ToolOutcome> {
  const binding = guards.length > 0 || caller ? { ...caller, guards } : undefined;
  const running = runWithDeadline(tool, call, limitOf(tool, call.args, timeoutMs), onCommit, binding);
  return checkData ? running.then(checkData) : running;
}

function callOf({ entry, args }: CheckedCall, name: string, options: ExecuteOptions, refusal?: ToolError): ToolCall {
  const { signal, callId, labels, onProgress } = options;
  return { name, args, signal, callId, labels, onProgress, tool: entry?.tool, refusal };
}

/** Returns the guards of the registry, and the question of a tool that is one. */
function guardsOf({ guards }: RegistryState, entry: Entry | undefined): readonly Guard[] {
  return entry?.question ? [...guards, entry.question] : guards;
}

/** Resolves to the tool's own arguments when every guard lets the call pass, or the user's result; else why it may not run. */
async function passGuards(
  state: RegistryState,
  entry: Entry,
  call: ToolCall,
  { approve, timeoutMs }: ExecuteOptions,
): Promise<GuardsAnswer> {
  checkLimit(timeoutMs);
  const { name, args } = call;
  if (guardsOf(state, entry).length === 0) return { args, changed: undefined };
  const { tool } = entry;
  const isUnchanged = watchExecute(tool);
  const answer = await askGuards(() => guardsOf(state, entry), entry, call, approve);
  if (!("args" in answer)) return answer;
  const isSame = state.entries.get(name)?.tool === tool && isUnchanged();
  const error = refusalOf(state, name) ?? (isSame ? undefined : replaced(name));
  return error ? { error } : answer;
}

/** Tells later whether the tool still has the same `execute`. */
function watchExecute(tool: ExecutableTool): () => boolean {
  const read = (): unknown => attempt(() => tool.execute);
  const before = read();
  // A proxy may bind it anew at each reading: then nothing can be told.
  const isStable = read() === before;
  return () => !isStable || read() === before;
}

/** Returns the tool of that name, with its repaired arguments or what is wrong with them. */
function look({ entries }: RegistryState, name: string, given: unknown): CheckedCall | Promise<CheckedCall> {
  const entry = entries.get(name);
  if (!entry) return { entry, args: (given ?? {}) as Record<string, unknown> };
  const checked = entry.check(given);
  return "then" in checked
    ? checked.then(({ args, error }) => ({ entry, args, error }))
    : { entry, args: checked.args, error: checked.error };
}

function lookAgain(
  state: RegistryState,
  current: ToolCall,
  call: ToolCall,
  found: CheckedCall,
): CheckedCall | Promise<CheckedCall> {
  const { name, args } = current;
  const entry = state.entries.get(name);
  const error = refusalOf(state, name);
  if (error) return { entry, args, error };
  // Arguments that the tool's own check has returned need not pass it again; any others may have been changed in place.
  const isChecked = entry?.tool.parseArguments && args === call.args && entry.tool === call.tool;
  return isChecked ? found : look(state, name, args);
}

/** Returns why a name cannot be called now, if it cannot. */
function refusalOf({ entries }: RegistryState, name: string): ToolError | undefined {
  const entry = entries.get(name);
  if (entry) return entry.enabled ? undefined : notAvailable(name);
  const enabled = [...entries].filter(([, known]) => known.enabled).map(([known]) => known);
  return notFound(shownName(name), nearestName(shownName(name), enabled));
}

function unknownTool(name: string): ToolError {
  return notFound(shownName(name), undefined);
}

function failed(error: ToolError): ToolOutcome {
  return { ok: false, error };
}

/** Resolves to undefined where the signal fires first. */
async function unlessAborted<T>(running: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  try {
    return await untilAborted(running, signal);
  } catch (thrown) {
    if (signal?.aborted) return undefined;
    throw thrown;
  }
}
