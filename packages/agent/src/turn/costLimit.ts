import type { Guard } from "@toolcrib/core";
import type { AgentEvent, Usage } from "../messages.ts";
import type { Provider } from "../provider.ts";
import { costOf } from "../providers/models/cost.ts";
import { modelPrice } from "../providers/models/models.ts";
import type { StopCondition } from "./stopConditions.ts";

/** A condition for `stopWhen`, of one turn or of several. */
export interface CostLimit extends StopCondition {
  /** Counts what an event says was used. The agent calls it. */
  see(event: AgentEvent): void;
  seeInner(usage: Usage, callId: string): boolean;
  /**
   * Denies calls once the limit is reached, for the registry of the turn. Without it the calls of the last reply run, and of an agent among them
   * one reply.
   */
  readonly guard: Guard;
  /** The reason why a turn has ended, if this condition has ended one. */
  readonly reached: "cost-limit" | "cost-unknown" | undefined;
}

/**
 * Creates a condition that ends a turn (with `stop`) after a reply with which its replies have cost `dollars`, or one whose cost is unknown. The
 * stand-in costs nothing. Throws a RangeError unless `dollars` is a number above 0.
 */
export function createCostLimit(dollars: number, provider: Pick<Provider, "name" | "model">): CostLimit {
  if (!(Number.isFinite(dollars) && dollars > 0))
    throw new RangeError(`createCostLimit: dollars must be a number above 0, received ${String(dollars)}`);
  let spent = 0;
  let isKnown = true;
  let reached: CostLimit["reached"];
  const now = (): CostLimit["reached"] => (isKnown ? (spent >= dollars ? "cost-limit" : undefined) : "cost-unknown");
  const limit = (): boolean => {
    reached = now();
    return reached !== undefined;
  };
  /** The calls whose agents were counted while they ran. A recorded call does not run again. */
  const counted = new Set<string>();
  const countInner = ({ cost }: Usage): void => {
    // The price of an agent within a call is not that of this provider.
    isKnown &&= cost !== undefined;
    spent += Math.max(0, cost ?? 0);
  };
  const seeInner = (usage: Usage, callId: string): boolean => {
    counted.add(callId);
    countInner(usage);
    return now() !== undefined;
  };
  const see = (event: AgentEvent): void => {
    // A service may leave out what a reply has used.
    if (event.type === "step-start") isKnown = provider.name === "offline";
    if (event.type !== "usage") return;
    if (event.callId !== undefined) {
      if (!counted.delete(event.callId)) countInner(event.usage);
      return;
    }
    const cost = event.usage.cost ?? costOf(event.usage, modelPrice(provider));
    isKnown = cost !== undefined;
    spent += Math.max(0, cost ?? 0);
  };
  const guard: Guard = () => now() === undefined || "the limit of costs is reached";
  const made = Object.assign(limit, { see, seeInner, guard, reached });
  return Object.defineProperty(made, "reached", { get: () => reached });
}
