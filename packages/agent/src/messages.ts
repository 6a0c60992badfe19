import type { ApprovalAnswer, ApprovalQuestion, ContentBlock, ToolEffect, ToolProgress } from "@toolcrib/core";

/**
 * Data that a provider must send back unchanged on the next request (reasoning items, thinking signatures, item ids). Only the provider
 * that wrote it reads it: `provider` is its name.
 */
export interface OpaqueData {
  readonly provider: string;
  readonly data: unknown;
}

/** The part of a reply that a text is: said on the way, or the answer itself. */
export type TextPhase = "commentary" | "final_answer";

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
  /** Set if the service tells it. */
  readonly phase?: TextPhase;
  readonly opaque?: OpaqueData;
}

/** The model's reasoning, as far as the service shows it; `text` may be empty. */
export interface ReasoningBlock {
  readonly type: "reasoning";
  readonly text: string;
  readonly opaque?: OpaqueData;
}

export interface ToolCallBlock {
  readonly type: "tool-call";
  /** In history unique and of the form `^[a-zA-Z0-9_-]{1,64}$`: the loop replaces other ids. This one goes on the wire, not one in `opaque`. */
  readonly id: string;
  readonly name: string;
  /** Always a JSON object; `{}` where the model's text was malformed. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Says what was wrong when the arguments did not arrive as a whole JSON object. */
  readonly malformed?: string;
  readonly opaque?: OpaqueData;
}

/** A picture: base64 `data` with its MIME type. */
export interface ImageBlock {
  readonly type: "image";
  readonly data: string;
  readonly mimeType: string;
}

export interface UserMessage {
  readonly role: "user";
  readonly content: readonly (TextBlock | ImageBlock)[];
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly (TextBlock | ReasoningBlock | ToolCallBlock)[];
  /** `provider/model` that wrote it. */
  readonly model?: string;
}

/** The one result of one tool call. */
export interface ToolMessage {
  readonly role: "tool";
  readonly callId: string;
  readonly name: string;
  readonly output: string;
  readonly isError: boolean;
  readonly content?: readonly ContentBlock[];
}

export type Message = UserMessage | AssistantMessage | ToolMessage;

/** Tokens of one reply, or summed over a session; `inputTokens` includes cached ones. Dollars for `cost`, where known. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Of one reply alone: those of `cacheWriteTokens` that were written for an hour. */
  readonly cacheWriteHourTokens?: number;
  readonly reasoningTokens: number;
  /** Of one reply alone: its price in terms of the usual one, where the service has served it faster, later or in a region of choice. */
  readonly priceTimes?: number;
  readonly cost?: number;
}

/** The reason for the end of a model's reply. `pause`: the service continues when it is sent the conversation again. */
export type StopReason =
  | "stop"
  | "tool-calls"
  | "token-limit"
  | "context-limit"
  | "refusal"
  | "content-filter"
  | "pause";

/** The reason for the end of a turn. */
export type EndReason =
  | "stop"
  | "step-limit"
  | "token-limit"
  | "context-limit"
  | "refusal"
  | "content-filter"
  | "stuck"
  | "approval";

/** A call that waits for an answer of the user. */
export interface PendingCall {
  readonly callId: string;
  readonly name: string;
  /** Those that would run: repaired, and as a middleware has left them. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Of a call within another: the effects that it would have, as its tool says; absent if it does not. */
  readonly effects?: readonly ToolEffect[];
  readonly question: ApprovalQuestion;
  /** An answer that was recorded before the process ended; the call has not started. */
  readonly answer?: ApprovalAnswer;
  /** The id of the call of the reply, a program's for example, that makes this one. */
  readonly within?: string;
}

/** The service left out earlier thinking, for instance since what stands before it is not what it was. The turn goes on without it. */
export interface ThinkingDropped {
  readonly type: "thinking-dropped";
  /** The number of blocks of this request. */
  readonly blocks: number;
  /** The service's word for it. */
  readonly reason: string;
}

/**
 * The reply ends in a call as text, which did not run. `not-enabled`: it would be one if the model's calls as text were read;
 * `not-offered`: there is no tool of that name; `not-whole`: it cannot be read; `in-line`: it has no token of its own and does not begin a line; `in-code`, `in-thinking`: the reply has nothing but that.
 */
export interface UnreadCall {
  readonly type: "unread-call";
  /** The name of the tool; empty if it cannot be read. */
  readonly name: string;
  readonly problem: "not-enabled" | "not-offered" | "not-whole" | "in-line" | "in-code" | "in-thinking";
  /** The same in a sentence. */
  readonly message: string;
}

/** An event of a running turn; they come in order. */
export type AgentEvent =
  /** A request to the model goes out; `step` counts from 1 in each turn. */
  | { readonly type: "step-start"; readonly step: number }
  /** A piece of the answer. `phase`: where the service tells whether it is the answer itself. */
  | { readonly type: "text-delta"; readonly text: string; readonly phase?: TextPhase }
  /** A piece of the model's reasoning. `isNote`: written for the user, on what the model does between calls. */
  | { readonly type: "reasoning-delta"; readonly text: string; readonly isNote?: true }
  /** A call is about to run (or to be answered as not run). */
  | {
      readonly type: "tool-call";
      readonly id: string;
      readonly name: string;
      readonly args: Record<string, unknown>;
      /** The id of the call, a program's for example, within which this one is made. */
      readonly within?: string;
    }
  /** A running tool reports. */
  | { readonly type: "tool-progress"; readonly id: string; readonly name: string; readonly progress: ToolProgress }
  /** The one result of a call. */
  | {
      readonly type: "tool-result";
      readonly id: string;
      readonly name: string;
      readonly output: string;
      readonly isError: boolean;
      readonly content?: readonly ContentBlock[];
      /** The content of the output, as a JSON value. It is in the journal too; no model ever gets it. */
      readonly data?: unknown;
      readonly within?: string;
    }
  /** A failed request is tried again. `discardText`: the text of this step shown so far does not count. */
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly message: string;
      readonly discardText: boolean;
      /** The message in two parts, where it ends in advice. */
      readonly remedy?: Remedy;
    }
  /** Earlier thinking was left out. */
  | ThinkingDropped
  /** A call that came as text did not run. */
  | UnreadCall
  /** Tokens of the reply that just ended, and of the session so far. `callId`: of the replies of an agent within that call. */
  | { readonly type: "usage"; readonly usage: Usage; readonly total: Usage; readonly callId?: string }
  /** A message given by `agent.steer` joins the conversation. */
  | { readonly type: "steering"; readonly text: string }
  /**
   * The conversation was shortened: it begins anew with a summary of so many messages, or without one. `leftOutMessages`: older ones, which are
   * in no summary. `cutMessages`: results of tools and long texts that were cut.
   */
  | {
      readonly type: "compaction";
      readonly summarisedMessages: number;
      readonly leftOutMessages?: number;
      readonly cutMessages?: number;
    }
  /**
   * The turn is over. `text` is the final answer and `detail` what the service said of the reason. `failed`: the provider
   * says that it could not do what was asked.
   */
  | {
      readonly type: "end";
      readonly reason: EndReason;
      readonly text: string;
      readonly detail?: string;
      readonly failed?: true;
      /** With the reason `approval`: the calls that wait for an answer. */
      readonly pending?: readonly PendingCall[];
    };

/** An option that would help; `variable` is the environment variable that sets it, too. */
export interface AdvisedOption {
  readonly option: "apiKey" | "baseURL" | "model" | "reasoning";
  readonly variable?: string | undefined;
}

/** An error's message in two parts, for programs that have flags in place of options. */
export interface Remedy {
  /** The message without the advice; empty where the advice says all. */
  readonly problem: string;
  readonly advice: readonly (string | AdvisedOption)[];
}
