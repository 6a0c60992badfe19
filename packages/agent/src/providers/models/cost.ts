import type { Usage } from "../../messages.ts";
import type { ReplyEvent } from "../../provider.ts";
import type { ModelPrice } from "./modelRules.ts";
import { modelPrice } from "./models.ts";

/** Returns the dollars of one reply; undefined when a rate that it needs is unknown. */
export function costOf(usage: Usage, price: ModelPrice | undefined): number | undefined {
  if (price === undefined) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const hour = Math.min(usage.cacheWriteHourTokens ?? 0, cacheWriteTokens);
  const isAbove = price.above !== undefined && inputTokens > price.above.inputTokens;
  const { inputTimes, outputTimes } = isAbove ? price.above : { inputTimes: 1, outputTimes: 1 };
  const parts: [tokens: number, rate: number | undefined, times: number][] = [
    [Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens), price.input, inputTimes],
    [outputTokens, price.output, outputTimes],
    [cacheReadTokens, price.cacheRead, inputTimes],
    [cacheWriteTokens - hour, price.cacheWrite, inputTimes],
    [hour, price.cacheWriteHour, inputTimes],
  ];
  let total = 0;
  for (const [tokens, rate, times] of parts) {
    if (tokens === 0) continue;
    if (rate === undefined) return undefined;
    total += (tokens * rate * times) / 1_000_000;
  }
  return total * (usage.priceTimes ?? 1);
}

/** Returns a reply event with the cost of its usage, where the price of its model (or the given one) is known. */
export function priced(reply: ReplyEvent, price: ModelPrice | undefined): ReplyEvent {
  const { usage, message } = reply;
  if (usage === undefined || usage.cost !== undefined) return reply;
  const [name = "", ...model] = message.model?.split("/") ?? [];
  const cost = costOf(usage, price ?? modelPrice({ name, model: model.join("/") }));
  return cost === undefined ? reply : { ...reply, usage: { ...usage, cost } };
}
