import type { ModelPrice, ModelRules } from "./modelRules.ts";

const address = "https://developers.openai.com/api/docs";

/** Makes a price. A cache write costs five quarters of the input price. */
function price(input: number, output: number, cacheRead: number): ModelPrice {
  const above = { inputTokens: 272_000, inputTimes: 2, outputTimes: 1.5 };
  return { input, output, cacheRead, cacheWrite: input * 1.25, above };
}

const efforts = ["low", "medium", "high", "xhigh", "max"] as const;
const thinkingAlways = { efforts, default: "medium" } as const;
const thinkingOptional = { efforts: ["none", ...efforts], default: "medium" } as const;

/** The rules that the models have in common. */
const current = {
  context: 1_050_000,
  output: 128_000,
  forcing: "always",
  sampling: "without-thinking",
  bindsThinking: false,
  changes: { systemMessages: true, tools: true, deferredTools: true },
  answerFormat: true,
  checkedOn: "2026-11-23",
  source: `${address}/guides/reasoning`,
  confidence: "likely",
} as const satisfies Partial<ModelRules>;

/** The rules that the models before them have in common. */
const older = {
  ...current,
  isFamily: true,
  changes: { systemMessages: true, tools: false, deferredTools: false },
  source: `${address}/models`,
} as const satisfies Partial<ModelRules>;

const oSeries = {
  context: 200_000,
  output: 100_000,
  reasoning: { efforts: ["low", "medium", "high"], default: "medium" },
  sampling: "never",
} as const satisfies Partial<ModelRules>;

export const openaiModels: readonly [ModelRules, ...ModelRules[]] = [
  {
    ...current,
    name: "gpt-6.1-sol",
    line: "sol",
    reasoning: thinkingAlways,
    price: price(2, 10, 0.1),
    source: `${address}/models/gpt-6.1-sol`,
  },
  { ...current, name: "gpt-6.1-terra", line: "terra", reasoning: thinkingOptional, price: price(1, 5, 0.05) },
  { ...current, name: "gpt-6-astra", line: "astra", reasoning: thinkingAlways, price: price(10, 50, 1) },
  { ...current, name: "gpt-6-luna", line: "luna", reasoning: thinkingOptional, price: price(0.1, 0.5, 0.01) },
  { ...current, name: "gpt-6-sol", reasoning: thinkingOptional, price: price(2, 10, 0.2) },
  { ...older, name: "gpt-5.6", reasoning: thinkingOptional, changes: current.changes },
  {
    ...older,
    name: "gpt-5",
    context: 400_000,
    reasoning: { efforts: ["none", "minimal", "low", "medium", "high", "xhigh"], default: "medium" },
  },
  { ...older, name: "o1", ...oSeries },
  { ...older, name: "o3", ...oSeries },
  { ...older, name: "o4", ...oSeries },
  {
    ...older,
    name: "gpt-4",
    context: 128_000,
    output: 16_000,
    reasoning: { efforts: [], default: undefined },
    sampling: "always",
  },
];
