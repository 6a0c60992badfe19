import type { History } from "../conversation/history.ts";
import { AgentError } from "../errors.ts";
import type { Provider } from "../provider.ts";
import type { RequestLimits } from "../requestClock.ts";
import type { RepeatOptions } from "./repeats.ts";
import type { RetryLimits } from "./requestReply.ts";
import type { Steps } from "./steps.ts";
import type { ToolRunner } from "./toolCalls.ts";

/** The limits of a turn; times in milliseconds. */
export interface LoopLimits extends RetryLimits, RequestLimits {
  /** Replies of the model in one turn. */
  readonly maxSteps: number;
  /** Bytes of text that one tool result brings into the conversation; the rest is cut and said so. */
  readonly maxToolResultBytes: number;
}

/** The limits beyond which a conversation begins anew with a summary by the model. */
export interface CompactionOptions {
  /** Tokens that the model can take. */
  readonly contextWindow: number;
  /** Compaction starts once the service reports a context of this share of the window. Default 0.8. */
  readonly startAt?: number | undefined;
}

export interface LoopState {
  readonly provider: Provider;
  readonly tools: ToolRunner;
  readonly history: History;
  readonly limits: LoopLimits;
  readonly compaction?: CompactionOptions | undefined;
  /** The window in tokens that the service has named, or has shown by what it took and refused. */
  window?: { readonly tokens: number; readonly isStated: boolean };
  readonly stopRepeats?: RepeatOptions | undefined;
  readonly steps: Steps;
  /** Messages given by `steer` that wait for the next step. */
  readonly steering: string[];
  systemPrompt: string;
  running: boolean;
}

export function busyError(): AgentError {
  return new AgentError({ code: "busy", message: "A turn is running; wait for its end or abort it." });
}

export function waitingError(): AgentError {
  const message = "Calls wait for an answer: answer with agent.approve, or send a message, which denies them.";
  return new AgentError({ code: "busy", message });
}
