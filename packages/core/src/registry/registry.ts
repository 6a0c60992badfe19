import { callSafely } from "../callSafely.ts";
import type {
  AnyToolRegistry,
  ChatTool,
  CheckResult,
  ExecutableTool,
  ExecuteOptions,
  Guard,
  Middleware,
  ToolListing,
  ToolOutcome,
} from "../interface.ts";
import { shownName } from "../text/printable.ts";
import { fromThrown, renderOutcome } from "./outcome.ts";
import { createEntry, type Entry, sourceOf, traitsOf } from "./registration.ts";
import { type RegistryState, refusalOfCall, runCall } from "./runCall.ts";

/**
 * Holds tools, knows which are enabled, and runs them. Tools are kept in the order of registration. Calls in flight are
 * independent of each other and of later changes to the registry.
 */
export class ToolRegistry implements AnyToolRegistry {
  readonly #entries = new Map<string, Entry>();
  readonly #state: RegistryState = { registry: this, entries: this.#entries, middlewares: [], guards: [] };
  #enabledSchemas: ChatTool[] | undefined;
  #listeners: ReadonlySet<() => unknown> = new Set();

  /** Adds `tools` as `register` does. */
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

  /** Returns every name, enabled or not, in registration order. */
  getToolNames(): string[] {
    return [...this.#entries.keys()];
  }

  isToolEnabled(name: string): boolean {
    return this.#entries.get(name)?.enabled ?? false;
  }

  /** Returns every tool with what it says of itself, in registration order. */
  listTools(): ToolListing[] {
    return [...this.#entries.values()].map(({ tool, schema, outputSchema, enabled }) => ({
      name: schema.function.name,
      description: schema.function.description,
      parameters: schema.function.parameters,
      ...(outputSchema && { outputSchema }),
      enabled,
      ...sourceOf(tool),
      ...traitsOf(tool),
    }));
  }

  /** Returns the schemas of the enabled tools, in registration order: one frozen array until the next change. */
  getEnabledSchemas(): ChatTool[] {
    this.#enabledSchemas ??= Object.freeze(
      [...this.#entries.values()].filter((entry) => entry.enabled).map((entry) => entry.schema),
    ) as ChatTool[];
    return this.#enabledSchemas;
  }

  /** Wraps every later execution; the first middleware is the outermost. */
  use(middleware: Middleware): this {
    if (typeof middleware !== "function") throw new TypeError("use expects a middleware: (call, next) => Promise");
    this.#state.middlewares = [...this.#state.middlewares, middleware];
    return this;
  }

  /**
   * Asks `decide` about every later execution, inside every middleware, right before the tool would start, with the tool and the
   * arguments that will run. Guards are asked in order; the first denial ends the call; then each question needs a yes of `approve`.
   */
  guard(decide: Guard): this {
    if (typeof decide !== "function") {
      throw new TypeError("guard expects a function: (call) => true, false, a reason or { ask }");
    }
    this.#state.guards = [...this.#state.guards, decide];
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

  /** Returns an independent registry with the same tools, toggles, middleware and guards. Listeners stay with this one. */
  clone(): ToolRegistry {
    const copy = new ToolRegistry();
    copy.#state.middlewares = this.#state.middlewares;
    copy.#state.guards = this.#state.guards;
    for (const [name, entry] of this.#entries) copy.#entries.set(name, { ...entry });
    return copy;
  }

  /**
   * Runs a tool and answers what a model reads: its output, or one line that says what went wrong (`Error executing NAME: …`,
   * `Tool not found: NAME`, `Tool not available: NAME`). Never rejects.
   */
  execute(name: string, args?: unknown, options: ExecuteOptions = {}): Promise<string> {
    return this.#run(name, args, options, (outcome) =>
      outcome.ok ? outcome.output : renderOutcome(shownName(name), outcome),
    );
  }

  /** Does the same for programs: resolves to the output or a typed error. Never rejects. */
  invoke(name: string, args?: unknown, options: ExecuteOptions = {}): Promise<ToolOutcome> {
    return this.#run(name, args, options, (outcome) => outcome);
  }

  #run<Answer>(
    name: string,
    args: unknown,
    options: ExecuteOptions,
    answer: (outcome: ToolOutcome) => Answer,
  ): Promise<Answer> {
    const conclude = (outcome: ToolOutcome): Answer => {
      callSafely(() => options.onOutcome?.(outcome));
      return answer(outcome);
    };
    const fail = (thrown: unknown): Answer => conclude({ ok: false, error: fromThrown(shownName(name), thrown) });
    // Not async functions, which would take a third more time and memory for a call.
    try {
      return runCall(this.#state, name, args, options).then(conclude, fail);
    } catch (thrown) {
      return Promise.resolve(fail(thrown));
    }
  }

  /**
   * Returns what `invoke` would refuse or ask, with the same options; neither the tool nor a middleware runs, and `approve` is not called.
   * Never rejects.
   */
  async check(name: string, args?: unknown, options: ExecuteOptions = {}): Promise<CheckResult> {
    try {
      const error = await refusalOfCall(this.#state, name, args, options);
      return error ? { ok: false, error } : { ok: true };
    } catch (thrown) {
      return { ok: false, error: fromThrown(shownName(name), thrown) };
    }
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
}
