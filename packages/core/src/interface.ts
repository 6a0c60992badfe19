import type { RunStep } from "./callStep.ts";
import type { ContentBlock, ToolProgress } from "./content.ts";
import type { ToolEffect } from "./effect.ts";
import type { ApprovalQuestion, DenialDetails, ToolError } from "./errors.ts";
import type { ToolTraits } from "./toolTraits.ts";

export type { ContentBlock, ToolEffect, ToolProgress, ToolTraits };

/** A JSON Schema object (draft-07 or 2020-12). https://json-schema.org */
export type JsonSchema = { [keyword: string]: unknown };

/** The function-tool shape of the chat-completions API; `parameters` is a JSON Schema with `type: "object"`. */
export interface ChatTool {
  type: "function";
  function: {
    name: string;
    description: string;
    parameters: JsonSchema;
    /** Filled in by the registry: false unless the tool asks for it and its schema qualifies. */
    strict?: boolean;
  };
}

/** The caller's own marks on a call (a channel, a chat id, …), handed through untouched. */
export type ToolLabels = Readonly<Record<string, unknown>>;

/** Input of a tool beside its arguments. A tool may ignore all of it. */
export interface ToolCallInfo {
  /** Fires at the time limit and when the caller aborts. */
  readonly signal?: AbortSignal | undefined;
  readonly callId?: string | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  readonly labels?: ToolLabels | undefined;
  /**
   * Called by a tool right before a change that cannot be taken back. Throws when the call has already ended,
   * so nothing is committed then; a limit that fires later says that the change may have completed.
   */
  readonly beginCommit?: (() => void) | undefined;
  /** For a tool that lets others call tools within its own call; absent where the caller sets nothing. */
  readonly caller?: ToolCaller | undefined;
}

/** Binds the calls that are made within a call, by an agent for example. */
export interface ToolCaller {
  /** The registry that runs this call: a tool that calls others does it there, past its guards and with its toggles. */
  readonly registry: AnyToolRegistry;
  /** The guards that have decided about this call. */
  readonly guards: readonly Guard[];
  /** Answers their questions, and those of others within the call. Without it a question denies. */
  readonly approve?: Approve | undefined;
  /**
   * Keeps the record of a composite call, so that it can wait for an answer and go on in another process. With it, a question within the
   * call that no `approve` answers ends it with `approval_required`, and `details.within` has the questions.
   */
  readonly log?: CallLog | undefined;
  /** Is told what each reply of a model within the call has used, in the form of the loop that makes the call. True: it is to end. */
  readonly onUsage?: ((usage: object) => unknown) | undefined;
}

/** The record of a composite call: JSON lines, which its tool writes and reads. */
export interface CallLog {
  /** Lines of earlier runs of the same call, of which it is a function: its tool repeats them before it goes on. */
  readonly lines: readonly object[];
  /** Answers to the questions of its last run, by the id of the call within. */
  readonly answers?: Readonly<Record<string, ApprovalAnswer>> | undefined;
  /**
   * Keeps lines behind those that are there; what they say happens once it resolves. The first of a run hold the answers. `sync`: also on disk.
   * May reject, as it does for a call that has ended.
   */
  write(lines: readonly object[], sync?: boolean): void | Promise<void>;
  /** Present where calls are steps, which another process repeats by their records. */
  readonly step?: RunStep | undefined;
}

/** Milliseconds; `Infinity` means no limit. */
export type TimeLimit = number | ((args: Record<string, unknown>) => number);

/** The result of a tool's own argument check, in the shape of Standard Schema's `validate`. */
export type ParseResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

/** A caller of a tool (`ExecutableTool.callers`). */
export type ToolCallerKind = "model" | "programs";

/** A named capability: a schema for the model and an `execute`. A plain object or an instance of a class. */
export interface ExecutableTool extends ToolTraits {
  readonly name: string;
  /** Milliseconds the tool may run; the registry's 30 s when absent. */
  readonly timeoutMs?: TimeLimit | undefined;
  /** The source of the tool: a pack's name, `mcp:SERVER`. Set by the tool's maker; `own` when absent. */
  readonly origin?: string | undefined;
  /** Traits that its source claims, unconfirmed: shown, never relied on. */
  readonly hints?: ToolTraits | undefined;
  /**
   * Kept out of an agent's requests until `search_tools` (`createToolSearch`) finds it, so that many tools cost few tokens. It is among
   * `getEnabledSchemas()`, and can be called, all the same.
   */
  readonly deferred?: boolean | undefined;
  /** A JSON Schema of the `data` that its outcomes carry (`toolOutput`). Data that does not fit is left out. */
  readonly outputSchema?: JsonSchema | undefined;
  /**
   * Those who may call the tool; `programs`: calls `within` one of a `composite` tool. For programs alone, it is sent to no model. Default: the model.
   */
  readonly callers?: readonly ToolCallerKind[] | undefined;
  /** Calls other tools by `call.caller.registry`, which is always there then, with `within`. What they do is theirs, not the tool's. */
  readonly composite?: boolean | undefined;
  /**
   * The version of the record that a composite tool keeps, which changes with all that its way depends on beside its arguments and the tools called:
   * its engine, for example. Only the same version repeats a record.
   */
  readonly recordVersion?: string | undefined;
  /**
   * Values of arguments that a call leaves out, by their path (`edits[].replace_all`), if the schema does not state them as `default`. For
   * programs that compare versions (`@toolcrib/contracts`): no model is told by it.
   */
  readonly defaults?: Readonly<Record<string, unknown>> | undefined;
  getSchema(): ChatTool;
  /**
   * Declares what a call with these arguments would do, for guards; changes nothing. `[]` says that it does nothing; a tool
   * without this method is judged by its name and traits. May throw what `execute` would throw.
   */
  effects?(args: Record<string, unknown>): readonly ToolEffect[] | Promise<readonly ToolEffect[]>;
  /**
   * Makes the tool a question to the user, whose answer (`{ output }` alone) is the result: `execute` never runs. Asked after every guard.
   */
  ask?(args: Readonly<Record<string, unknown>>): string | ApprovalQuestion;
  /** Replaces the check against the JSON Schema (repair still comes first); its `value` is what `execute` gets. */
  parseArguments?(args: Record<string, unknown>): ParseResult | Promise<ParseResult>;
  execute(args: Record<string, unknown>, call?: ToolCallInfo): Promise<string>;
}

/**
 * The outcome of a call: the tool's output, or a typed error. Beside its text a tool may give rich `content`, and `data`: what the text
 * shows as a JSON value, for programs and never for the model.
 */
export type ToolOutcome =
  | {
      readonly ok: true;
      readonly output: string;
      readonly content?: readonly ContentBlock[];
      readonly data?: unknown;
    }
  | { readonly ok: false; readonly error: ToolError; readonly content?: readonly ContentBlock[] };

/** Options of `ToolRegistry.execute` and `ToolRegistry.invoke`. */
export interface ExecuteOptions {
  signal?: AbortSignal | undefined;
  callId?: string | undefined;
  labels?: ToolLabels | undefined;
  onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** Milliseconds; wins over the tool's own limit. `Infinity` means none. */
  timeoutMs?: number | undefined;
  /** Called once, before the call resolves, with what `invoke` returns. */
  onOutcome?: ((outcome: ToolOutcome) => void) | undefined;
  /**
   * Answers the question of a guard. `true` lets the call run; `{ args }` runs it with other arguments; `{ output }` is its result; a string
   * denies with that reason; anything else, or a throw, denies. Without it a question ends the call with `approval_required`.
   */
  approve?: Approve | undefined;
  /** For tools that let others call tools within the call, in place of `approve`. Guards and itself are added by the registry. */
  caller?: Omit<ToolCaller, "guards" | "registry"> | undefined;
  /**
   * The id of the call in which a program makes this one. Its result goes to the program, not to a model: limits of output leave it alone, and
   * `data` may have 1 MiB.
   */
  within?: string | undefined;
}

/**
 * An answer to a question about a call. `true` allows, `false` denies, a string denies with that reason. `args`: other arguments, as a
 * model would give them; they are checked, and every guard decides about them. This answer is the yes only to guards whose question about
 * this call the user has seen; another guard's question is asked.
 * `output`: the result, in the tool's place; nothing runs. `upTo`: a yes to so many calls (1 to 1,000) of one program, this one counted, by the
 * same tool and about the same guard's questions, with effects of the same kinds below the folder `question.data.upTo`; none where no folder is offered.
 */
export type ApprovalAnswer =
  | boolean
  | string
  | { readonly args: Readonly<Record<string, unknown>> }
  | { readonly output: string }
  | { readonly upTo: number };

/**
 * Answers a question about a call. It is asked again where its answer cannot be used (`question.refused` says why), three times in all;
 * then the question stays: the call ends with `approval_required`.
 */
export type Approve = (call: GuardedCall, question: ApprovalQuestion) => ApprovalAnswer | Promise<ApprovalAnswer>;

/** A call right before it would start, as a guard sees it. */
export interface GuardedCall {
  readonly name: string;
  /** The arguments that will run, frozen; the tool gets an equal copy of its own. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly tool: ExecutableTool;
  /** The source of the tool; `own` unless its maker says. */
  readonly origin: string;
  /** The effects that the call would have; undefined if the tool does not say, or could not (`effectsError`). */
  readonly effects: readonly ToolEffect[] | undefined;
  /** The error that `tool.effects` threw. */
  readonly effectsError?: unknown;
  readonly callId: string | undefined;
  /** The id of the call in which a program makes this one; absent for any other. */
  readonly within?: string | undefined;
  readonly labels: ToolLabels | undefined;
  readonly signal: AbortSignal | undefined;
}

/** `true` allows; `false` denies; a string, or `deny`, denies with that reason and these details; `ask` lets the user decide. Anything else denies. */
export type GuardDecision =
  | boolean
  | string
  | { readonly ask: string | ApprovalQuestion }
  | { readonly deny: string; readonly details?: DenialDetails; readonly recoverable?: boolean };

/** Decides whether a call may run, right before it would start. A throw denies. */
export type Guard = (call: GuardedCall) => GuardDecision | Promise<GuardDecision>;

/** The answer of `ToolRegistry.check`. */
export type CheckResult = { readonly ok: true } | { readonly ok: false; readonly error: ToolError };

/** One call on its way through the middleware. */
export interface ToolCall {
  readonly name: string;
  /** Already repaired; as the caller gave them where the tool is unknown; `{}` where they cannot be read as an object. */
  readonly args: Record<string, unknown>;
  readonly signal: AbortSignal | undefined;
  readonly callId: string | undefined;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
  readonly labels: ToolLabels | undefined;
  /** The id of the call in which a program makes this one (`ExecuteOptions.within`). */
  readonly within?: string | undefined;
  /** The registered tool, for its traits; undefined for an unknown name. */
  readonly tool: ExecutableTool | undefined;
  /**
   * Set when the call is already known to be refused (unknown, disabled, invalid arguments). It stays refused until a middleware passes on
   * other arguments, which are checked anew, or takes the refusal off: `next({ ...call, args, refusal: undefined })`.
   */
  readonly refusal: ToolError | undefined;
  /**
   * For a middleware that must act when the call is certain to run: after every guard and every answer of the user, right before the
   * tool, which waits for it. It gets the arguments that the tool will get; a throw ends the call. Pass it on by
   * `next({ ...call, beforeRun })`, and call one that is already there.
   */
  readonly beforeRun?: ((args: Readonly<Record<string, unknown>>) => void | Promise<void>) | undefined;
}

/**
 * Wraps every execution: `next()` runs the rest; `next(changed)` runs it with another call. A string returned
 * counts as a successful output; a throw becomes an error outcome.
 */
export type Middleware = (
  call: ToolCall,
  next: (call?: ToolCall) => Promise<ToolOutcome>,
) => Promise<ToolOutcome | string>;

/** One row of `ToolRegistry.listTools()`. */
export interface ToolListing extends ToolTraits {
  name: string;
  description: string;
  parameters: JsonSchema;
  outputSchema?: JsonSchema;
  enabled: boolean;
  /** Only there, and true, for a tool that an agent shows once it is found. */
  deferred?: boolean;
  /** Only there for a tool that says who may call it. */
  callers?: readonly ToolCallerKind[];
  /** The source of the tool; `own` unless its maker says. */
  origin: string;
  /** Unconfirmed claims of its source about it. */
  hints?: ToolTraits;
}

/**
 * The methods of a ToolRegistry, by shape: functions take this, so that a registry of another installed version of this package fits too.
 * Each method is described at `ToolRegistry`.
 */
export interface AnyToolRegistry {
  register(...tools: ExecutableTool[]): void;
  unregister(name: string): void;
  enable(name: string): boolean;
  disable(name: string): boolean;
  get(name: string): ExecutableTool | undefined;
  hasTool(name: string): boolean;
  getToolNames(): string[];
  isToolEnabled(name: string): boolean;
  listTools(): ToolListing[];
  getEnabledSchemas(): ChatTool[];
  use(middleware: Middleware): AnyToolRegistry;
  guard(decide: Guard): AnyToolRegistry;
  onChange(listener: () => void): () => void;
  clone(): AnyToolRegistry;
  check(name: string, args?: unknown, options?: ExecuteOptions): Promise<CheckResult>;
  execute(name: string, args?: unknown, options?: ExecuteOptions): Promise<string>;
  invoke(name: string, args?: unknown, options?: ExecuteOptions): Promise<ToolOutcome>;
}
