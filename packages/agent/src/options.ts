import {
  type AnyToolRegistry,
  type Approve,
  checkOptions,
  type KnownOptions,
  type ToolContext,
  type ToolLabels,
} from "@toolcrib/core";
import { clip, messageOf } from "@toolcrib/core/text";
import { AgentError } from "./errors.ts";
import type { ImageBlock, TextBlock } from "./messages.ts";
import type { Provider, ToolChoice } from "./provider.ts";
import type { ModelPrice } from "./providers/shared/models.ts";
import { defaultRequestLimits } from "./requestClock.ts";
import type { LoopLimits } from "./turn/loopState.ts";
import type { StepRunner } from "./turn/recordedSteps.ts";
import type { CompactionOptions } from "./turn/shrinkMessages.ts";
import type { StopCondition } from "./turn/stopConditions.ts";

/** A user's message: text, or text and pictures. */
export type UserContent = string | readonly (TextBlock | ImageBlock)[];

/** Options of one turn. */
export interface ChatOptions {
  readonly signal?: AbortSignal | undefined;
  /** The tools of this turn alone. Default: the agent's. */
  readonly tools?: AnyToolRegistry;
  /** Handed to every tool call of this turn. */
  readonly labels?: ToolLabels | undefined;
  /** For the first request of the turn only: with a choice for each request the turn would never end. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Called after each step whose calls have run; true ends the turn with `stop`. */
  readonly stopWhen?: StopCondition | undefined;
  /** Answers the questions of guards in place, one at a time. Without it a question ends the turn with `approval`. */
  readonly approve?: Approve | undefined;
}

/** Options of a turn that goes on after answers. */
export type ApproveOptions = Omit<ChatOptions, "toolChoice">;

/** Options of an Agent; all have defaults. */
export interface AgentOptions extends Partial<LoopLimits> {
  /** The tools as they are, or a function that makes them for the agent's context. Default: `save_session_context` alone. */
  readonly tools?: AnyToolRegistry | ((context: ToolContext) => AnyToolRegistry);
  readonly systemPrompt?: string | undefined;
  /** Where `save_session_context` writes. Default: `.toolcrib/session.json` in the working directory. */
  readonly sessionContextFilePath?: string | undefined;
  /** How a long conversation is shortened. Default: it is not. */
  readonly compaction?: CompactionOptions | undefined;
  /** Runs each reply of the model and each call as a step that may be recorded. Default: they run as they are. */
  readonly steps?: StepRunner | undefined;
  /** A file to which the session is written as it grows, for `Agent.resume`, also after a crash. Must not exist yet. */
  readonly journal?: string | undefined;
  /** Called once when the journal cannot be written; the session then continues without it. Default: the turn throws. */
  readonly onJournalError?: ((error: AgentError) => void) | undefined;
  /** A name for the journal, for listings. */
  readonly sessionName?: string | undefined;
}

export const defaultSessionFile = ".toolcrib/session.json";

const defaultLimits: LoopLimits = {
  maxSteps: 50,
  maxToolResultBytes: 256 * 1024,
  attempts: 5,
  baseDelayMs: 500,
  maxDelayMs: 60_000,
  ...defaultRequestLimits,
};

const knownOptions: KnownOptions<AgentOptions> = {
  tools: true,
  systemPrompt: true,
  sessionContextFilePath: true,
  compaction: true,
  steps: true,
  journal: true,
  onJournalError: true,
  sessionName: true,
  maxSteps: true,
  maxToolResultBytes: true,
  attempts: true,
  baseDelayMs: true,
  maxDelayMs: true,
  requestTimeoutMs: true,
  idleTimeoutMs: true,
};

const knownChatOptions: KnownOptions<ChatOptions> = {
  signal: true,
  tools: true,
  labels: true,
  toolChoice: true,
  stopWhen: true,
  approve: true,
};

/** Throws `invalid_option` for unknown or invalid options of an Agent. */
export function checkAgentOptions(options: AgentOptions): void {
  refuseUnknown("Agent", options, knownOptions);
  refuseMissingTools(options);
  checkKind("systemPrompt", options.systemPrompt, "string");
  checkKind("onJournalError", options.onJournalError, "function");
  for (const name of ["sessionContextFilePath", "journal", "sessionName"] as const) {
    checkKind(name, options[name], "string");
    if (options[name] === "") throw invalidOption(`${name} must not be empty; leave it out for none.`);
  }
  if (options.steps !== undefined && typeof options.steps?.run !== "function")
    throw invalidOption("steps must be an object with run(name, fn), which calls fn or resolves to what is recorded.");
  if (options.compaction === undefined) return;
  const known = { contextWindow: true, startAt: true, target: true, keepResults: true } as const;
  refuseUnknown<CompactionOptions>("compaction", options.compaction, known);
  checkCompaction(options.compaction);
}

function checkCompaction({ contextWindow, startAt, target, keepResults }: CompactionOptions): void {
  checkLimit("compaction.contextWindow", contextWindow, "none");
  for (const [name, share] of Object.entries({ startAt, target }))
    if (share !== undefined && !(typeof share === "number" && share > 0 && share <= 1))
      throw invalidOption(`compaction.${name} must be a share above 0 and up to 1, received ${shown(share)}.`);
  if (startAt !== undefined && target !== undefined && target >= startAt)
    throw invalidOption(`compaction.target must be below startAt, received ${target} and ${startAt}.`);
  if (keepResults !== undefined && !(Number.isInteger(keepResults) && keepResults >= 0))
    throw invalidOption(`compaction.keepResults must be a whole number, 0 or more, received ${shown(keepResults)}.`);
}

/** Throws `invalid_option` for what is no plain object. Spread, it would count as no options. */
export function checkPlainOptions(options: AgentOptions): void {
  const own = Object.fromEntries(Object.keys(Object(options)).map((name) => [name, true]));
  refuseUnknown<object>("Agent", options, { ...knownOptions, ...own });
}

/** Throws `invalid_option` for a value of another kind; undefined counts as left out. */
export function checkKind(name: string, value: unknown, kind: "string" | "boolean" | "function" | "object"): void {
  if (value === undefined || (typeof value === kind && value !== null)) return;
  const article = kind === "object" ? "an" : "a";
  const received = value === null ? "null" : Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
  throw invalidOption(`${name} must be ${article} ${kind}, received ${received}; leave it out for the default.`);
}

/** Throws `invalid_option` for unknown or invalid options of a turn. */
export function checkChatOptions(options: ChatOptions): void {
  refuseUnknown("chat", options, knownChatOptions);
  checkTurnOptions(options);
  const { toolChoice = "auto" } = options;
  const choices: readonly unknown[] = ["auto", "none", "required"];
  if (!choices.includes(toolChoice) && typeof (toolChoice as { name?: unknown } | null)?.name !== "string")
    throw invalidOption('toolChoice is "auto", "none", "required" or { name } with the name of a tool.');
}

/** The same of a turn that goes on after answers. */
export function checkApproveOptions(options: ApproveOptions): void {
  const { toolChoice: _, ...known } = knownChatOptions;
  refuseUnknown("approve", options, known);
  checkTurnOptions(options);
}

function checkTurnOptions(options: ApproveOptions): void {
  refuseMissingTools(options);
  if ("tools" in options) checkedTools(options.tools as AnyToolRegistry);
  checkKind("approve", options.approve, "function");
  checkKind("stopWhen", options.stopWhen, "function");
  checkKind("labels", options.labels, "object");
  const { signal } = options;
  if (signal !== undefined && typeof signal?.addEventListener !== "function")
    throw invalidOption("signal must be an AbortSignal: pass the signal of an AbortController.");
}

/** Throws `invalid_option` for an unknown name; the message suggests the nearest known one. */
export function refuseUnknown<Options extends object>(
  owner: string,
  options: Options,
  known: KnownOptions<NoInfer<Options>>,
): void {
  try {
    checkOptions(owner, options, known);
  } catch (cause) {
    throw new AgentError({ code: "invalid_option", message: `${messageOf(cause)}.`, cause });
  }
}

/** With `tools: undefined` by mistake, the default tools would silently take their place. */
function refuseMissingTools(options: { readonly tools?: unknown }): void {
  if ("tools" in options && options.tools === undefined)
    throw invalidOption("tools is given as undefined; pass a ToolRegistry, or leave tools out for the default.");
}

/** The limits with their defaults; throws `invalid_option` for one that is not above 0. */
export function limitsOf(options: AgentOptions): LoopLimits {
  const names = Object.keys(defaultLimits) as (keyof LoopLimits)[];
  return Object.fromEntries(
    names.map((name) => {
      const value = options[name] ?? defaultLimits[name];
      checkLimit(name, value, String(defaultLimits[name]));
      return [name, value];
    }),
  ) as unknown as LoopLimits;
}

/** Throws `invalid_option` unless the value is a number above 0; `otherwise` says what holds when it is left out. */
export function checkLimit(name: string, value: unknown, otherwise: string): void {
  if (typeof value === "number" && value > 0) return;
  throw invalidOption(`${name} must be a number above 0, received ${shown(value)}; leave it out for ${otherwise}.`);
}

/** Throws `invalid_option` unless the rates are numbers, 0 or more. */
export function checkPrice(price: ModelPrice | undefined): void {
  if (price === undefined) return;
  checkKind("price", price, "object");
  const known = { input: true, output: true, cacheRead: true, cacheWrite: true } as const;
  refuseUnknown<ModelPrice>("price", price, known);
  const { input, output, cacheRead = 0, cacheWrite = 0 } = price;
  for (const [name, rate] of Object.entries({ input, output, cacheRead, cacheWrite }))
    if (!(typeof rate === "number" && rate >= 0 && rate < Number.POSITIVE_INFINITY))
      throw invalidOption(`price.${name} must be dollars per million tokens, 0 or more, received ${shown(rate)}.`);
}

function shown(value: unknown): string {
  return clip(typeof value === "string" ? JSON.stringify(value) : String(value), 80);
}

/** Throws `invalid_option` unless given a Provider instance; a class is a common mistake. */
export function checkProvider(provider: Provider): void {
  if (typeof (provider as Partial<Provider> | undefined)?.send === "function") return;
  const example = 'as in new Agent(new OfflineProvider()) with the OfflineProvider of "@toolcrib/agent/offline"';
  throw invalidOption(`An Agent needs a provider, an object with name, model and send(request), ${example}.`);
}

/** Throws `invalid_option` unless the tools are a registry. */
export function checkedTools(tools: AnyToolRegistry): AnyToolRegistry {
  if (typeof (tools as Partial<AnyToolRegistry> | undefined)?.getEnabledSchemas === "function") return tools;
  throw invalidOption(
    "tools must be a ToolRegistry, or a function of the context that returns one: register tools in it.",
  );
}

function invalidOption(message: string): AgentError {
  return new AgentError({ code: "invalid_option", message });
}
