import type { Usage } from "../messages.ts";

/** Nothing used yet. */
export const noUsage: Usage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  cost: 0,
});

/** Returns the sum; `cost` is left out (unknown) as soon as one part does not know it. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  };
  return a.cost === undefined || b.cost === undefined ? sum : { ...sum, cost: a.cost + b.cost };
}
