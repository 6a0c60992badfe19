import { type CostLimit, createCostLimit, type Provider } from "@toolcrib/agent";
import { modelPrice } from "@toolcrib/agent/models";
import { longestDelayMs } from "@toolcrib/core/internal";
import { CliError, usageError } from "../../exitReasons.ts";

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Milliseconds of `90s` or `5m`. Throws a usage error. */
export function duration(value: string): number {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(value) ?? [];
  const ms = Number(amount) * units[unit as keyof typeof units];
  if (ms >= 1 && ms <= longestDelayMs) return ms;
  throw usageError(`--timeout ${value}: expected a number with a unit, such as 90s, 5m or 2h, at most 596h`);
}

/** Throws a usage error. */
export function dollars(value: string): number {
  if (/^\d{1,9}(?:\.\d+)?$/.test(value) && Number(value) > 0) return Number(value);
  throw usageError(`--max-cost ${value}: expected dollars above 0, such as 0.50`);
}

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

/** Nothing without `--max-cost`. Throws a usage error for a model whose replies will not say what they cost. */
export function costLimit(most: number | undefined, provider: Provider): CostLimit | undefined {
  if (most === undefined) return undefined;
  // OpenRouter says what each reply has cost, and the stand-in is free.
  if (/^(?:openrouter|offline)$/.test(provider.name) || modelPrice(provider)) return createCostLimit(most, provider);
  throw usageError(
    `--max-cost: the price of ${provider.name}/${provider.model} is not known; use --max-steps or --timeout`,
  );
}
