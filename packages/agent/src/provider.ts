import type { ChatTool, JsonSchema } from "@toolcrib/core";
import type { AssistantMessage, Message, StopReason, TextPhase, ThinkingDropped, Usage } from "./messages.ts";

/** The prompt and the tools of a request. That of a conversation's first request is its opening. */
export interface Opening {
  readonly systemPrompt: string;
  readonly tools: readonly ChatTool[];
  readonly deferredTools?: readonly ChatTool[];
}

/** A later change of the prompt or the tools. */
export interface ConversationChange {
  /** The number of messages before it: the last of them is the user's or a tool's, and a reply follows it or nothing. */
  readonly position: number;
  /** The whole prompt from here on. */
  readonly systemPrompt?: string;
  /** New tools, and new schemas of known ones. */
  readonly addedTools?: readonly ChatTool[];
  /** The same of tools that stay hidden until `search_tools` finds them. */
  readonly deferredTools?: readonly ChatTool[];
  /** Names of tools that the model may not call from here on. */
  readonly removedTools?: readonly string[];
  /** Names of removed tools that it may call again, with the schema that it knows. */
  readonly offeredTools?: readonly string[];
}

/**
 * One request to a model. Messages never change, so a provider may map each once and keep the result. `systemPrompt` and `tools` are
 * those of this request. A provider that can keep the beginning of a conversation as it was sends `opening` instead, and the changes in
 * their places.
 */
export interface ModelRequest {
  readonly systemPrompt: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ChatTool[];
  /**
   * All deferred tools; `tools` has those of them that were found, last. For a service that can keep tools out of its prompt by
   * itself; other providers need not look at it.
   */
  readonly deferredTools?: readonly ChatTool[];
  /** The first request of this conversation; without it, this one is. */
  readonly opening?: Opening;
  /** The changes since then, in order. */
  readonly changes?: readonly ConversationChange[];
  readonly signal: AbortSignal;
  /** Set by the agent, which ends a silent or late request itself. Without it a provider keeps the time. */
  readonly isTimed?: boolean;
  /** The tool that the model may or must call; `auto` when absent. */
  readonly toolChoice?: ToolChoice;
  /** The schema of the answer in JSON, for a provider whose model `answersBy` it. */
  readonly answerSchema?: JsonSchema;
}

/** The abilities of a model. */
export interface Abilities {
  /** True if it can be made to call a tool. If not, a forced `toolChoice` is sent as `auto`. */
  readonly forcedTools: boolean;
  /** Returns whether its answer keeps to the schema by itself, beside tools. */
  answersBy(schema: JsonSchema): boolean;
}

/** `required`: some tool; `{ name }`: this one. */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** An event that a provider yields: deltas in order, then exactly one `reply`, last. */
export type ProviderEvent =
  /** Bytes arrived that show nothing; resets the idle limit. `isContent`: a part of the reply, such as arguments of a call, and no ping. */
  | { readonly type: "activity"; readonly isContent?: true }
  | { readonly type: "text-delta"; readonly text: string; readonly phase?: TextPhase }
  | { readonly type: "reasoning-delta"; readonly text: string; readonly isNote?: true }
  | ThinkingDropped
  | {
      readonly type: "reply";
      readonly message: AssistantMessage;
      readonly stop: StopReason;
      /** The service's words about a stop other than an answer. */
      readonly detail?: string;
      /** The provider itself says that it could not do what was asked; a model leaves that to its text. */
      readonly failed?: true;
      readonly usage?: Usage;
    };

export type ReplyEvent = Extract<ProviderEvent, { type: "reply" }>;

/**
 * A model behind a wire format. `send` makes one attempt, never retries and never runs a tool; it throws an
 * `AgentError` on failure. Streaming or not, it yields the same events.
 */
export interface Provider {
  /** Lower-case: `openai`, `anthropic`, `openrouter`, `openai-compatible`, `offline`. */
  readonly name: string;
  readonly model: string;
  /** Default: it can be made to call a tool, and an answer by a schema comes as such a call. */
  readonly abilities?: Abilities | undefined;
  send(request: ModelRequest): AsyncIterable<ProviderEvent>;
}
