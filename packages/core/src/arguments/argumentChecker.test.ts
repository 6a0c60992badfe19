import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defineTool } from "../defineTool.ts";
import type { JsonSchema } from "../interface.ts";
import { createArgumentChecker } from "./argumentChecker.ts";

async function check(properties: Record<string, JsonSchema>, args: unknown, rest: object = {}, extra: object = {}) {
  const parameters = { type: "object" as const, properties, additionalProperties: false, ...rest };
  const tool = { ...defineTool({ name: "t", description: "d", parameters, execute: () => "" }), ...extra };
  const { args: repaired, error } = await createArgumentChecker(tool, parameters)(args);
  return error ? error.message : repaired;
}

const number = { type: "number" };
const text = { type: "string" };

describe("repair: a value with one possible meaning is corrected", () => {
  test.each([
    [number, "10", 10],
    [number, " -2.5e3 ", -2500],
    [{ type: "integer" }, "7", 7],
    [{ type: "boolean" }, "true", true],
    [{ type: "boolean" }, "False", false],
    [{ type: "array", items: text }, '["a","b"]', ["a", "b"]],
    [{ type: "array", items: text }, "a", ["a"]],
    [{ type: "array", items: number }, ["1", 2], [1, 2]],
    [{ type: "array", items: { type: "object", properties: { n: number } } }, { n: "1" }, [{ n: 1 }]],
    [{ type: "array", items: { type: "object", properties: { n: number } } }, '{"n":"1"}', [{ n: 1 }]],
    [{ type: "array", items: text }, '{"n":"1"}', ['{"n":"1"}']],
    [{ type: "object", properties: { n: number } }, '{"n":"3"}', { n: 3 }],
    [{ anyOf: [number, { type: "boolean" }] }, "3", 3],
    [{ type: ["number", "null"] }, "3", 3],
    [{ $ref: "#/$defs/n" }, "4", 4],
    [{ enum: [1, 2] }, "2", 2],
    [{ type: "string", enum: ["utf8", "latin1"] }, "UTF-8", "utf8"],
  ])("%j accepts %j", async (schema, given, expected) => {
    expect(await check({ a: schema }, { a: given }, { $defs: { n: number } })).toEqual({ a: expected });
  });

  test("null for an optional argument removes it; where null is allowed it stays", async () => {
    expect(await check({ a: text }, { a: null })).toEqual({});
    expect(await check({ a: { type: ["string", "null"] } }, { a: null })).toEqual({ a: null });
    expect(await check({ a: text }, { a: null }, { required: ["a"] })).toContain("a: expected string, got null");
  });

  test("no arguments mean an empty object, and JSON text of an object means the object", async () => {
    for (const given of [undefined, null]) expect(await check({ a: text }, given)).toEqual({});
    expect(await check({ a: text }, '{"a":"x"}')).toEqual({ a: "x" });
  });
});

describe("repair: what is left out and states a default", () => {
  test.each<[JsonSchema, unknown]>([
    [{ type: "integer", default: 10 }, { a: 10 }],
    [{ type: ["string", "null"], default: null }, { a: null }],
    [{ anyOf: [text, number], default: "x" }, { a: "x" }],
    [{ enum: ["x", "y"], default: "y" }, { a: "y" }],
    [{ default: [1] }, { a: [1] }],
  ])("of %j becomes %j where it is required", async (schema, expected) => {
    expect(await check({ a: schema }, {}, { required: ["a"] })).toEqual(expected);
    expect(await check({ o: { type: "object", properties: { a: schema }, required: ["a"] } }, { o: {} })).toEqual({
      o: expected,
    });
    expect(await check({ a: schema }, {})).toEqual({});
  });

  test.each<JsonSchema>([
    { type: "integer", default: "x" },
    { enum: ["x"], default: "y" },
    { type: "integer", minimum: 1, default: 0 },
  ])("stays left out where the default does not fit: %j", async (schema) => {
    expect(await check({ a: schema }, {}, { required: ["a"] })).toContain("a: is required");
  });
});

describe("text becomes a number only if no digit is lost", () => {
  test.each([
    [{ type: "integer" }, "9007199254740991", 9007199254740991],
    [number, "-9007199254740991", -9007199254740991],
    [number, "1e300", 1e300],
    [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "12", 12],
  ])("%j of %j", async (schema, given, expected) => {
    expect(await check({ a: schema }, { a: given })).toEqual({ a: expected });
  });

  test.each([
    [{ type: "integer" }, "9007199254740993"],
    [number, "12345678901234567890"],
    [{ type: "integer" }, "1e20"],
    [{ type: "array", items: number }, ["9007199254740993"]],
  ])("%j refuses %j", async (schema, given) => {
    expect(await check({ a: schema }, { a: given })).toMatch(/^Invalid arguments: a.*expected (?:integer|number)/);
  });
});

describe("of a mounted tool the server's word counts", () => {
  const mounted = (schema: JsonSchema, args: unknown, rest: object = {}) =>
    check({ a: schema }, args, rest, { hints: {} });
  const inner = { type: "object", properties: { b: text, c: number }, required: ["b"], additionalProperties: false };

  test.each<[JsonSchema, unknown]>([
    [text, null],
    [{ type: "integer", minimum: 1 }, null],
    [{ enum: ["x"] }, null],
    [{ const: 1 }, null],
    [{ anyOf: [text, number] }, null],
    [inner, { b: null, c: null }],
    [{ anyOf: [inner, text] }, { b: null }],
    [{ type: "array", items: text }, ["x", null]],
    [{ type: "array", items: inner }, [{ b: null }]],
    [{ type: "array", items: text, minItems: 1 }, [null]],
    [{ type: "array", prefixItems: [number, text], items: false }, [null, "x"]],
  ])("null goes to it as it came: %j of %j", async (schema, a) => {
    expect(await mounted(schema, { a })).toEqual({ a });
    expect(await mounted(schema, { a }, { required: ["a"] })).toEqual({ a });
  });

  test("beside a null everything else is checked, and no unknown name is allowed for having one", async () => {
    expect(await mounted(inner, { a: { b: null, c: "x" } })).toContain('a.c: expected number, got string "x"');
    expect(await mounted(inner, { a: { c: null } })).toContain("a.b: is required");
    expect(await mounted(text, { d: null })).toContain("d: is not an argument");
    expect(await mounted(inner, { a: { b: null, d: null } })).toContain("a.d: is not an argument");
  });

  test.each<[JsonSchema, unknown]>([
    [{ type: "string", format: "uuid" }, "0123456789abcdef0123456789abcdef"],
    [{ type: "string", format: "json" }, "{"],
    [{ type: "string", pattern: "^[a-z]+$" }, "ABC"],
    [{ anyOf: [{ type: "string", format: "date" }, number] }, "tomorrow"],
    [{ type: "array", items: { type: "string", format: "uri" } }, ["x"]],
    [
      { type: "object", properties: { format: text, pattern: text } },
      { format: "x", pattern: "y" },
    ],
  ])("the form of a text is not checked here: %j of %j", async (schema, a) => {
    expect(await mounted(schema, { a })).toEqual({ a });
  });

  const byPattern = { patternProperties: { "^x-": text } };
  const closedNames = { additionalProperties: false };
  const noOthers = { unevaluatedProperties: false };
  test.each<[JsonSchema, JsonSchema]>([
    [{ ...byPattern, ...closedNames }, closedNames],
    [{ ...byPattern, ...noOthers }, noOthers],
    [
      { allOf: [byPattern], ...noOthers },
      { allOf: [{ properties: { b: text } }], ...noOthers },
    ],
    [
      { anyOf: [{ $ref: "#/$defs/named" }, text], ...noOthers },
      { allOf: [byPattern], ...closedNames },
    ],
    [
      { properties: { o: byPattern }, ...byPattern, ...closedNames },
      { properties: { o: byPattern }, ...closedNames },
    ],
  ])("names are its server's where %j has patterns for them, and unknown where %j has none", async (open, closed) => {
    const properties = { o: { type: "object", ...open }, c: { type: "object", ...closed } };
    const rest = { $defs: { named: byPattern } };
    expect(await mounted({ properties }, { a: { o: { X_1: "v" } } }, rest)).toEqual({ a: { o: { X_1: "v" } } });
    expect(await mounted({ properties }, { a: { c: { X_1: "v" } } }, rest)).toContain("a.c.X_1: is not an argument");
  });

  const oneName = { oneOf: [{ required: ["id"] }, { required: ["name"] }] };
  const notBoth = { not: { required: ["a", "b"] } };
  const anywhere = { additionalProperties: true };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  const kinds = { if: { properties: { kind: { const: "x" } } }, then: { required: ["y"] } };
  test.each<[JsonSchema, unknown]>([
    [oneName, { id: 1, name: null }],
    [
      { ...oneName, required: ["c"] },
      { id: 1, name: null, c: null },
    ],
    [{ oneOf: [{ $ref: "#/$defs/id" }, { $ref: "#/$defs/name" }] }, { id: 1, name: null }],
    [notBoth, { a: 1, b: null }],
    [
      { ...notBoth, required: ["c"] },
      { a: 1, b: null, c: null },
    ],
    [
      { not: { $ref: "#/$defs/both" }, required: ["c"] },
      { a: 1, b: null, c: null },
    ],
    [
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: { required: ["a", "b"] }, then: { required: ["d"] }, required: ["c"] },
      { a: 1, b: null, c: null },
    ],
    [{ ...kinds, properties: { kind: text } }, { kind: null }],
    [{ dependentRequired: { a: ["b"] } }, { a: 1, b: null }],
    [
      { dependentRequired: { a: ["b"] }, properties: { b: text } },
      { a: 1, b: null },
    ],
    [
      { dependencies: { a: ["b"] }, properties: { b: text } },
      { a: 1, b: null },
    ],
    [
      { properties: { a: { const: { required: ["b"] } }, b: text }, required: ["b"] },
      { a: { required: ["b"] }, b: null },
    ],
    [{ oneOf: [inner, text] }, { b: null }],
    [
      { maxProperties: 1, properties: { b: text } },
      { a: 1, b: null },
    ],
  ])("a null makes no rule about names stricter: %j of %j", async (schema, args) => {
    const $defs = {
      id: { required: ["id"] },
      name: { required: ["name"] },
      both: { required: ["a", "b"] },
    };
    expect(await mounted({}, args as never, { ...anywhere, properties: {}, ...schema, $defs })).toEqual(args);
    expect(await mounted({ ...anywhere, ...schema }, { a: args }, { $defs })).toEqual({ a: args });
  });

  test.each<[JsonSchema, unknown, string]>([
    [oneName, { id: 1, name: 2, c: null }, "fits 2 of the forms"],
    [oneName, { c: null }, "fits none of the forms"],
    [notBoth, { a: 1, b: 2, c: null }, 'breaks the rule "not"'],
    [{ dependentRequired: { a: ["b"] } }, { a: 1, c: null }, "b: is required with a"],
    [{ dependentRequired: { a: ["b", "c"] }, properties: { b: text } }, { a: 1, b: null }, "c: is required with a"],
    [{ ...kinds, properties: { c: text } }, { kind: "x", c: null }, "y: is required"],
    [{ anyOf: [{ ...inner, required: ["b", "c"] }, text] }, { b: null, c: "x" }, 'c: expected number, got string "x"'],
    [{ propertyNames: { maxLength: 2 } }, { abc: null }, "abc: has a name that the schema does not allow"],
  ])("beside a null a rule about names stays: %j of %j", async (schema, args, message) => {
    expect(await mounted({ ...anywhere, ...schema }, { a: args })).toContain(message);
  });

  const date = { type: "string", format: "date" };
  const upper = { type: "string", pattern: "^[A-Z]+$" };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  const byKind = { if: { properties: { kind: upper } }, then: { properties: { n: number } } };
  test.each<[JsonSchema, unknown]>([
    [{ oneOf: [date, { type: "string", format: "time" }] }, "2026-01-01"],
    [{ oneOf: [date, number] }, "tomorrow"],
    [{ oneOf: [{ $ref: "#/$defs/date" }, { $ref: "#/$defs/time" }] }, "2026-01-01"],
    [{ oneOf: [date, upper], anyOf: [text, number] }, "A"],
    [{ not: upper }, "a"],
    [{ not: { $ref: "#/$defs/date" } }, "a"],
    [{ type: "array", items: { not: { anyOf: [number, upper] } } }, ["a"]],
    [{ not: { not: upper } }, "A"],
    [byKind, { kind: "a", n: "x" }],
    [
      { ...byKind, else: { required: ["m"] } },
      { kind: "A", n: 1 },
    ],
    [
      { ...byKind, unevaluatedProperties: false },
      { kind: "A", n: 1 },
    ],
    [{ type: "array", contains: upper, maxContains: 1 }, ["A", "b"]],
    [{ oneOf: [date, { properties: { b: number } }], properties: { c: { $ref: "#/properties/a/oneOf/1" } } }, { b: 1 }],
    [{ oneOf: [text, { properties: { c: { oneOf: [{ $ref: "#/properties/a/oneOf/0" }, number] } } }] }, { c: 1 }],
  ])("and makes no rule around it stricter: %j of %j", async (schema, a) => {
    const $defs = { date, time: { type: "string", format: "time" } };
    expect(await mounted(schema, { a }, { $defs })).toEqual({ a });
  });

  test.each<[JsonSchema, unknown, string]>([
    [{ oneOf: [date, number] }, true, "fits none of the forms"],
    [{ oneOf: [{ minLength: 2 }, { maxLength: 3 }] }, "xxx", "fits 2 of the forms"],
    [{ not: text }, "a", 'breaks the rule "not"'],
    [{ ...byKind, else: { required: ["m"] } }, { kind: "a", n: "x" }, "fits none of the forms"],
  ])("while the others stay: %j of %j", async (schema, a, message) => {
    expect(await mounted(schema, { a })).toContain(message);
  });
});

describe("repair: a value that fits, or could mean several things, is left alone", () => {
  test.each([
    [text, "10"],
    [text, "[1]"],
    [{ enum: ["a_b", "a-b", "A B"] }, "a-b"],
    [{ anyOf: [text, number] }, "10"],
    [{ type: ["string", "boolean"] }, "true"],
    [{}, "10"],
  ])("%j keeps %j", async (schema, given) => {
    expect(await check({ a: schema }, { a: given })).toEqual({ a: given });
  });

  test.each([
    [number, "ten"],
    [number, ""],
    [number, "0x10"],
    [number, "1e999"],
    [{ type: "integer" }, "1.5"],
    [{ type: "boolean" }, "yes"],
    [{ type: "boolean" }, 1],
    [text, 10],
    [{ type: "array", items: number }, "x"],
  ])("%j refuses %j, naming the field", async (schema, given) => {
    expect(await check({ a: schema }, { a: given })).toMatch(/^Invalid arguments: a/);
  });

  test("a valid value is never changed by repair", async () => {
    const schema = { n: number, s: text, b: { type: "boolean" }, l: { type: "array", items: text } };
    const valid = fc.record(
      {
        n: fc.double({ noNaN: true, noDefaultInfinity: true }),
        s: fc.string(),
        b: fc.boolean(),
        l: fc.array(fc.string()),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(valid, async (args) => {
        expect(await check(schema, args)).toEqual(args);
      }),
    );
  });

  test("repair is idempotent: what it made is valid and stays as it is", async () => {
    const schema = { n: number, l: { type: "array", items: number } };
    const given = fc.record({
      n: fc.integer().map(String),
      l: fc.array(fc.integer().map(String)).map((l) => JSON.stringify(l)),
    });
    await fc.assert(
      fc.asyncProperty(given, async (args) => {
        const once = await check(schema, args);
        expect(typeof once).toBe("object");
        expect(await check(schema, once)).toEqual(once);
      }),
    );
  });
});

describe("validation", () => {
  test.each([
    [{}, "path: is required, expected string"],
    [{ path: 1 }, "path: expected string, got number 1"],
    [{ path: "x", limit: 0 }, "limit: must be at least 1, got 0"],
    [{ path: "x", limit: 1.5 }, "limit: expected integer, got number 1.5"],
    [{ path: "x", mode: "z" }, 'mode: expected one of ["a","b"], got string "z"'],
    [{ path: "x", paths: "y" }, "paths: is not an argument (allowed: path, limit, mode)"],
    [{ path: "x", limti: 3 }, "limti: is not an argument; did you mean limit?"],
    [[1], "expected an object of arguments, got [1]"],
    ["x", 'expected an object of arguments, got "x"'],
    ['{"path": "x"', "expected an object of arguments, got text that is not valid JSON: Expected ',' or '}'"],
  ])("of %j says %s", async (args, message) => {
    const schema = { path: text, limit: { type: "integer", minimum: 1 }, mode: { enum: ["a", "b"] } };
    expect(await check(schema, args, { required: ["path"] })).toContain(message);
  });

  test.each<[JsonSchema, unknown, string]>([
    [{ format: "date" }, "x", 'a: does not have the format "date", got string "x"'],
    [{ multipleOf: 3 }, 4, "a: must be a multiple of 3, got 4"],
    [{ uniqueItems: true }, [1, 1], "a: must not hold an item twice"],
    [{ minProperties: 2 }, { b: 1 }, "a: must have a number of properties of at least 2, got 1"],
    [{ propertyNames: { pattern: "^x" } }, { b: 1 }, "a.b: has a name that the schema does not allow"],
    [{ properties: { b: false } }, { b: 1 }, "a.b: is not allowed"],
    [{ dependentRequired: { b: ["c"] } }, { b: 1 }, "a.c: is required with b"],
    [
      { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] },
      6,
      "a: fits 2 of the forms that the schema allows, and may fit only one, got number 6",
    ],
    [{ oneOf: [false, { multipleOf: 2 }, text, { multipleOf: 3 }] }, 6, "a: fits 2 of the forms"],
    [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, 5, "a: fits none of the forms"],
    [
      { anyOf: [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, text] },
      6,
      "the nearest form: a: fits 2 of the forms",
    ],
    [{ not: { type: "number" } }, 4, 'a: breaks the rule "not" of the schema'],
    [{ required: ['x".'] }, {}, 'a.x\\".": is required'],
    [{ properties: {}, additionalProperties: false }, { 'x" y/~': 1 }, 'a.x\\" y/~": is not an argument'],
    [{ unevaluatedProperties: false }, { b: 1 }, "a.b: is not an argument"],
  ])("against %j of %j says %s", async (schema, value, message) => {
    expect(await check({ a: schema }, { a: value })).toContain(message);
  });

  const shapes = {
    anyOf: [
      { type: "object", properties: { kind: { const: "circle" }, r: number }, required: ["kind", "r"] },
      { type: "object", properties: { kind: { const: "box" }, w: number, h: number }, required: ["kind", "w", "h"] },
    ],
  };
  test.each<[JsonSchema, unknown, string]>([
    [{ type: "string", enum: ["x", "y"] }, 5, 'a: expected one of ["x","y"], got number 5'],
    [{ type: "string", enum: ["x"] }, { b: 1 }, 'a: expected one of ["x"], got object'],
    [{ anyOf: [text, number] }, {}, "; expected string or number"],
    [shapes, { kind: "box", w: 1 }, "; the nearest form: a.h: is required, expected number"],
    [shapes, { kind: "circle", r: "big" }, '; the nearest form: a.r: expected number, got string "big"'],
    [
      { oneOf: [{ type: "array", items: number }, number] },
      ["x"],
      '; the nearest form: a[0]: expected number, got string "x"',
    ],
    [
      { anyOf: [{ enum: ["x", "y"] }, { type: "null" }] },
      "z",
      '; the nearest form: a: expected one of ["x","y"], got string "z"',
    ],
    [{ anyOf: [{ anyOf: [shapes, { type: "null" }] }, number] }, { kind: "box", h: 1 }, "a.w: is required"],
  ])(
    "a refused enum names its values, a union the reason of its nearest form: %j of %j",
    async (schema, value, message) => {
      expect(await check({ a: schema }, { a: value })).toContain(message);
    },
  );

  test("names nested fields as a path", async () => {
    const edit = { type: "object", properties: { old: text }, required: ["old"], additionalProperties: false };
    expect(await check({ edits: { type: "array", items: edit } }, { edits: [{ old: "a" }, {}] })).toContain(
      "edits[1].old: is required",
    );
  });

  test("describes the value of a property that only additionalProperties covers", async () => {
    const env = { type: "object", additionalProperties: text };
    expect(await check({ env }, { env: { PORT: 3000 } })).toContain("env.PORT: expected string, got number 3000");
  });

  test("clips what it echoes and bounds the number of complaints", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [`x${i}${"y".repeat(1000)}`, "z".repeat(1000)]),
    );
    const message = String(await check({ a: number }, { a: "w".repeat(100_000), ...many }));
    expect(message.length).toBeLessThan(3000);
    expect(message).toContain("and 996 more");
  });

  test("__proto__ and constructor are ordinary data", async () => {
    const args = JSON.parse('{"__proto__":{"x":1},"constructor":{"y":2}}');
    expect(await check({ a: text }, args)).toContain("is not an argument");
    expect(await check({}, args, { additionalProperties: true })).toEqual(args);
    expect(({} as { x?: unknown }).x).toBe(undefined);
  });

  test("cycles, throwing getters and revoked proxies are refused with a reason", async () => {
    const cycle: Record<string, unknown> = {};
    cycle.a = cycle;
    expect(await check({ a: {} }, cycle)).toContain("levels");
    const getter = Object.defineProperty({}, "a", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    expect(await check({ a: {} }, getter)).toContain("cannot be read");
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(await check({ a: {} }, proxy)).toContain("cannot be read");
    expect(await check({ a: text }, { a: () => 1 })).toMatch(/^Invalid arguments/);
  });
});

test("a format that no draft has is not checked: the library's own expression for it could run away", async () => {
  const a = `http://${"a".repeat(60)}!`;
  expect(await check({ a: { type: "string", format: "url" } }, { a })).toEqual({ a });
});

describe("a pattern", () => {
  test("is enforced", async () => {
    const schema = { a: { type: "string", pattern: "^[a-z]+$" } };
    expect(await check(schema, { a: "abc" })).toEqual({ a: "abc" });
    expect(await check(schema, { a: "ABC" })).toContain('a: does not match the pattern "^[a-z]+$"');
    expect(await check(schema, { a: `${"a".repeat(5000)}` })).toEqual({ a: "a".repeat(5000) });
    expect(await check({ a: { type: "string", pattern: "^\\_x$" } }, { a: "_x" })).toEqual({ a: "_x" });
    const escaped = { a: { type: "string", pattern: "^\\d\\-\\@[\\w\\-\\_]\\\\@$" } };
    expect(await check(escaped, { a: "1-@-\\@" })).toEqual({ a: "1-@-\\@" });
    expect(await check(escaped, { a: "1-@ \\@" })).toContain("a: does not match the pattern");
  });
});
