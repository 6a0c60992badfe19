import type { AgentEvent, EndReason } from "@toolcrib/agent";
import { oneLine } from "@toolcrib/core/internal";
import type { ExitReason } from "../exitReasons.ts";

type AgentEnd = Extract<AgentEvent, { type: "end" }>;

/** The end of a turn; `run` has limits beside those of the agent. */
export type TurnEnd = Omit<AgentEnd, "reason"> & {
  readonly reason: EndReason | "time-limit" | "cost-limit" | "cost-unknown";
};

export function exitReasonOf(end: TurnEnd | undefined, denied: boolean): ExitReason {
  if (end?.failed && !denied) return "failed";
  if (end?.reason === "stop") return denied ? "denied" : "ok";
  if (end?.reason === "approval") return "denied";
  const isLimit = end?.reason.endsWith("-limit") || end?.reason === "cost-unknown" || end?.reason === "stuck";
  return isLimit ? "limit" : "failed";
}

/** Says why there is no whole answer, what to do next (in a chat, if there is one), and what the service said of it. */
export function whyNoAnswer(end: TurnEnd | undefined, isChat = false): string {
  const isProgram = end?.pending?.some(({ within }) => within !== undefined) ?? false;
  const detail = end?.detail && ` The service said: ${oneLine(end.detail, 300)}`;
  const [what, next, nextInChat = next] = (end && advice[end.reason]) ?? [
    "The turn ended without an answer",
    "try again",
  ];
  const advised = isChat ? nextInChat : isProgram ? next.replace("chat -c", "chat -c --programs") : next;
  return `${what}: ${advised}.${detail ?? ""}`;
}

type Advice = readonly [what: string, next: string, nextInChat?: string];

const goOn = "write what to do next";

const advice: Partial<Record<TurnEnd["reason"], Advice>> = {
  "step-limit": [
    "The step limit was reached before the answer",
    "continue with toolcrib run -c, or raise --max-steps",
    goOn,
  ],
  "time-limit": ["The time limit was reached before the answer", "continue with toolcrib run -c, or raise --timeout"],
  "cost-limit": ["The cost limit was reached before the answer", "continue with toolcrib run -c, or raise --max-cost"],
  "cost-unknown": [
    "The service did not say what the last reply used, so --max-cost cannot be checked",
    "continue with toolcrib run -c, without --max-cost",
  ],
  "token-limit": ["The answer was cut off at the model's limit for one reply", "go on with toolcrib run -c", goOn],
  "context-limit": [
    "The message is too long for this model, even without the conversation before it",
    "send less at once, or choose another model with -m",
    "send less at once, or choose another model with /model",
  ],
  approval: [
    "Calls that did not run wait for your answer",
    "toolcrib chat -c asks for it. A message instead of an answer is a no",
    "/answer asks for it. A message instead of an answer is a no",
  ],
  refusal: [
    "The model refused to answer",
    "ask in another way, or choose another with -m",
    "ask in another way, or choose another with /model",
  ],
  stuck: [
    "The model repeated calls that gave the same results",
    "continue with toolcrib run -c, and say what to do instead",
  ],
  "content-filter": ["The service's filter stopped the answer", "ask in another way"],
};
