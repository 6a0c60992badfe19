import type { CheckedArguments } from "../arguments/arguments.ts";
import type { ToolError } from "../errors.ts";
import type {
  AnyToolRegistry,
  ChatTool,
  ExecutableTool,
  ExecuteOptions,
  Middleware,
  ToolCall,
  ToolListing,
  ToolOutcome,
} from "../interface.ts";
import { nearestName } from "../names.ts";
import { checkSpelling, type KnownOptions } from "../options.ts";
import { callSafely, untilAborted } from "../promises.ts";
import { clip, printableName } from "../text.ts";
import { type Approvals, voidApproval } from "./approval.ts";
import { limitOf, runWithDeadline } from "./deadline.ts";
import { runThrough } from "./middleware.ts";
import { aborted, fromThrown, notAvailable, notFound, renderOutcome } from "./outcome.ts";
import { createEntry, type Entry, sourceOf, traitsOf } from "./registration.ts";

/** Only a misspelt option is refused: a tool may pass on its own call, which has more. */
const optionNames: KnownOptions<ExecuteOptions> = {
  signal: true,
  callId: true,
  labels: true,
  onProgress: true,
  timeoutMs: true,
  onOutcome: true,
  approve: true,
};

interface Looked extends CheckedArguments {
  readonly entry: Entry | undefined;
}

/**
 * Holds tools, knows which are enabled, and runs them. Tools are kept in the order of registration. Calls in flight are
 * independent of each other and of later changes to the registry.
 */
export class ToolRegistry implements AnyToolRegistry {
  #entries = new Map<string, Entry>();
  #middlewares: readonly Middleware[] = [];
  #enabledSchemas: ChatTool[] | undefined;
  #listeners: ReadonlySet<() => unknown> = new Set();

  /** With `tools`, as `register` adds them. */
  constructor(tools: readonly ExecutableTool[] = []) {
    if (!Array.isArray(tools)) throw new TypeError("new ToolRegistry expects an array of tools");
    this.#add(tools);
  }

  /**
   * Adds tools, enabled: all or none. Reads their schemas once and freezes them. Throws a ToolError: `already_exists` for a
   * taken name, `invalid_tool` for an illegal name, an empty description or parameters that are not an object schema.
   */
  register(...tools: ExecutableTool[]): void {
    if (this.#add(tools)) this.#changed();
  }

  /** Removes a tool; does nothing for an unknown name. A call that runs goes on. */
  unregister(name: string): void {
    if (this.#entries.delete(name)) this.#changed();
  }

  /** Puts a tool into the exported schemas. Returns whether the tool is registered. */
  enable(name: string): boolean {
    return this.#toggle(name, true);
  }

  /** Takes a tool out of the exported schemas; calls to it are refused. Returns whether the tool is registered. */
  disable(name: string): boolean {
    return this.#toggle(name, false);
  }

  get(name: string): ExecutableTool | undefined {
    return this.#entries.get(name)?.tool;
  }

  hasTool(name: string): boolean {
    return this.#entries.has(name);
  }

  /** Every name, enabled or not, in registration order. */
  getToolNames(): string[] {
    return [...this.#entries.keys()];
  }

  isToolEnabled(name: string): boolean {
    return this.#entries.get(name)?.enabled ?? false;
  }

  /** Every tool with what it says of itself, in registration order. */
  listTools(): ToolListing[] {
    return [...this.#entries.values()].map(({ tool, schema, enabled }) => ({
      name: schema.function.name,
      description: schema.function.description,
      parameters: schema.function.parameters,
      enabled,
      ...sourceOf(tool),
      ...traitsOf(tool),
    }));
  }

  /** The schemas of the enabled tools, in registration order: one frozen array until the next change. */
  getEnabledSchemas(): ChatTool[] {
    this.#enabledSchemas ??= Object.freeze(
      [...this.#entries.values()].filter((entry) => entry.enabled).map((entry) => entry.schema),
    ) as ChatTool[];
    return this.#enabledSchemas;
  }

  /** Wraps every later execution; the first middleware is the outermost. */
  use(middleware: Middleware): this {
    if (typeof middleware !== "function") throw new TypeError("use expects a middleware: (call, next) => Promise");
    this.#middlewares = [...this.#middlewares, middleware];
    return this;
  }

  /**
   * Calls `listener` after each register, unregister, enable or disable that changed something. Returns how to stop. What a
   * listener throws is dropped: the change itself has succeeded.
   */
  onChange(listener: () => void): () => void {
    // A wrapper, so that one function given twice is two listeners, each with its own stop.
    const own = (): unknown => listener();
    this.#listeners = new Set([...this.#listeners, own]);
    return () => {
      this.#listeners = new Set([...this.#listeners].filter((known) => known !== own));
    };
  }

  /** An independent registry with the same tools, toggles and middleware. Listeners stay with this one. */
  clone(): ToolRegistry {
    const copy = new ToolRegistry();
    copy.#middlewares = this.#middlewares;
    for (const [name, entry] of this.#entries) copy.#entries.set(name, { ...entry });
    return copy;
  }

  /**
   * Runs a tool and answers what a model reads: its output, or one line that says what went wrong (`Error executing NAME: …`,
   * `Tool not found: NAME`, `Tool not available: NAME`). Never rejects.
   */
  async execute(name: string, args?: unknown, options?: ExecuteOptions): Promise<string> {
    const outcome = await this.invoke(name, args, options);
    return outcome.ok ? outcome.output : renderOutcome(shownName(name), outcome);
  }

  /** The same execution for programs: the output or a typed error. Never rejects. */
  async invoke(name: string, args?: unknown, options: ExecuteOptions = {}): Promise<ToolOutcome> {
    let outcome: ToolOutcome;
    try {
      outcome = await this.#run(name, args, options);
    } catch (thrown) {
      outcome = { ok: false, error: fromThrown(shownName(name), thrown) };
    }
    try {
      const { onOutcome } = options;
      if (onOutcome) callSafely(() => onOutcome.call(options, outcome));
    } catch {
      // `invoke` never rejects, even where its options cannot be read.
    }
    return outcome;
  }

  #add(tools: readonly ExecutableTool[]): boolean {
    const added = new Map<string, Entry>();
    for (const tool of tools) {
      const entry = createEntry(tool, (name) => this.#entries.has(name) || added.has(name));
      added.set(entry.schema.function.name, entry);
    }
    for (const [name, entry] of added) this.#entries.set(name, entry);
    return added.size > 0;
  }

  #changed(): void {
    this.#enabledSchemas = undefined;
    for (const listener of this.#listeners) callSafely(listener);
  }

  #toggle(name: string, enabled: boolean): boolean {
    const entry = this.#entries.get(name);
    if (!entry) return false;
    if (entry.enabled !== enabled) {
      entry.enabled = enabled;
      this.#changed();
    }
    return true;
  }

  /** Synchronous, so that a call has started when `invoke` returns, unless its check must wait. */
  #run(name: string, given: unknown, options: ExecuteOptions): Promise<ToolOutcome> {
    checkSpelling("execute", options, optionNames);
    const { signal } = options;
    const abortedEarly = (): ToolOutcome => failed(aborted(shownName(name), signal?.reason, false));
    if (signal?.aborted) return Promise.resolve(abortedEarly());
    const found = this.#look(name, given);
    if (!("then" in found)) return this.#runFound(found, name, options);
    return unlessAborted(found, signal).then((now) => (now ? this.#runFound(now, name, options) : abortedEarly()));
  }

  #runFound(found: Looked, name: string, options: ExecuteOptions): Promise<ToolOutcome> {
    const { signal, callId, labels, onProgress, timeoutMs } = options;
    const { args, entry } = found;
    const refusal = this.#refusal(name) ?? found.error;
    const call: ToolCall = { name, args, signal, callId, labels, onProgress, tool: entry?.tool, refusal };
    let committed = false;
    const onCommit = (): void => {
      committed = true;
    };
    const start = (now: Looked, current: ToolCall, error: ToolError | undefined): Promise<ToolOutcome> => {
      if (error || !now.entry) return Promise.resolve(failed(error ?? notFound(shownName(name), undefined)));
      const { tool } = now.entry;
      const ready = current.args === now.args ? current : { ...current, args: now.args };
      return runWithDeadline(tool, ready, limitOf(tool, now.args, timeoutMs), onCommit);
    };
    if (this.#middlewares.length === 0) return start(found, call, refusal);
    const running = runThrough(this.#middlewares, call, (current, approvals) => {
      // A middleware may have waited long, or changed the call.
      const again = this.#lookAgain(current, call, found, approvals);
      const startAgain = (now: Looked): Promise<ToolOutcome> =>
        start(now, current, this.#refusal(current.name) ?? now.error ?? this.#voidApproval(current, approvals));
      return "then" in again ? again.then(startAgain) : startAgain(again);
    });
    return unlessAborted(running, signal).then(
      (outcome) => outcome ?? failed(aborted(shownName(name), signal?.reason, committed)),
    );
  }

  /** The tool of that name, with its repaired arguments or what is wrong with them. */
  #look(name: string, given: unknown): Looked | Promise<Looked> {
    const entry = this.#entries.get(name);
    if (!entry) return { entry, args: (given ?? {}) as Record<string, unknown> };
    const checked = entry.check(given);
    return "then" in checked ? checked.then((done) => ({ entry, ...done })) : { entry, ...checked };
  }

  #lookAgain(current: ToolCall, call: ToolCall, found: Looked, approvals: Approvals): Looked | Promise<Looked> {
    const { name, args } = current;
    const entry = this.#entries.get(name);
    const error = this.#refusal(name) ?? this.#voidApproval(current, approvals);
    if (error) return { entry, args, error };
    // What a tool's own check made of the arguments need not pass it again; any others may have been changed in place.
    const isChecked = entry?.tool.parseArguments && args === call.args && entry.tool === call.tool;
    return isChecked ? found : this.#look(name, args);
  }

  /** Why approvals do not hold for the tool that has the name now. */
  #voidApproval({ name, args }: ToolCall, approvals: Approvals): ToolError | undefined {
    const tool = this.#entries.get(name)?.tool;
    return tool && voidApproval(approvals, name, tool, args);
  }

  /** Why a name cannot be called now, if it cannot. */
  #refusal(name: string): ToolCall["refusal"] {
    const entry = this.#entries.get(name);
    if (entry) return entry.enabled ? undefined : notAvailable(name);
    const enabled = [...this.#entries.keys()].filter((known) => this.isToolEnabled(known));
    return notFound(shownName(name), nearestName(textOf(name), enabled));
  }
}

function failed(error: ToolError): ToolOutcome {
  return { ok: false, error };
}

/** Undefined where the signal fires first. */
async function unlessAborted<T>(running: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  try {
    return await untilAborted(running, signal);
  } catch (thrown) {
    if (signal?.aborted) return undefined;
    throw thrown;
  }
}

/** A name as messages show it: whatever a model sent, cut and on one line. */
function shownName(name: unknown): string {
  return printableName(clip(textOf(name), 200));
}

function textOf(name: unknown): string {
  try {
    return String(name);
  } catch {
    return `a name of type ${typeof name}`;
  }
}
