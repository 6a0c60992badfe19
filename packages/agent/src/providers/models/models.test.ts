import { expect, test } from "vitest";
import modelNames from "../fixtures/modelNames.json" with { type: "json" };
import figures from "../shared/modelFigures.json" with { type: "json" };
import type { ModelPrice } from "./modelRules.ts";
import { defaultModels, modelPrice, modelRules, models } from "./models.ts";

const rowsOf = (service: "anthropic" | "openai") =>
  Object.entries(figures[service]).flatMap(([model, row]) => (Array.isArray(row) ? [] : [{ service, model, row }]));

/** A row of the table in the words of the services' pages. */
function inTheirWords(name: "anthropic" | "openai", model: string): Record<string, unknown> {
  const rules = modelRules({ name, model });
  if (!rules) return {};
  const { reasoning, price, forcing } = rules;
  const none = reasoning.efforts.includes("none") && name === "openai" ? ["none"] : [];
  return {
    effort: reasoning.budgets ? [] : [...none, ...reasoning.efforts.filter((effort) => effort !== "none")],
    "default effort": reasoning.budgets ? null : reasoning.default,
    ...(price && rates(price)),
    ...(name === "anthropic" && {
      thinking: reasoning.types,
      "tool_choice any": { always: "200", "without-thinking": "200 without thinking", never: "400" }[forcing],
      temperature: rules.sampling === "never" ? "400" : "200",
      "checks thinking": rules.bindsThinking,
      "mid-conversation system": rules.changes.systemMessages,
      context: rules.context,
      output: rules.output,
    }),
  };
}

function rates({ above, ...price }: ModelPrice): Record<string, unknown> {
  const times = (input: number, output: number) =>
    Object.fromEntries(
      Object.entries({
        input: price.input * input,
        completion: price.output * output,
        "write 5m": (price.cacheWrite ?? 0) * input,
        "write 1h": (price.cacheWriteHour ?? 0) * input,
        read: (price.cacheRead ?? 0) * input,
      }).flatMap(([name, rate]) => (rate === 0 ? [] : [[name, Number(rate.toPrecision(9))]])),
    );
  return {
    ...times(1, 1),
    ...(above && { above: { "prompt tokens": above.inputTokens, ...times(above.inputTimes, above.outputTimes) } }),
  };
}

test.each([...rowsOf("anthropic"), ...rowsOf("openai")])("says of $model what its service said", (figure) => {
  expect(inTheirWords(figure.service, figure.model)).toEqual(figure.row);
  expect(modelRules({ name: figure.service, model: figure.model })?.checkedOn).toBe(figures.readOn);
});

test("the default models of OpenAI and Anthropic have a price", () => {
  for (const name of ["openai", "anthropic"] as const)
    expect(modelPrice({ name, model: defaultModels[name] })).toBeDefined();
});

const named = (name: string, model: string) => modelRules({ name, model })?.name;

test.each(modelNames)("finds the rules of $what", ({ service, model, row }) =>
  expect(named(service, model) ?? null).toBe(row),
);

test("a price is that of the model itself or of its snapshot", () => {
  expect(modelPrice({ name: "anthropic", model: "claude-opus-5-5-20260922" })?.input).toBe(4);
  expect(modelPrice({ name: "anthropic", model: "claude-opus-5-7" })).toBeUndefined();
  expect(modelPrice({ name: "openai", model: "gpt-7" })).toBeUndefined();
});

test("every row says what thinks by itself, and has a page", () => {
  for (const row of Object.values(models).flat()) {
    const { efforts, default: byDefault } = row.reasoning;
    if (byDefault !== undefined) expect(efforts, row.name).toContain(byDefault);
    expect(row.source).toMatch(/^https:\/\//);
  }
});
