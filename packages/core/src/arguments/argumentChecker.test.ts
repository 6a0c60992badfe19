import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defineTool } from "../defineTool.ts";
import type { JsonSchema } from "../interface.ts";
import { createArgumentChecker } from "./argumentChecker.ts";

async function check(properties: Record<string, JsonSchema>, args: unknown, rest: object = {}) {
  const parameters = { type: "object" as const, properties, additionalProperties: false, ...rest };
  const tool = defineTool({ name: "t", description: "d", parameters, execute: () => "" });
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
    [{ not: { type: "number" } }, 4, 'a: breaks the rule "not" of the schema'],
    [{ required: ['x".'] }, {}, 'a.x\\".": is required'],
    [{ properties: {}, additionalProperties: false }, { 'x" y/~': 1 }, 'a.x\\" y/~": is not an argument'],
    [{ unevaluatedProperties: false }, { b: 1 }, "a.b: is not an argument"],
  ])("against %j of %j says %s", async (schema, value, message) => {
    expect(await check({ a: schema }, { a: value })).toContain(message);
  });

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

describe("a pattern", () => {
  test("that cannot run away is enforced", async () => {
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
