import type { ChatTool } from "@toolcrib/core";
import type { AssistantMessage, Message, StopReason, Usage } from "./messages.ts";

/** One request to a model. Messages never change, so a provider may map each once and keep the result. */
export interface ModelRequest {
  readonly systemPrompt: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ChatTool[];
  /**
   * All deferred tools; `tools` has those of them that were found, last. For a service that can keep tools out of its prompt by
   * itself; other providers need not look at it.
   */
  readonly deferredTools?: readonly ChatTool[];
  readonly signal: AbortSignal;
  /** Set by the agent, which ends a silent or late request itself. Without it a provider keeps the time. */
  readonly isTimed?: boolean;
  /** Which tool the model may or must call; `auto` when absent. */
  readonly toolChoice?: ToolChoice;
}

/** `required`: some tool; `{ name }`: this one. */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** What a provider yields: deltas in order, then exactly one `reply`, last. */
export type ProviderEvent =
  /** Bytes arrived that show nothing (arguments of a call, a ping); resets the idle limit. */
  | { readonly type: "activity" }
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  | {
      readonly type: "reply";
      readonly message: AssistantMessage;
      readonly stop: StopReason;
      /** What the service said of a stop other than an answer. */
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
  send(request: ModelRequest): AsyncIterable<ProviderEvent>;
}
