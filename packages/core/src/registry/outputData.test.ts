import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { defineTool } from "../defineTool.ts";
import type { JsonSchema, ToolOutcome } from "../interface.ts";
import { toolOutput } from "./outcome.ts";
import { jsonData } from "./outputData.ts";
import { ToolRegistry } from "./registry.ts";

const parameters = { type: "object", properties: {}, additionalProperties: false } as const;
const counted: JsonSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

function outcomeOf(data: unknown, outputSchema?: JsonSchema): Promise<ToolOutcome> {
  const execute = (): string => toolOutput("text", { data });
  const tool = defineTool({ name: "a", description: "a", parameters, ...(outputSchema && { outputSchema }), execute });
  return new ToolRegistry([tool]).invoke("a");
}

test.each([[{ n: 1 }], [[1, "two", null]], ["text"], [0], [false], [null]])(
  "data is in the outcome beside the text: %j",
  async (data) => {
    expect(await outcomeOf(data)).toEqual({ ok: true, output: "text", data });
  },
);

test("execute answers the text alone", async () => {
  const execute = (): string => toolOutput("text", { data: { n: 1 } });
  const registry = new ToolRegistry([defineTool({ name: "a", description: "a", parameters, execute })]);
  expect(await registry.execute("a")).toBe("text");
});

const cycle: { self?: unknown } = {};
cycle.self = cycle;
const throwing = {
  toJSON(): never {
    throw new Error("no");
  },
};
test.each<[string, unknown]>([
  ["nothing", undefined],
  ["a function", () => 1],
  ["a cycle", { cycle }],
  ["a bigint", { n: 1n }],
  ["what cannot be read", throwing],
  ["more than 256 KB", "x".repeat(256 * 1024 - 1)],
  ["more than 256 KB of two-byte characters", "é".repeat(140_000)],
  ["more than 256 KB of small values", Array.from({ length: 200_000 }, () => 12)],
  ["a text of 400 MB", { text: "x".repeat(400 * 2 ** 20) }],
])("data that is %s is left out, and the text stays", async (_, data) => {
  expect(await outcomeOf(data)).toEqual({ ok: true, output: "text" });
});

test("data that is too large is not read to its end", async () => {
  const toJSON = vi.fn(() => 1);
  await outcomeOf(["x".repeat(300_000), { toJSON }]);
  expect(toJSON).not.toHaveBeenCalled();
});

test("data of exactly 256 KB stays", async () => {
  const data = "x".repeat(256 * 1024 - 2);
  expect(await outcomeOf(data)).toEqual({ ok: true, output: "text", data });
});

test("data that does not fit outputSchema is left out, and the content stays", async () => {
  expect(await outcomeOf({ n: 1 }, counted)).toEqual({ ok: true, output: "text", data: { n: 1 } });
  expect(await outcomeOf({ n: "1" }, counted)).toEqual({ ok: true, output: "text" });
  expect(await outcomeOf([1], { type: "array", items: { type: "number" } })).toHaveProperty("data");
  const content = [{ type: "text" as const, text: "x" }];
  const execute = (): string => toolOutput("text", { content, data: {} });
  const tool = defineTool({ name: "a", description: "a", parameters, outputSchema: counted, execute });
  expect(await new ToolRegistry([tool]).invoke("a")).toEqual({ ok: true, output: "text", content });
});

test("of a mounted tool the forms of texts are not checked, nor their patterns run", async () => {
  const text = { type: "string", pattern: "^(a+)+$" };
  const outputSchema = { type: "object", properties: { a: text, b: { type: "integer" } } };
  const data = (b: unknown) => ({ a: `${"a".repeat(25)}!`, b });
  const outcome = async (b: unknown) => {
    const execute = (): string => toolOutput("", { data: data(b) });
    const tool = defineTool({ name: "a", description: "a", parameters, outputSchema, execute });
    return new ToolRegistry([{ ...tool, hints: {} }]).invoke("a");
  };
  expect(await outcome(1)).toMatchObject({ data: data(1) });
  expect(await outcome("x")).not.toHaveProperty("data");
});

test("data that would cost too much to check is left out", async () => {
  const outputSchema = { type: "array", uniqueItems: true } as const;
  const data = Array.from({ length: 20_000 }, (_, n) => ({ n }));
  expect(await outcomeOf(data, outputSchema)).toEqual({ ok: true, output: "text" });
});

test("an error has no data, and a tool with an outputSchema may give none", async () => {
  const fail = defineTool({
    name: "a",
    description: "a",
    parameters,
    outputSchema: counted,
    execute: () => {
      throw new Error("no");
    },
  });
  expect(await new ToolRegistry([fail]).invoke("a")).toMatchObject({ ok: false, error: { message: "no" } });
  expect(await outcomeOf(undefined, counted)).toEqual({ ok: true, output: "text" });
});

test("outputSchema is read once, frozen, listed, and checked at register", () => {
  const outputSchema = { type: "object", properties: { n: { type: "number" } } };
  const tool = { ...defineTool({ name: "a", description: "a", parameters, execute: () => "" }), outputSchema };
  const [listing] = new ToolRegistry([tool]).listTools();
  expect(listing?.outputSchema).toEqual(outputSchema);
  expect(listing?.outputSchema).not.toBe(outputSchema);
  expect(Object.isFrozen(listing?.outputSchema?.properties)).toBe(true);
  const [without] = new ToolRegistry([{ ...tool, outputSchema: undefined }]).listTools();
  expect(without && "outputSchema" in without).toBe(false);
  for (const wrong of ["text", null, { type: "objet" }, { $ref: "#/nowhere" }]) {
    const invalid = { ...tool, outputSchema: wrong as JsonSchema };
    expect(() => new ToolRegistry([invalid])).toThrow('Invalid tool "a": outputSchema');
  }
});

test("outputSchema may be a Standard Schema; its output form counts", () => {
  const outputSchema = z.object({ n: z.string().transform(Number).pipe(z.number()) });
  const tool = defineTool({ name: "a", description: "a", parameters, outputSchema, execute: () => "" });
  expect(tool.outputSchema).toMatchObject({ type: "object", properties: { n: { type: "number" } } });
  const bare = { "~standard": { version: 1, vendor: "bare", validate: () => ({ value: 1 }) } } as const;
  expect(() => defineTool({ name: "a", description: "a", parameters, outputSchema: bare, execute: () => "" })).toThrow(
    "give outputSchema as a JSON Schema",
  );
});

test("without a registry toolOutput is its text where a string is needed", () => {
  const output = toolOutput('{"n":1}', { data: { n: 1 } });
  expect(`${output}`).toBe('{"n":1}');
  expect(JSON.parse(output)).toEqual({ n: 1 });
  expect(Object.keys(output)).toEqual(["text", "data"]);
});

test("toolOutput without names is refused: content alone is not an options object", () => {
  expect(() => toolOutput("text", [] as never)).toThrow("toolOutput: options must be a plain object");
  expect(() => toolOutput("text", { date: 1 } as never)).toThrow('did you mean "data"?');
});

test("plain data is copied to what JSON would make of it, whatever it is", () => {
  const odd = fc.constantFrom<unknown>(
    undefined,
    Number.NaN,
    -0,
    new Date(0),
    { toJSON: () => 1 },
    [undefined],
    new Map(),
  );
  const value = fc.oneof(
    { arbitrary: fc.jsonValue(), weight: 3 },
    { arbitrary: fc.dictionary(fc.string(), odd), weight: 1 },
  );
  fc.assert(
    fc.property(value, (data) => {
      expect(jsonData(data)).toEqual(JSON.parse(JSON.stringify(data)));
    }),
  );
  const named = JSON.parse('{"__proto__":{"a":1}}') as unknown;
  expect(JSON.stringify(jsonData(named))).toBe('{"__proto__":{"a":1}}');
  const shared = { list: [1] };
  const copied = jsonData(shared) as typeof shared;
  shared.list.push(2);
  expect(copied).toEqual({ list: [1] });
});
