import type { Guard } from "@toolcrib/core";
import type { AgentEvent } from "../messages.ts";
import type { Provider } from "../provider.ts";
import { costOf } from "../providers/models/cost.ts";
import { modelPrice } from "../providers/models/models.ts";
import type { StopCondition } from "./stopConditions.ts";

export interface CostLimit {
  /** Is shown every event of the turns that it is for. */
  see(event: AgentEvent): void;
  readonly stopWhen: StopCondition;
  /**
   * Denies calls once the limit is reached, for the registry of the turn. Without it the calls of the last reply run, and an agent among them
   * may cost much more.
   */
  readonly guard: Guard;
  /** The reason why `stopWhen` has ended a turn, if it has. */
  readonly reached: "cost-limit" | "cost-unknown" | undefined;
}

/**
 * Ends a turn (with `stop`) after a reply with which its replies have cost `dollars`, or one whose cost is unknown. The
 * stand-in costs nothing.
 */
export function createCostLimit(dollars: number, provider: Pick<Provider, "name" | "model">): CostLimit {
  let spent = 0;
  let isKnown = true;
  let reached: CostLimit["reached"];
  const state = (): CostLimit["reached"] => (isKnown ? (spent >= dollars ? "cost-limit" : undefined) : "cost-unknown");
  return {
    see(event) {
      // A service may leave out what a reply has used.
      if (event.type === "step-start") isKnown = provider.name === "offline";
      if (event.type !== "usage") return;
      const own = event.callId === undefined ? costOf(event.usage, modelPrice(provider)) : undefined;
      const cost = event.usage.cost ?? own;
      // The price of an agent within a call is not that of this provider.
      isKnown = event.callId === undefined ? cost !== undefined : isKnown && event.usage.cost !== undefined;
      spent += cost ?? 0;
    },
    stopWhen() {
      reached = state();
      return reached !== undefined;
    },
    guard: () => state() === undefined || "the limit of costs is reached",
    get reached() {
      return reached;
    },
  };
}
