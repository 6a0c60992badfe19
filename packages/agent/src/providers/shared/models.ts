import type { Usage } from "../../messages.ts";
import type { ReplyEvent } from "../../provider.ts";

/** Dollars per million tokens. A rate that is absent is unknown, never zero. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** When the names and prices below were last compared with the services' own pages. */
export const modelsCheckedOn = "2026-11-21";

/** The model a provider uses when none is named. */
export const defaultModels = {
  openai: "gpt-6.1-terra",
  anthropic: "claude-sonnet-5-5",
  openrouter: "openrouter/auto",
} as const;

/** Anthropic bills a cache read at a tenth and a five-minute cache write at five quarters of the input price. */
function anthropicPrice(input: number, output: number): ModelPrice {
  return { input, output, cacheRead: input / 10, cacheWrite: input * 1.25 };
}

/** Prices by `provider/model`. OpenRouter reports the cost of each reply itself. */
export const modelPrices: Readonly<Record<string, ModelPrice>> = {
  "openai/gpt-6-luna": { input: 0.1, output: 0.5 },
  "openai/gpt-6.1-terra": { input: 1, output: 5 },
  "openai/gpt-6.1-sol": { input: 2, output: 10 },
  "anthropic/claude-haiku-5-5": anthropicPrice(0.1, 0.5),
  "anthropic/claude-sonnet-5-5": anthropicPrice(2, 10),
  "anthropic/claude-opus-5-5": anthropicPrice(4, 20),
};

/** Dollars of one reply; undefined when a rate that it needs is unknown. */
export function costOf(usage: Usage, price: ModelPrice | undefined): number | undefined {
  if (price === undefined) return undefined;
  const plain = Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens);
  const parts: [tokens: number, rate: number | undefined][] = [
    [plain, price.input],
    [usage.outputTokens, price.output],
    [usage.cacheReadTokens, price.cacheRead],
    [usage.cacheWriteTokens, price.cacheWrite],
  ];
  let total = 0;
  for (const [tokens, rate] of parts) {
    if (tokens === 0) continue;
    if (rate === undefined) return undefined;
    total += (tokens * rate) / 1_000_000;
  }
  return total;
}

/** A reply event with the cost of its usage, where the price of its model (or the given one) is known. */
export function priced(reply: ReplyEvent, price: ModelPrice | undefined): ReplyEvent {
  const { usage, message } = reply;
  if (usage === undefined || usage.cost !== undefined) return reply;
  const cost = costOf(usage, price ?? modelPrices[message.model ?? ""]);
  return cost === undefined ? reply : { ...reply, usage: { ...usage, cost } };
}
