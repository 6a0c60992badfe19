import { describe, expect, test } from "vitest";
import { type AnthropicSettings, anthropicFields } from "../anthropic/settings.ts";
import { openaiFields } from "../openai/settings.ts";
import { takesFullApi } from "../shared/options.ts";
import { modelRules } from "./models.ts";
import { acceptedToolChoice, canForce, type Settings } from "./settings.ts";

const anthropic = (settings: AnthropicSettings, isFull = true) =>
  anthropicFields(settings, modelRules({ name: "anthropic", model: settings.model }, !isFull), isFull);
const openai = (settings: Settings) => openaiFields(settings, modelRules({ name: "openai", model: settings.model }));

const [opus, sonnet, haiku, older] = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-haiku-4-5"];
const adaptive = (display: string) => ({ type: "adaptive", display });

describe("reasoning becomes what the model takes", () => {
  test.each<[AnthropicSettings, object]>([
    [
      { model: opus, reasoning: "low" },
      { thinking: adaptive("updates"), output_config: { effort: "low" } },
    ],
    [
      { model: opus, reasoning: "max" },
      { thinking: adaptive("updates"), output_config: { effort: "max" } },
    ],
    [{ model: sonnet, reasoning: "none" }, { thinking: { type: "between_tools" } }],
    [{ model: haiku, reasoning: "none" }, { thinking: { type: "disabled" } }],
    [
      { model: haiku, reasoning: "xhigh" },
      { thinking: adaptive("summarized"), output_config: { effort: "xhigh" } },
    ],
    [{ model: older, reasoning: "none" }, { thinking: { type: "disabled" } }],
    [{ model: older, reasoning: "high" }, { thinking: { type: "enabled", budget_tokens: 20_000 } }],
    [
      { model: "claude-opus-4-8", reasoning: "high" },
      { thinking: adaptive("summarized"), output_config: { effort: "high" } },
    ],
    [
      { model: "claude-opus-6", reasoning: "low" },
      { thinking: adaptive("updates"), output_config: { effort: "low" } },
    ],
    [{ model: older }, {}],
    [{ model: "claude-opus-4-8" }, {}],
    [{ model: "claude-opus-4-1" }, { max_tokens: 32_000 }],
  ])("%o", (settings, fields) => {
    expect(anthropic(settings).body).toEqual({ max_tokens: 32_000, ...fields });
  });

  test.each<[Settings, object]>([
    [{ model: "gpt-6.1-sol", reasoning: "low" }, { reasoning: { effort: "low", summary: "auto" } }],
    [{ model: "gpt-6.1-terra", reasoning: "none" }, { reasoning: { effort: "none" } }],
    [
      { model: "gpt-5.2", reasoning: "minimal", maxTokens: 9 },
      { reasoning: { effort: "minimal", summary: "auto" }, max_output_tokens: 9 },
    ],
    [{ model: "gpt-6-luna" }, {}],
  ])("%o", (settings, fields) => expect(openai(settings)).toEqual(fields));
});

describe("a setting that the service would refuse is refused in words", () => {
  test.each<[AnthropicSettings, RegExp]>([
    [
      { model: opus, reasoning: "none" },
      /^claude-opus-5-5 does not accept reasoning "none": it always thinks\. Set reasoning to low, medium, high, xhigh or max\.$/,
    ],
    [{ model: sonnet, reasoning: "minimal" }, /does not accept reasoning "minimal"\. Set reasoning to none, low,/],
    [{ model: older, reasoning: "max" }, /Set reasoning to none, low, medium or high\.$/],
    [{ model: older, reasoning: "high", maxTokens: 20_000 }, /needs maxTokens above 20000, received 20000\.$/],
    [{ model: older, maxTokens: 64_001 }, /at most 64000 tokens\.$/],
    [
      { model: opus, extraBody: { temperature: 0.2 } },
      /^claude-opus-5-5 does not accept temperature; remove it from extraBody\.$/,
    ],
    [{ model: haiku, display: "updates" }, /shows no updates; set display to "summarized"\.$/],
  ])("%o", (settings, words) => expect(() => anthropic(settings)).toThrow(words));

  test.each<[Settings, RegExp]>([
    [{ model: "gpt-6.1-sol", reasoning: "none" }, /it always thinks/],
    [{ model: "gpt-6-luna", reasoning: "minimal" }, /does not accept reasoning "minimal"/],
    [
      { model: "gpt-4.1", reasoning: "low" },
      /^gpt-4\.1 does not accept reasoning "low": it does not reason\. Leave reasoning out\.$/,
    ],
    [{ model: "gpt-6-luna", extraBody: { top_p: 0.5 } }, /does not accept top_p unless reasoning is "none"; remove/],
    [{ model: "gpt-6-astra", extraBody: { top_p: 0.5 } }, /does not accept top_p; remove/],
  ])("%o", (settings, words) => expect(() => openai(settings)).toThrow(words));

  test("but not what it takes", () => {
    expect(() => openai({ model: "gpt-6-luna", reasoning: "none", extraBody: { top_p: 0.5 } })).not.toThrow();
    expect(() => anthropic({ model: older, extraBody: { temperature: 0 } })).not.toThrow();
    expect(() => anthropic({ model: opus, extraBody: { temperature: 1 } })).not.toThrow();
  });
});

describe("the text between calls", () => {
  test("is asked for at the service itself, with its header where that is in beta", () => {
    expect(anthropic({ model: opus })).toEqual({
      body: { max_tokens: 32_000, thinking: adaptive("updates") },
      betas: ["thinking-display-updates-2026-08-18"],
      cacheControl: { type: "ephemeral" },
      hasNotes: true,
      canForce: false,
    });
    expect(anthropic({ model: haiku })).toMatchObject({ body: { thinking: adaptive("summarized") }, betas: [] });
    expect(anthropic({ model: opus, display: "omitted" })).toMatchObject({
      body: { thinking: adaptive("omitted") },
      betas: [],
    });
  });

  test("is not asked for elsewhere, where an unknown model gets the plainest request", () => {
    expect(anthropic({ model: opus }, false)).toMatchObject({ body: { max_tokens: 32_000 }, betas: [] });
    expect(anthropic({ model: opus }, false).body).not.toHaveProperty("thinking");
    expect(anthropic({ model: "qwen4", reasoning: "high" }, false).body).toEqual({
      max_tokens: 32_000,
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
    });
  });
});

test("a tool is forced only where the model allows it", () => {
  const forced = (model: string, reasoning?: "none" | "low") =>
    acceptedToolChoice("required", canForce(modelRules({ name: "anthropic", model }), reasoning));
  expect([forced(opus), forced(sonnet, "none"), forced(haiku), forced(older), forced(older, "low")]).toEqual([
    "auto",
    "auto",
    "required",
    "required",
    "auto",
  ]);
  expect(acceptedToolChoice("none", false)).toBe("none");
  expect(canForce(undefined, "high")).toBe(true);
});

test("only the service itself is sent what is new", () => {
  const origin = "https://api.anthropic.com";
  expect(takesFullApi(origin, undefined, {})).toBe(true);
  expect(takesFullApi(origin, "https://api.anthropic.com/", {})).toBe(true);
  expect(takesFullApi(origin, "https://gateway.example/anthropic", {})).toBe(false);
  expect(takesFullApi(origin, undefined, { client: {} })).toBe(false);
  expect(takesFullApi(origin, "https://gateway.example", { fullApi: true })).toBe(true);
  expect(takesFullApi(origin, undefined, { fullApi: false })).toBe(false);
});
