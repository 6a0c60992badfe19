import type { AnyToolRegistry, Approve, JsonSchema, ToolContext, ToolLabels } from "@toolcrib/core";
import {
  type DefaultedSpec,
  isPlainObject,
  type OptionSpec,
  type OptionSpecs,
  option,
  type ReadOptions,
  readOptions,
  withDefault,
} from "@toolcrib/core/internal";
import { isObject, messageOf } from "@toolcrib/core/text";
import type { Answers } from "./conversation/state.ts";
import { AgentError, invalidOption } from "./errors.ts";
import type { ImageBlock, PendingCall, TextBlock } from "./messages.ts";
import type { Provider, ToolChoice } from "./provider.ts";
import { defaultRequestLimits } from "./requestClock.ts";
import type { CompactionOptions, LoopLimits } from "./turn/loopState.ts";
import type { RepeatOptions } from "./turn/repeats.ts";
import type { StepRunner } from "./turn/steps.ts";
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
  /** The schema of the answer in JSON, where the provider's model answers by it. See `createObjectAnswer`, which makes it. */
  readonly answerSchema?: JsonSchema | undefined;
  /** Called after each step whose calls have run; true ends the turn with `stop`. */
  readonly stopWhen?: StopCondition | undefined;
  /** Answers the questions of guards while the turn runs, one at a time: `onQuestions` for one call. Without either a question ends the turn. */
  readonly approve?: Approve | undefined;
  /**
   * Called where the turn would end with `approval`, once the calls that wait are recorded. The turn goes on with its answers, by the id
   * of the call: these calls run again, with the middleware around them. Without any answer it ends.
   */
  readonly onQuestions?: ((pending: readonly PendingCall[]) => Promise<Answers | undefined>) | undefined;
}

/** Options of a turn that goes on after answers. */
export type ApproveOptions = Omit<ChatOptions, "toolChoice">;

/** Options of an Agent; all have defaults. */
export interface AgentOptions extends Partial<LoopLimits> {
  /** The tools as they are, or a function that makes them for the agent's context. Default: `save_session_context` alone. */
  readonly tools?: AnyToolRegistry | ((context: ToolContext) => AnyToolRegistry);
  readonly systemPrompt?: string | undefined;
  /** The file that `save_session_context` writes. Default: `.toolcrib/session.json` in the working directory. */
  readonly sessionContextFilePath?: string | undefined;
  /** The way to shorten a long conversation. Default: none. */
  readonly compaction?: CompactionOptions | undefined;
  /** Refuses calls that go in circles, and ends the turn with the reason `stuck` when the model does not leave them. Default: off. */
  readonly stopRepeats?: RepeatOptions | undefined;
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

const isRegistry = (value: unknown): boolean => option.withMethods("getEnabledSchemas").fits(value);
/** Undefined by mistake must not mean the default tools. */
const tools: OptionSpec = { expected: "a ToolRegistry: register tools in it", fits: isRegistry, needed: "if written" };

const positive = (value: number): DefaultedSpec<number> => withDefault(option.positive, value);

function timesFrom(least: number): OptionSpec {
  const fits = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= least;
  return { expected: `a whole number from ${least}`, fits, isShown: true };
}

const agentSpecs = {
  tools: {
    ...tools,
    expected: "a ToolRegistry, or a function of the context that returns one",
    fits: (value) => typeof value === "function" || isRegistry(value),
  },
  systemPrompt: option.text,
  sessionContextFilePath: option.name,
  compaction: option.group<CompactionOptions>({
    contextWindow: { ...option.positive, needed: "always" },
    startAt: {
      expected: "a share above 0 and up to 1",
      fits: (value) => typeof value === "number" && value > 0 && value <= 1,
      isShown: true,
    },
  }),
  stopRepeats: option.group<RepeatOptions>({ same: timesFrom(2), limit: timesFrom(1) }),
  steps: {
    ...option.withMethods("run"),
    expected: "an object with run(name, fn), which calls fn or resolves to its recorded result",
  },
  journal: option.name,
  onJournalError: option.call,
  sessionName: option.name,
  maxSteps: positive(50),
  maxToolResultBytes: positive(256 * 1024),
  attempts: positive(5),
  baseDelayMs: positive(500),
  maxDelayMs: positive(60_000),
  requestTimeoutMs: positive(defaultRequestLimits.requestTimeoutMs),
  idleTimeoutMs: positive(defaultRequestLimits.idleTimeoutMs),
  contentTimeoutMs: positive(defaultRequestLimits.contentTimeoutMs),
} satisfies OptionSpecs<AgentOptions>;

const approveSpecs = {
  signal: { ...option.signal, expected: "an AbortSignal: pass the signal of an AbortController" },
  tools,
  labels: option.object,
  answerSchema: option.object,
  stopWhen: option.call,
  approve: option.call,
  onQuestions: option.call,
} satisfies OptionSpecs<ApproveOptions>;

const chatSpecs = {
  ...approveSpecs,
  toolChoice: {
    expected: '"auto", "none", "required" or { name } with the name of a tool',
    fits: (value) =>
      value === "auto" ||
      value === "none" ||
      value === "required" ||
      (isObject(value) && typeof value.name === "string"),
  },
} satisfies OptionSpecs<ChatOptions>;

/** Reads options by their specs, as `readOptions` does, but throws `invalid_option`. */
export function readAgentOptions<
  Options extends object,
  const Specs extends OptionSpecs<NoInfer<Options>> = OptionSpecs<Options>,
>(owner: string, given: Options, specs: Specs): ReadOptions<Options, Specs> {
  try {
    return readOptions(owner, given, specs);
  } catch (cause) {
    throw new AgentError({ code: "invalid_option", message: `${messageOf(cause)}.`, cause });
  }
}

export function optionsOf(options: AgentOptions): AgentOptions & LoopLimits {
  return readAgentOptions("Agent", options, agentSpecs);
}

/** Throws `invalid_option` for what is no plain object. Spread, it would count as no options. A subclass may have more of them. */
export function checkPlainOptions(options: AgentOptions): void {
  if (!isPlainObject(options)) optionsOf(options);
}

/** Throws `invalid_option` for unknown or invalid options of a turn. */
export function checkChatOptions(options: ChatOptions): void {
  readAgentOptions("chat", options, chatSpecs);
}

export function checkApproveOptions(options: ApproveOptions): void {
  readAgentOptions("approve", options, approveSpecs);
}

/** Throws `invalid_option` unless given a Provider instance; a class is a common mistake. */
export function checkProvider(provider: Provider): void {
  if (option.withMethods("send").fits(provider)) return;
  const example = 'as in new Agent(new OfflineProvider()) with the OfflineProvider of "@toolcrib/agent/offline"';
  throw invalidOption(`An Agent needs a provider, an object with name, model and send(request), ${example}.`);
}

/** Throws `invalid_option` unless the function of the option `tools` has returned a registry. */
export function checkedTools(made: AnyToolRegistry): AnyToolRegistry {
  if (isRegistry(made)) return made;
  throw invalidOption("tools must be a ToolRegistry, or a function of the context that returns one.");
}
