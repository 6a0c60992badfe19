import { describe, expect, test } from "vitest";
import { type AnthropicSettings, anthropicFields } from "../anthropic/settings.ts";
import settings from "../fixtures/settings.json" with { type: "json" };
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
  test.each(settings.anthropic as [AnthropicSettings, object][])("%o", (given, fields) => {
    expect(anthropic(given).body).toEqual({ max_tokens: 32_000, ...fields });
  });

  test.each(settings.openai as [Settings, object][])("%o", (given, fields) => expect(openai(given)).toEqual(fields));
});

describe("a setting that the service would refuse is refused in words", () => {
  test.each(settings.anthropicRefused as [AnthropicSettings, string][])("%o", (given, words) =>
    expect(() => anthropic(given)).toThrow(new RegExp(words)),
  );

  test.each(settings.openaiRefused as [Settings, string][])("%o", (given, words) =>
    expect(() => openai(given)).toThrow(new RegExp(words)),
  );

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
