import { expect, test } from "vitest";
import type { Usage } from "../../messages.ts";
import { costOf, defaultModels, modelPrices, priced } from "./models.ts";

const usage: Usage = {
  inputTokens: 1_000_000,
  outputTokens: 1_000_000,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

test("a cost adds up from plain, cached and written tokens at their own rates", () => {
  const price = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
  expect(costOf(usage, price)).toBeCloseTo(12);
  expect(costOf({ ...usage, cacheReadTokens: 500_000, cacheWriteTokens: 250_000 }, price)).toBeCloseTo(
    0.5 + 0.1 + 0.625 + 10,
  );
});

test("a price or a rate that is not known makes the cost unknown, never zero", () => {
  expect(costOf(usage, undefined)).toBeUndefined();
  expect(costOf({ ...usage, cacheReadTokens: 1 }, { input: 1, output: 5 })).toBeUndefined();
  const reply = {
    type: "reply",
    stop: "stop",
    usage,
    message: { role: "assistant", content: [], model: "openai/unheard-of" },
  } as const;
  expect(priced(reply, undefined).usage).toEqual(usage);
  expect(priced(reply, { input: 1, output: 1 }).usage?.cost).toBe(2);
});

test("the cost that the service reports is kept", () => {
  const own = { ...usage, cost: 0.5 };
  const reply = { type: "reply", stop: "stop", usage: own, message: { role: "assistant", content: [] } } as const;
  expect(priced(reply, { input: 1, output: 1 }).usage?.cost).toBe(0.5);
});

test("the default models of OpenAI and Anthropic have a price", () => {
  expect(modelPrices[`openai/${defaultModels.openai}`]).toBeDefined();
  expect(modelPrices[`anthropic/${defaultModels.anthropic}`]).toBeDefined();
});
