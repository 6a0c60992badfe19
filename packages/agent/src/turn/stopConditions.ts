import { callsOf } from "../conversation/conversation.ts";
import type { AgentEvent, AssistantMessage, Message, Usage } from "../messages.ts";

/** The step that just ended; the results of its calls are the last of `messages`. */
export interface StepState {
  readonly step: number;
  readonly reply: AssistantMessage;
  readonly messages: readonly Message[];
  /** Of the session so far. */
  readonly usage: Usage;
}

/** Called after each step whose calls have run; true ends the turn with `stop`. */
export interface StopCondition {
  (state: StepState): boolean;
  /** Is shown each event of the turn, before the caller is. */
  see?(event: AgentEvent): void;
  /** Is told what a reply of an agent within a running call has used, before the event of the call says so. True ends that agent. */
  seeInner?(usage: Usage, callId: string): boolean;
}

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
  const any: StopCondition = (state) => conditions.some((condition) => condition(state));
  any.see = (event) => {
    for (const condition of conditions) condition.see?.(event);
  };
  any.seeInner = (usage, callId) =>
    conditions.map((condition) => condition.seeInner?.(usage, callId) === true).includes(true);
  return any;
}
