import type { CheckedArguments } from "../arguments/argumentChecker.ts";
import { attempt } from "../callSafely.ts";
import type { ToolError } from "../errors.ts";
import type { ExecutableTool, ExecuteOptions, Guard, Middleware, ToolCall, ToolOutcome } from "../interface.ts";
import { canonicalJson, isPlainObject } from "../json.ts";
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

/** The result of checking a call. It stays with the call until a middleware passes on other arguments or takes the refusal off. */
type CheckedCall = Pick<CheckedArguments, "args"> & { readonly given: unknown } & (
    | { readonly entry: Entry; readonly error?: undefined }
    | { readonly entry: Entry | undefined; readonly error: ToolError }
  );

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
    const call = callOf(state, found, name, options);
    if (call.refusal || found.error) return { refusal: call.refusal };
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
  const call = callOf(state, found, name, options);
  // Most registries have neither: then nothing waits before the tool runs, and the tool itself ends at the signal.
  if (state.middlewares.length === 0 && guardsOf(state, found.entry).length === 0) {
    if (found.error || call.refusal) return Promise.resolve(refused(call.refusal, found));
    return runTool(state, found.entry, call, options, nothing);
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
  const start = (now: CheckedCall, current: ToolCall): Promise<ToolOutcome> => {
    const refusal = refusalOf(state, current.name);
    if (refusal || now.error) return Promise.resolve(refused(refusal, now));
    const { entry } = now;
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
  if (state.middlewares.length === 0) return orAborted(start(found, call));
  const shown = found.error && printOf(call.args);
  const running = runThrough(state.middlewares, call, (current) => {
    // A middleware may have waited long, or changed the call.
    const again = refusalOf(state, current.name) ? found : lookAgain(state, current, call, found, shown);
    return "then" in again ? again.then((now) => start(now, current)) : start(again, current);
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

function callOf(
  state: RegistryState,
  { entry, args, error }: CheckedCall,
  name: string,
  options: ExecuteOptions,
): ToolCall {
  const { signal, callId, labels, onProgress } = options;
  const refusal = refusalOf(state, name) ?? error;
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
  if (!entry)
    return { entry, given, args: isPlainObject(given) ? given : {}, error: notFound(shownName(name), undefined) };
  const found = ({ args, error }: CheckedArguments): CheckedCall => ({ entry, given, args, error }) as CheckedCall;
  const checked = entry.check(given);
  return "then" in checked ? checked.then(found) : found(checked);
}

/** Returns what was found for arguments that no middleware has changed; a refusal stays even where one has copied them or left it out. */
function lookAgain(
  state: RegistryState,
  current: ToolCall,
  call: ToolCall,
  found: CheckedCall,
  shown: string | undefined,
): CheckedCall | Promise<CheckedCall> {
  const { name, args = call.args } = current;
  const isTakenOff = "refusal" in current && current.refusal === undefined;
  const isGiven = found.error !== undefined && !isTakenOff && printOf(args) === shown;
  // Arguments that the tool's own check has returned need not pass it again; any others may have been changed in place.
  const isParsed = found.entry?.tool.parseArguments !== undefined && args === call.args && !found.error;
  const isSame = state.entries.get(name)?.tool === found.entry?.tool;
  if (isSame && (isGiven || isParsed)) return found;
  return look(state, name, isGiven ? found.given : args);
}

/** Returns arguments in a form to compare: a middleware may copy them, or change them in place. */
function printOf(args: unknown): string | undefined {
  return attempt(() => canonicalJson(args));
}

/** Returns why a name cannot be called now, if it cannot. */
function refusalOf({ entries }: RegistryState, name: string): ToolError | undefined {
  const entry = entries.get(name);
  if (entry) return entry.enabled ? undefined : notAvailable(name);
  const enabled = [...entries].filter(([, known]) => known.enabled).map(([known]) => known);
  return notFound(shownName(name), nearestName(shownName(name), enabled));
}

function refused(refusal: ToolError | undefined, { error }: CheckedCall): ToolOutcome {
  return { ok: false, error: (refusal ?? error) as ToolError };
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
