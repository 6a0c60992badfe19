import { callsOf } from "../conversation/conversation.ts";
import type { AssistantMessage, Message, Usage } from "../messages.ts";

/** The step that just ended; the results of its calls are the last of `messages`. */
export interface StepState {
  readonly step: number;
  readonly reply: AssistantMessage;
  readonly messages: readonly Message[];
  /** Of the session so far. */
  readonly usage: Usage;
}

/** Called after each step whose calls have run; true ends the turn with `stop`. */
export type StopCondition = (state: StepState) => boolean;

/** Returns true once the model has called this tool. */
export function calledTool(name: string): StopCondition {
  return ({ reply }) => callsOf(reply).some((call) => call.name === name);
}

/** Returns true once the session has used this many tokens, input and output. */
export function usedTokens(limit: number): StopCondition {
  return ({ usage }) => usage.inputTokens + usage.outputTokens >= limit;
}

/** Returns true when one of the conditions is. */
export function anyOf(...conditions: readonly StopCondition[]): StopCondition {
  return (state) => conditions.some((condition) => condition(state));
}
