import type { CheckedArguments } from "../arguments/argumentChecker.ts";
import { attempt } from "../callSafely.ts";
import type { ToolError } from "../errors.ts";
import type { AnyToolRegistry, ExecuteOptions, Guard, Middleware, ToolCall, ToolOutcome } from "../interface.ts";
import { isPlainObject, isSameJson } from "../json.ts";
import { nearestName } from "../names.ts";
import { checkSpelling, type OptionSpecs } from "../options.ts";
import { shownName } from "../text/printable.ts";
import { type ArgumentCopies, copiesOf, copyArguments, frozenCopy } from "./argumentCopies.ts";
import { checkLimit, limitOf, outcomeSoon, runWithDeadline, untilAborted } from "./deadline.ts";
import { askGuards, type GuardsAnswer } from "./guards.ts";
import { runThrough } from "./middleware.ts";
import { aborted, notAvailable, noteChangedArguments, notFound, replaced } from "./outcome.ts";
import { type Entry, isForProgramsAlone } from "./registration.ts";

/** The contents of a registry, read anew at each stage of a call. */
export interface RegistryState {
  readonly registry: AnyToolRegistry;
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
  within: true,
};

type Args = Readonly<Record<string, unknown>>;

/** The result of checking a call. It stays with the call until a middleware passes on other arguments or takes the refusal off. */
type CheckedCall = Pick<CheckedArguments, "args"> & { readonly given: unknown; readonly copy?: Args | undefined } & (
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
    checkLimit(options.timeoutMs);
    if (call.refusal || found.error || guardsOf(state, found.entry).length === 0) return { refusal: call.refusal };
    const passed = await passGuards(state, found, call, { ...options, approve: undefined });
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
    if (found.error || call.refusal) return Promise.resolve(failed((call.refusal ?? found.error) as ToolError));
    return runTool(state, found.entry, call, options, { onCommit: nothing });
  }
  return runGuarded(state, found, call, options);
}

function nothing(): void {}

interface RunListener {
  onCommit(): void;
  /** Is told that a composite tool runs, whose end says which calls it has made. */
  onComposite?(running: Promise<ToolOutcome>): void;
}

/** Passes a call through every middleware and past every guard. */
async function runGuarded(
  state: RegistryState,
  found: CheckedCall,
  call: ToolCall,
  options: ExecuteOptions,
): Promise<ToolOutcome> {
  const { signal } = options;
  const isGuarded = guardsOf(state, found.entry).length > 0;
  let committed = false;
  let composite: Promise<ToolOutcome> | undefined;
  const finish = (now: CheckedCall, current: ToolCall): Promise<ToolOutcome> =>
    finishCall(state, now, current, options, {
      onCommit: () => {
        committed = true;
      },
      onComposite: (running) => {
        composite = running;
      },
    });
  const pass = (): Promise<ToolOutcome> => {
    if (state.middlewares.length === 0) return finish(found, call);
    const checked = { ...found, copy: attempt(() => (isGuarded ? frozenCopy : copyArguments)(call.args)) };
    return runThrough(state.middlewares, call, (current) => {
      // A middleware may have waited long, or changed the call.
      const again = refusalFor(state, current.name, options) ? found : lookAgain(state, current, call, checked);
      return "then" in again ? again.then((now) => finish(now, current)) : finish(again, current);
    });
  };
  const outcome = (await unlessAborted(pass(), signal)) ?? (composite && (await outcomeSoon(composite)));
  return outcome ?? failed(aborted(shownName(call.name), signal?.reason, committed));
}

/** Asks the guards about a call that has passed the middleware, and runs the tool: at once if nobody is to be asked. */
function finishCall(
  state: RegistryState,
  found: CheckedCall,
  current: ToolCall,
  options: ExecuteOptions,
  listener: RunListener,
): Promise<ToolOutcome> {
  const { signal } = options;
  const { entry, args } = found;
  const refusal = refusalFor(state, current.name, options) ?? found.error;
  if (refusal || !entry) return Promise.resolve(failed(refusal as ToolError));
  const run = (own: Record<string, unknown>): Promise<ToolOutcome> =>
    // Also where a middleware passed on a call without the signal.
    signal?.aborted
      ? Promise.resolve(failed(aborted(shownName(current.name), signal.reason, false)))
      : runTool(state, entry, { ...current, args: own }, options, listener);
  const isAsked = guardsOf(state, entry).length > 0;
  const { beforeRun } = current;
  if (!isAsked && !beforeRun) return run(args);
  const call = { ...current, name: entry.schema.function.name, args, signal: current.signal ?? signal };
  const runAsked = async (copies: ArgumentCopies): Promise<ToolOutcome> => {
    if (beforeRun && !signal?.aborted) {
      const whyNot = watchTool(state, entry, call.name);
      await beforeRun(copies.frozen);
      const refusedNow = whyNot();
      if (refusedNow) return failed(refusedNow);
    }
    return run(copies.own);
  };
  if (!isAsked) return runAsked(copiesOf(args));
  return passGuards(state, { ...found, entry }, call, options).then(async (passed) => {
    if ("output" in passed) return { ok: true, output: passed.output };
    const outcome = "error" in passed ? failed(passed.error) : await runAsked(passed.copies);
    return passed.changed ? noteChangedArguments(outcome, passed.changed) : outcome;
  });
}

function runTool(
  { guards, registry }: RegistryState,
  { tool, checkData }: Entry,
  call: ToolCall,
  { timeoutMs, approve, caller = approve && { approve } }: ExecuteOptions,
  { onCommit, onComposite }: RunListener,
): Promise<ToolOutcome> {
  const binding = guards.length > 0 || caller || tool.composite ? { ...caller, guards, registry } : undefined;
  const running = runWithDeadline(tool, call, limitOf(tool, call.args, timeoutMs), onCommit, binding);
  if (tool.composite) onComposite?.(running);
  return checkData ? running.then(checkData) : running;
}

function callOf(
  state: RegistryState,
  { entry, args, error }: CheckedCall,
  name: string,
  options: ExecuteOptions,
): ToolCall {
  const { signal, callId, labels, onProgress, within } = options;
  const refusal = refusalFor(state, name, options) ?? error;
  return { name, args, signal, callId, labels, onProgress, within, tool: entry?.tool, refusal };
}

/** Returns the guards of the registry, and the question of a tool that is one. */
function guardsOf({ guards }: RegistryState, entry: Entry | undefined): readonly Guard[] {
  return entry?.question ? [...guards, entry.question] : guards;
}

/** Resolves to the arguments when every guard lets the call pass, or the user's result; else why it may not run. */
async function passGuards(
  state: RegistryState,
  { entry, args, copy }: Pick<CheckedCall, "args" | "copy"> & { readonly entry: Entry },
  call: ToolCall,
  { approve, timeoutMs }: ExecuteOptions,
): Promise<GuardsAnswer> {
  checkLimit(timeoutMs);
  const whyNot = watchTool(state, entry, call.name);
  const copies = attempt(() => {
    // The checker has copied what no middleware and no library of the tool's has seen.
    const own = copy || entry.tool.parseArguments ? copyArguments(copy ?? args) : args;
    return { own, frozen: copy && Object.isFrozen(copy) ? copy : frozenCopy(own) };
  });
  const answer = await askGuards(() => guardsOf(state, entry), entry, call, copies, approve);
  const error = "copies" in answer ? whyNot() : undefined;
  return error ? { error } : answer;
}

/** Returns a function that tells why the tool cannot run any more, if so: it is gone, disabled, another one or has another `execute`. */
function watchTool(state: RegistryState, { tool }: Entry, name: string): () => ToolError | undefined {
  const { execute } = tool;
  return () => {
    const isSame = state.entries.get(name)?.tool === tool && tool.execute === execute;
    return refusalOf(state, name) ?? (isSame ? undefined : replaced(name));
  };
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
): CheckedCall | Promise<CheckedCall> {
  const { name, args = call.args } = current;
  const isUnchanged = found.copy !== undefined && attempt(() => isSameJson(args, found.copy)) === true;
  const isTakenOff = found.error !== undefined && "refusal" in current && current.refusal === undefined;
  // What the tool's own check has returned need not pass it again.
  const isParsed = found.entry?.tool.parseArguments !== undefined && args === call.args && !found.error;
  const stays = isUnchanged && !isTakenOff;
  if (state.entries.get(name)?.tool !== found.entry?.tool)
    return look(state, name, stays && found.error ? found.given : args);
  if (stays) return { ...found, args };
  return isParsed ? { ...found, args, copy: undefined } : look(state, name, args);
}

/** Returns why a name cannot be called now, if it cannot. */
function refusalOf({ entries }: RegistryState, name: string): ToolError | undefined {
  const entry = entries.get(name);
  if (entry) return entry.enabled ? undefined : notAvailable(name);
  const enabled = [...entries].filter(([, known]) => known.enabled).map(([known]) => known);
  return notFound(shownName(name), nearestName(shownName(name), enabled));
}

/** Does so for this caller, too: only calls within another one come from a program. */
function refusalFor(state: RegistryState, name: string, { within }: ExecuteOptions): ToolError | undefined {
  const refusal = refusalOf(state, name);
  if (refusal || within !== undefined) return refusal;
  const isForbidden = attempt(() => isForProgramsAlone(state.entries.get(name)?.tool ?? {})) === true;
  return isForbidden ? notAvailable(name, "only programs can call it") : undefined;
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
