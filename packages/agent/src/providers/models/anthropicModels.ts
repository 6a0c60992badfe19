import type { ModelPrice, ModelRules, PictureLimits } from "./modelRules.ts";

const address = "https://platform.claude.com/docs/en";

/** Makes a price. A five-minute cache write costs five quarters of the input price, one of an hour twice as much. */
function price(input: number, output: number, cacheRead: number, above?: ModelPrice["above"]): ModelPrice {
  const cached = { cacheRead, cacheWrite: input * 1.25, cacheWriteHour: input * 2 };
  return { input, output, ...cached, ...(above && { above }) };
}

/** A request may have 32 MB. */
const pictures: PictureLimits = {
  bytes: 10_000_000,
  total: 28_000_000,
  count: 600,
  side: 8000,
  many: { count: 20, side: 2000 },
};

const efforts = ["low", "medium", "high", "xhigh", "max"] as const;

/** The rules that the models of autumn 2026 have in common. */
const current = {
  context: 1_000_000,
  output: 128_000,
  sampling: "never",
  forcing: "never",
  bindsThinking: true,
  answerFormat: true,
  changes: { systemMessages: true, tools: true, deferredTools: true },
  pictures,
  checkedOn: "2026-11-23",
  confidence: "sure",
} as const satisfies Partial<ModelRules>;

/** The rules that the models before them have in common. */
const older = {
  forcing: "without-thinking",
  bindsThinking: false,
  answerFormat: true,
  changes: { systemMessages: false, tools: false, deferredTools: true },
  pictures,
  checkedOn: "2026-11-23",
  confidence: "likely",
} as const satisfies Partial<ModelRules>;

/** Models that are told how many tokens to think. */
const byBudget = {
  efforts: ["none", "low", "medium", "high"],
  default: "none",
  types: ["enabled", "disabled"],
  budgets: { low: 4_000, medium: 10_000, high: 20_000 },
} as const satisfies ModelRules["reasoning"];

/** Models that do not think unless they are asked to. */
const adaptiveOnRequest = {
  context: 1_000_000,
  output: 128_000,
  reasoning: { efforts: ["none", ...efforts], default: "none", types: ["adaptive", "disabled"] },
  sampling: "never",
  source: `${address}/build-with-claude/effort`,
} as const satisfies Partial<ModelRules>;

const of46 = {
  ...adaptiveOnRequest,
  reasoning: { ...adaptiveOnRequest.reasoning, efforts: ["none", "low", "medium", "high", "max"] },
  sampling: "always",
} as const satisfies Partial<ModelRules>;

const of5 = {
  context: 1_000_000,
  output: 128_000,
  reasoning: { efforts: ["none", ...efforts], default: "high", types: ["adaptive", "disabled"] },
  sampling: "never",
} as const satisfies Partial<ModelRules>;

const ofYear2025 = {
  context: 200_000,
  reasoning: byBudget,
  sampling: "always",
  answerFormat: false,
  pictures: { ...pictures, count: 100 },
  source: `${address}/build-with-claude/thinking`,
} as const satisfies Partial<ModelRules>;

export const anthropicModels: readonly [ModelRules, ...ModelRules[]] = [
  {
    ...current,
    name: "claude-opus-5-5",
    line: "opus",
    reasoning: { efforts, default: "medium", types: ["adaptive"], display: "updates" },
    price: price(4, 20, 0.2),
    source: `${address}/models/opus-5-5/migration-guide`,
  },
  {
    ...current,
    name: "claude-sonnet-5-5",
    line: "sonnet",
    reasoning: {
      efforts: ["none", ...efforts],
      default: "high",
      types: ["adaptive", "between_tools"],
      display: "updates",
    },
    price: price(2, 10, 0.1),
    source: `${address}/models/sonnet-5-5/migration-guide`,
  },
  {
    ...current,
    name: "claude-haiku-5-5",
    line: "haiku",
    reasoning: {
      efforts: ["none", ...efforts],
      default: "medium",
      types: ["adaptive", "disabled"],
      display: "summarized",
    },
    forcing: "always",
    price: price(0.1, 0.5, 0.01, { inputTokens: 100_000, inputTimes: 5, outputTimes: 5 }),
    source: `${address}/models/haiku-5-5/migration-guide`,
    confidence: "likely",
  },
  {
    ...older,
    name: "claude-haiku-4-5",
    context: 200_000,
    output: 64_000,
    reasoning: byBudget,
    sampling: "always",
    pictures: { ...pictures, count: 100 },
    price: price(1, 5, 0.1),
    source: `${address}/models/overview`,
  },
  { ...older, ...of5, name: "claude-opus-5", price: price(5, 25, 0.5), source: `${address}/models/opus-5/overview` },
  {
    ...older,
    ...of5,
    name: "claude-sonnet-5",
    price: price(2, 10, 0.2),
    source: `${address}/models/sonnet-5/overview`,
  },
  { ...older, ...of46, name: "claude-opus-4-6" },
  { ...older, ...of46, name: "claude-sonnet-4-6", output: 64_000 },
  { ...older, ...adaptiveOnRequest, name: "claude-opus-4-7" },
  { ...older, ...adaptiveOnRequest, name: "claude-opus-4-8" },
  { ...older, name: "claude-opus-4", isFamily: true, ...ofYear2025, output: 32_000 },
  { ...older, name: "claude-sonnet-4", isFamily: true, ...ofYear2025, output: 64_000 },
];
