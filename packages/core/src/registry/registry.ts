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
import { clip, printableName } from "../text.ts";
import { type Approvals, voidApproval } from "./approval.ts";
import { type RunCall, runWithDeadline, tell } from "./deadline.ts";
import { checkExecuteOptions, limitOf } from "./executeOptions.ts";
import { runThrough } from "./middleware.ts";
import { aborted, fromThrown, notAvailable, notFound, renderOutcome } from "./outcome.ts";
import { createEntry, type Entry, sourceOf, traitsOf } from "./registration.ts";

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
   * taken name, `invalid_tool` for an illegal name, an empty description or parameters that are no object schema.
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
      if (onOutcome) tell(() => onOutcome.call(options, outcome));
    } catch {
      // Options that cannot be read are no reason to reject.
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
    for (const listener of this.#listeners) tell(listener);
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

  /** Finds, checks, then runs: in one go, so that a call has started when `invoke` returns, unless a check must wait. */
  #run(name: string, given: unknown, options: ExecuteOptions): Promise<ToolOutcome> {
    checkExecuteOptions(options);
    const { signal, callId, labels, onProgress } = options;
    if (signal?.aborted) return failed(aborted(shownName(name), signal.reason, false));
    const entry = this.#entries.get(name);
    const proceed = ({ args, error }: CheckedArguments): Promise<ToolOutcome> => {
      if (signal?.aborted) return failed(aborted(shownName(name), signal.reason, false));
      const refused = this.#refusal(name) ?? error;
      const call: ToolCall = { name, args, signal, callId, labels, onProgress, tool: entry?.tool, refusal: refused };
      if (this.#middlewares.length > 0) return this.#wrap(call, options);
      return refused || !entry ? failed(refused ?? notFound(name, undefined)) : start(entry, call, options);
    };
    if (!entry) return proceed({ args: (given ?? {}) as Record<string, unknown> });
    const checked = entry.check(given);
    if (!("then" in checked)) return proceed(checked);
    // After an abort the arguments no longer matter: proceed looks at the signal first.
    return (signal ? endAtAbort(checked, signal, () => ({ args: {} })) : checked).then(proceed);
  }

  #wrap(call: ToolCall, options: ExecuteOptions): Promise<ToolOutcome> {
    const { name, signal } = call;
    let committed = false;
    const onCommit = (): void => {
      committed = true;
    };
    const running = runThrough(this.#middlewares, call, (current, approvals) =>
      this.#recheck({ ...current, onCommit }, call, approvals, options),
    );
    if (!signal) return running;
    return endAtAbort(running, signal, () => ({
      ok: false,
      error: aborted(shownName(name), signal.reason, committed),
    }));
  }

  /** Behind a middleware, that may have waited long or changed the call: registry and arguments are looked at again. */
  async #recheck(
    current: ToolCall & RunCall,
    before: ToolCall,
    approvals: Approvals,
    options: ExecuteOptions,
  ): Promise<ToolOutcome> {
    const { name } = current;
    const entry = this.#entries.get(name);
    const refusal = this.#refusal(name);
    if (refusal || !entry) return failed(refusal ?? notFound(name, undefined));
    const isVoid = voidApproval(approvals, name, entry.tool, current.args);
    if (isVoid) return failed(isVoid);
    // What a tool's own check made of the arguments need not pass it again; any others may have been changed in place.
    if (entry.tool.parseArguments && current.args === before.args && entry.tool === before.tool) {
      if (before.refusal?.code === "invalid_arguments") return failed(before.refusal);
      return start(entry, current, options);
    }
    const checked = entry.check(current.args);
    // No await where none is needed: a call has started when `invoke` returns.
    const { args, error } = "then" in checked ? await checked : checked;
    const refused = this.#refusal(name) ?? error ?? this.#replaced(entry, approvals, name, current.args);
    return refused ? failed(refused) : start(entry, { ...current, args }, options);
  }

  /** The check may have waited too. */
  #replaced({ tool }: Entry, approvals: Approvals, name: string, args: unknown): ToolError | undefined {
    const now = this.#entries.get(name)?.tool;
    return now === undefined || now === tool ? undefined : voidApproval(approvals, name, now, args);
  }

  /** Why a name cannot be called now, if it cannot. */
  #refusal(name: string): ToolCall["refusal"] {
    const entry = this.#entries.get(name);
    if (entry) return entry.enabled ? undefined : notAvailable(name);
    const enabled = [...this.#entries.keys()].filter((known) => this.isToolEnabled(known));
    return notFound(shownName(name), nearestName(textOf(name), enabled));
  }
}

function failed(error: ToolError): Promise<ToolOutcome> {
  return Promise.resolve({ ok: false, error });
}

function start({ tool }: Entry, call: ToolCall & RunCall, { timeoutMs }: ExecuteOptions): Promise<ToolOutcome> {
  return runWithDeadline(tool, call.args, call, limitOf(tool, call.args, timeoutMs));
}

function endAtAbort<T>(running: Promise<T>, signal: AbortSignal, atAbort: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(atAbort());
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
    running.finally(() => signal.removeEventListener("abort", onAbort)).then(resolve, reject);
  });
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
