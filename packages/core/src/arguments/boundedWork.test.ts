import { type StepCounter, startCountingSteps } from "@toolcrib/testing/countSteps";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { JsonSchema } from "../interface.ts";
import type { ToolRegistry as Registry } from "../registry/registry.ts";

const steps: StepCounter = startCountingSteps();
// Test files share a process, and only code that has not run yet is counted in full.
vi.resetModules();
const { ToolRegistry } = await import("../registry/registry.ts");
afterAll(() => steps.stop());

/** Steps of core and its validator. A quadratic step on inputs of this size takes a hundred times as many. */
const mostSteps = 20_000_000;

const numbered = <T>(count: number, entry: (index: number) => [string, T]): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => entry(index)));
const closed = (properties: JsonSchema): JsonSchema => ({ type: "object", properties, additionalProperties: false });
const list = (items: JsonSchema): JsonSchema => closed({ l: { type: "array", ...items } });
const nested = (levels: number, wrap: (inner: unknown) => unknown, innermost: unknown): unknown => {
  let value = innermost;
  for (let level = 0; level < levels; level += 1) value = wrap(value);
  return value;
};

function registryOf(parameters: unknown, extra: object): Registry {
  const registry = new ToolRegistry();
  const schema = { type: "function", function: { name: "a", description: "A.", parameters: parameters as JsonSchema } };
  registry.register({ name: "a", getSchema: () => schema as never, execute: async () => "ok", ...extra });
  return registry;
}

async function call(parameters: unknown, args: unknown, extra: object = {}): Promise<string> {
  let answer = "";
  const taken = await steps.count(/\/packages\/core\/src\/|\/json-schema\//, async () => {
    try {
      answer = await registryOf(parameters, extra).execute("a", args);
    } catch (thrown) {
      answer = (thrown as Error).message;
    }
  });
  expect(taken).toBeGreaterThan(50);
  expect(taken).toBeLessThan(mostSteps);
  expect(answer.length).toBeLessThan(10_000);
  return answer;
}

const many = numbered(20_000, (index) => [`argument_${index}`, index]);
const many20 = numbered(20, (index) => [`argument_${index}`, index]);
const tooMany = numbered(200_000, (index) => [`argument_${index}`, index]);
const longNames = numbered(3000, (index) => [`${"x".repeat(100)}${index}`, { type: "string" }]);
const nearNames = numbered(20_000, (index) => [`${"x".repeat(99)}y${index}`, index]);
const union = { anyOf: [{ type: "string" }, { type: "object", required: ["x"] }] };
const doubling = {
  type: "object",
  properties: { a: { $ref: "#/$defs/d0" } },
  $defs: numbered(40, (index) => {
    const next = { $ref: `#/$defs/d${index + 1}` };
    return [`d${index}`, index === 39 ? { type: "string" } : { anyOf: [next, next] }];
  }),
};
const child = { properties: { c: { $ref: "#/$defs/node" } } };
const doublingBelow = {
  type: "object",
  properties: { a: { $ref: "#/$defs/node" } },
  $defs: { node: { anyOf: [child, { ...child, required: ["z"] }] } },
};
const doublingAll = {
  type: "object",
  properties: { a: { $ref: "#/$defs/node" } },
  $defs: { node: { type: "object", allOf: [child, { ...child, title: "again" }] } },
};
const nestedIds = nested(40, (inner) => ({ $id: "urn:x", properties: { a: inner } }), {}) as JsonSchema;
const enumOfMany = { enum: Array.from({ length: 15_000 }, (_, index) => `value_${index}`) };
const sixTimes = Array(6).fill({ pattern: "y" });
const textInText = nested(14, (items) => ({ type: "array", items }), { type: "string", pattern: "y" }) as JsonSchema;
const withDefault = (value: unknown, schema: object = {}): JsonSchema => ({
  type: "object",
  properties: { d: { ...schema, default: value } },
  required: ["d"],
});

describe("arguments, however many, cost a bounded number of steps, and five problems are described", () => {
  test.each<[string, unknown, unknown, string]>([
    ["unknown names", closed({ a: {} }), many, "and 19995 more"],
    ["unknown names, nested", closed({ o: closed({ a: {} }) }), { o: many }, "and more"],
    ["unknown names near to many", closed(longNames), nearNames, "and 19995 more"],
    ["items that fit no union", list({ items: union }), { l: Array(5000).fill(5) }, "l[4]: fits none"],
    [
      "unique items",
      list({ uniqueItems: true }),
      { l: [...Array(20_000).keys()] },
      "more than 1000 items would have to differ",
    ],
    ["unique objects", list({ uniqueItems: true }), { l: Array(3000).fill({ a: [1, 2, 3] }) }, "more than 1000 items"],
    ["large unique objects", list({ uniqueItems: true }), { l: Array(1000).fill(many20) }, "more than 40000 steps"],
    ["enums", list({ items: enumOfMany }), { l: Array(20_000).fill("Value") }, "more than 40000 steps"],
    [
      "long text under many limits",
      closed({ a: { anyOf: Array(900).fill({ maxLength: 9 }) } }),
      { a: "x".repeat(1e6) },
      "steps",
    ],
    [
      "JSON text under many branches",
      closed({ a: { anyOf: Array(900).fill({ type: "object", required: ["r"] }) } }),
      { a: `{"a":"${"x".repeat(1e6)}"}` },
      "steps",
    ],
    ["references that double on the way down", doublingBelow, { a: nested(90, (c) => ({ c }), {}) }, "steps"],
    ["the same in JSON text", doublingAll, { a: JSON.stringify(nested(40, (c) => ({ c }), {})) }, "steps"],
    ["100,000 levels", list({}), { l: nested(100_000, (inner) => [inner], []) }, "nested deeper than 500 levels"],
    ["100,000 levels as text", list({}), { l: "[".repeat(100_000) + "]".repeat(100_000) }, "l: expected array"],
    ["100,000 levels, all as text", list({}), '{"l":'.repeat(100_000) + 1 + "}".repeat(100_000), "expected an object"],
    ["an array with holes", list({}), { l: new Array(4e9) }, "holds more than 100000 values"],
    ["200,000 unknown names", closed({ a: {} }), tooMany, "holds more than 100000 values"],
    ["200,000 unknown names as text", closed({ o: closed({}) }), { o: JSON.stringify(tooMany) }, "o: expected object"],
    [
      "large defaults of many items",
      list({ items: withDefault([...Array(2000).keys()]) }),
      { l: Array(20_000).fill({}) },
      "more than 40000 steps",
    ],
    [
      "defaults under a large enum",
      list({ items: withDefault("x", enumOfMany) }),
      { l: Array(2000).fill({}) },
      "and more",
    ],
    [
      "names missing with another",
      list({ items: { dependentRequired: { a: Object.keys(longNames) } } }),
      { l: Array(5000).fill({ a: 1 }) },
      "more than 40000 steps",
    ],
    [
      "missing names in many items",
      list({ items: { required: Object.keys(longNames) } }),
      { l: Array(5000).fill({}) },
      "more than 40000 steps",
    ],
    [
      "many texts of JSON, each for many",
      list({ items: { type: "array", items: union } }),
      { l: Array(300).fill(JSON.stringify(Array(300).fill(5))) },
      "more than 40000 steps",
    ],
    [
      "text of JSON in text of JSON",
      closed({ a: textInText }),
      { a: nested(12, (inner) => JSON.stringify([inner]), "x".repeat(1e6)) },
      "more than 40000 steps",
    ],
    [
      "defaults with much to check",
      list({ items: { ...withDefault(Array(100).fill(5), { type: "array", items: union }), anyOf: [{}] } }),
      { l: Array(300).fill({}) },
      "more than 40000 steps",
    ],
    [
      "one item for each of many lists",
      list({ items: { type: "array", items: { allOf: sixTimes } } }),
      { l: Array(6000).fill("x") },
      "more than 40000 steps",
    ],
    [
      "texts that differ from an enum",
      list({ items: { ...enumOfMany, type: "string" } }),
      { l: Array(10).fill(`v ${"-".repeat(1e6)}`) },
      "more than 40000 steps",
    ],
    ["many names under many schemas", { type: "object", allOf: Array(900).fill({}) }, many, "more than 40000 steps"],
    [
      "long names under rules for names",
      closed({ o: { propertyNames: { anyOf: Array(900).fill({ maxLength: 9 }) } } }),
      { o: { ["x".repeat(1e6)]: 1 } },
      "more than 40000 steps",
    ],
    [
      "long names under many patterns",
      closed({ o: { patternProperties: numbered(900, (index) => [`^${index}`, {}]) } }),
      { o: { ["x".repeat(1e6)]: 1 } },
      "more than 40000 steps",
    ],
    [
      "long names around many values",
      closed({ o: { additionalProperties: { type: "array", items: { type: "string" } } } }),
      { o: { ["x".repeat(1e6)]: Array(2000).fill(5) } },
      "more than 40000 steps",
    ],
    ["missing names", { type: "object", required: Array.from({ length: 15_000 }, (_, i) => `r${i}`) }, {}, "and more"],
  ])("%s", async (_name, parameters, args, words) => {
    const answer = await call(parameters, args);
    expect(answer).toContain("Error executing a: Invalid arguments: ");
    expect(answer).toContain(words);
  });

  test("so does what a mounted tool leaves to its server", async () => {
    const big = closed(numbered(6000, (index) => [`p${index}`, { type: "string" }]));
    const refersOften = closed(numbered(900, (index) => [`q${index}`, { not: { $ref: "#/$defs/big" } }]));
    const answer = await call({ ...refersOften, $defs: { big } }, { q0: 1, q1: null }, { hints: {} });
    expect(answer).toBe("ok");
    const deep = nested(190, (inner) => ({ oneOf: [inner, { type: "number", format: "x" }] }), { type: "string" });
    expect(await call(closed({ a: deep as JsonSchema }), { a: "x" }, { hints: {} })).toBe("ok");
  });

  test("an ordinary large call is checked", async () => {
    const rows = list({ items: { anyOf: [{ type: "string" }, { type: "integer" }] } });
    expect(await call(rows, { l: Array(5000).fill("x") })).toBe("ok");
    expect(await call(rows, { l: [...Array(5000).fill("x"), {}] })).toContain("l[5000]: fits none of the forms");
    expect(await call(list({ uniqueItems: true }), { l: [...Array(1000).keys()] })).toBe("ok");
    expect(await call(list({ items: enumOfMany }), { l: Array(20_000).fill("Value-9") })).toBe("ok");
    expect(
      await call(closed({ o: { additionalProperties: union } }), { o: numbered(2000, (i) => [`n${i}`, "x"]) }),
    ).toBe("ok");
  });
});

describe("a schema that would cost too much is refused when registered, after a bounded number of steps", () => {
  test.each<[string, unknown, string]>([
    ["references that double", doubling, "more than 1000 schemas apply to one value"],
    ["references that loop", closed({ a: { $ref: "#/properties/a" } }), "lead back to themselves"],
    ["a loop through the root", { ...closed({}), $recursiveRef: "#" }, "lead back to themselves"],
    ["a loop through a list", closed({ a: { allOf: [{ $ref: "#/properties/a" }] } }), "lead back to themselves"],
    [
      "a long chain",
      closed({ ...numbered(900, (i) => [`p${i}`, { $ref: `#/properties/p${i + 1}` }]), p900: {} }),
      "more than 100000 steps",
    ],
    [
      "anchors by the thousand",
      { type: "object", $defs: numbered(30_000, (i) => [`d${i}`, { $anchor: `a${i}` }]) },
      "holds more than 20000 values",
    ],
    [
      "100,000 levels",
      nested(100_000, (a) => ({ type: "object", properties: { a } }), {}),
      "nested deeper than 500 levels",
    ],
    ["inner ids", closed({ a: nestedIds }), "its inner $id"],
    [
      "long names on the way to many",
      closed({ a: nested(100, (a) => ({ properties: { ["k".repeat(5000)]: a } }), closed(longNames)) as JsonSchema }),
      "the names in it",
    ],
  ])("%s", async (_name, parameters, words) => {
    const answer = await call(parameters, { a: 1 });
    expect(answer).toContain('Invalid tool "a": ');
    expect(answer).toContain(words);
  });

  test("a recursive schema, thousands of anchors and a description of 1 MB are accepted", async () => {
    const tree = { type: "object", properties: { children: { type: "array", items: { $ref: "#" } } } };
    expect(await call(tree, { children: [{ children: [] }] })).toBe("ok");
    const anchors = {
      type: "object",
      properties: numbered(3000, (index) => [`p${index}`, { $ref: `#a${index}` }]),
      $defs: numbered(3000, (index) => [`d${index}`, { $anchor: `a${index}`, type: "string" }]),
    };
    expect(await call(anchors, { p2999: "x" })).toBe("ok");
    expect(await call(anchors, { p2999: [] })).toContain("p2999: expected string");
    expect(await call(closed({ a: { description: "x".repeat(1e6) } }), { a: 1 })).toBe("ok");
  });
});

describe("patterns", () => {
  test("of a mounted tool are not checked, and what stands beside them is", async () => {
    const risky = { type: "string", pattern: "^(a+)+$", minLength: 3 };
    const names = { type: "object", patternProperties: { "^(x+)+$": { type: "string" } }, additionalProperties: false };
    const parameters = closed({ a: risky, names, address: { type: "string", format: "url" } });
    const schema = { type: "function" as const, function: { name: "a", description: "A.", parameters } };
    const registry = new ToolRegistry([{ name: "a", hints: {}, getSchema: () => schema, execute: async () => "ok" }]);
    const address = `http://${"a".repeat(60)}!`;
    expect(await registry.execute("a", { a: `${"a".repeat(60)}!`, names: { xx: 5 }, address })).toBe("ok");
    expect(await registry.execute("a", { a: "a" })).toContain("a: ");
    expect(await registry.execute("a", { names: [] })).toContain("names: expected object");
  });
});
