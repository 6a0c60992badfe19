import type { AgentEvent, EndReason } from "@toolcrib/agent";
import type { ExitReason } from "../exitReasons.ts";
import { oneLine } from "../terminal/render.ts";

type AgentEnd = Extract<AgentEvent, { type: "end" }>;

/** How a turn ended; `run` has limits beside those of the agent. */
export type TurnEnd = Omit<AgentEnd, "reason"> & {
  readonly reason: EndReason | "time-limit" | "cost-limit" | "cost-unknown";
};

export function exitReasonOf(end: TurnEnd | undefined, denied: boolean): ExitReason {
  if (end?.failed && !denied) return "failed";
  switch (end?.reason) {
    case "stop":
      return denied ? "denied" : "ok";
    case "step-limit":
    case "token-limit":
    case "context-limit":
    case "time-limit":
    case "cost-limit":
    case "cost-unknown":
      return "limit";
    case "approval":
      return "denied";
    default:
      return "failed";
  }
}

/** Why there is no whole answer, what to do next, and what the service said of it. */
export function whyNoAnswer(end: TurnEnd | undefined): string {
  const detail = end?.detail && ` The service said: ${oneLine(end.detail, 300)}`;
  return `${adviceFor(end?.reason)}${detail ?? ""}`;
}

function adviceFor(reason: TurnEnd["reason"] | undefined): string {
  switch (reason) {
    case "step-limit":
      return "The step limit was reached before the answer: go on with toolcrib run -c, or raise --max-steps.";
    case "time-limit":
      return "The time limit was reached before the answer: go on with toolcrib run -c, or raise --timeout.";
    case "cost-limit":
      return "The cost limit was reached before the answer: go on with toolcrib run -c, or raise --max-cost.";
    case "cost-unknown":
      return "The service did not say what the last reply used, so --max-cost cannot be kept: go on with toolcrib run -c and without it.";
    case "token-limit":
      return "The answer was cut off at the model's limit for one reply: go on with toolcrib run -c.";
    case "context-limit":
      return "The conversation is too long for this model: begin a new one, or choose another with -m.";
    case "approval":
      return "What was not run waits for your answer: toolcrib chat -c asks for it. A message instead of an answer is a no.";
    case "refusal":
      return "The model refused to answer: ask in another way, or choose another with -m.";
    case "content-filter":
      return "The service's filter stopped the answer: ask in another way.";
    default:
      return "The turn ended without an answer: try again.";
  }
}
