import { type CostLimit, createCostLimit, type Provider } from "@toolcrib/agent";
import { modelPrice } from "@toolcrib/agent/models";
import { CliError, usageError } from "../../exitReasons.ts";

interface TimeLimit {
  /** Fires when the time is over. */
  readonly signal: AbortSignal;
  /** Rejects when the time is over before `work` is done. */
  during<Result>(work: Promise<Result>): Promise<Result>;
}

/** Starts the clock; undefined stands for no limit. */
export function startTimeLimit(ms: number | undefined): TimeLimit {
  const over = new AbortController();
  if (ms !== undefined) setTimeout(() => over.abort(new Error("The time is over")), ms);
  const { signal } = over;
  const expired = new Promise<never>((_resolve, reject) => {
    const tooEarly = "the time limit was reached before the model was asked; raise --timeout";
    signal.addEventListener("abort", () => reject(new CliError("limit", tooEarly)), { once: true });
  });
  // It may come when nothing waits for it.
  expired.catch(() => {});
  return { signal, during: (work) => Promise.race([work, expired]) };
}

/** Makes the limit of `--max-cost`; undefined without it. Throws a usage error for a model whose replies will not say what they cost. */
export function costLimit(most: number | undefined, provider: Provider): CostLimit | undefined {
  if (most === undefined) return undefined;
  // OpenRouter says what each reply has cost, and the stand-in is free.
  if (/^(?:openrouter|offline)$/.test(provider.name) || modelPrice(provider)) return createCostLimit(most, provider);
  throw usageError(
    `--max-cost: the price of ${provider.name}/${provider.model} is not known; use --max-steps or --timeout`,
  );
}
