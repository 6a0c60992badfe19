import { type JsonSchema, validateJson } from "@toolcrib/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compareArguments, type SchemaChange } from "./compareSchemas.ts";

const compareSchemas = (before: JsonSchema, after: JsonSchema): SchemaChange[] =>
  compareArguments({ parameters: before }, { parameters: after });

const breakingKinds = ["argument-required", "argument-gone", "narrowed", "incomparable"];
const breaks = (before: JsonSchema, after: JsonSchema): boolean =>
  compareSchemas(before, after).some(({ kind }) => breakingKinds.includes(kind));

const count = fc.integer({ min: 0, max: 3 });
const part = <T>(name: string, values: fc.Arbitrary<T>) => fc.record({ [name]: values }, { requiredKeys: [] });
const text = fc.constantFrom("a", "b", "ab", "abc");
const leaf = fc
  .tuple(
    part("type", fc.constantFrom("string", "number", "integer", "boolean", "null", "array", ["string", "integer"])),
    part("enum", fc.uniqueArray(fc.oneof(text, fc.constantFrom(0, 1, 2, 1.5, null, true)), { minLength: 1 })),
    part("minimum", count),
    part("maximum", count),
    part("exclusiveMinimum", fc.constantFrom(-1, 0, 0.5, 1)),
    part("exclusiveMaximum", fc.constantFrom(1, 2.5, 3)),
    part("multipleOf", fc.constantFrom(1, 2, 3, 0.5)),
    part("minLength", count),
    part("maxLength", count),
    part("pattern", fc.constantFrom("a", "^b")),
    part("const", fc.constantFrom("a", 1)),
  )
  // At most two keywords: with more of them hardly any value fits.
  .chain((parts) => fc.shuffledSubarray(parts, { minLength: 0, maxLength: 2 }))
  .map((parts) => Object.assign({}, ...parts) as JsonSchema);
const names = ["a", "b", "title", "__proto__"];
const { schema, object } = fc.letrec<{ schema: JsonSchema | boolean; object: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.boolean(),
    tie("object"),
    fc.record(
      { type: fc.constant("array"), items: tie("schema"), minItems: count, maxItems: count },
      { requiredKeys: ["type"] },
    ),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
    fc.record({ not: tie("schema") }),
  ) as fc.Arbitrary<JsonSchema | boolean>,
  object: fc.record(
    {
      type: fc.constant("object"),
      properties: fc.dictionary(fc.constantFrom(...names), tie("schema"), { maxKeys: 3 }),
      required: fc.uniqueArray(fc.constantFrom("a", "b"), { maxLength: 2 }),
      additionalProperties: tie("schema"),
      patternProperties: fc.dictionary(fc.constantFrom("^a", "b"), tie("schema"), { maxKeys: 1 }),
      minProperties: fc.constantFrom(0, 1),
      unevaluatedProperties: fc.constant(false),
    },
    { requiredKeys: ["type"] },
  ) as fc.Arbitrary<JsonSchema>,
}));
/** Another schema that often has much in common with the first: so that many pairs are comparable. */
const pair = fc.tuple(object, object, fc.integer({ min: 0, max: 1000 }), schema).map(([before, other, at, inner]) => {
  const after = structuredClone(before) as JsonSchema;
  if (at % 4 === 0) return [before, other] as const;
  const keywords = Object.keys(after).filter((keyword) => keyword !== "type");
  const keyword = keywords[at % Math.max(1, keywords.length)];
  if (at % 4 === 1 && keyword !== undefined) delete after[keyword];
  else if (at % 4 === 2) after.properties = { ...(after.properties as object), b: inner };
  else Object.assign(after, other);
  return [before, after] as const;
});
const value = fc.jsonValue({ maxDepth: 2, stringUnit: fc.constantFrom("a", "b") });
const given = fc.dictionary(
  fc.constantFrom(...names),
  fc.oneof(value, text, fc.constantFrom<unknown>(0, 1, 2, 1.5, null, true, {}, [], ["a"], [1, 2], { a: 1 })),
  { maxKeys: 3 },
);

/** Arguments are made only for pairs that need them: most changes are breaking. */
const pairAndArguments = pair.chain(([before, after]) => {
  const all = breaks(before, after) ? fc.constant([]) : fc.array(given, { minLength: 20, maxLength: 20 });
  return fc.tuple(fc.constant([before, after] as const), all);
});

test("without a breaking change all arguments that fit the schema before fit the one after", async () => {
  let checked = 0;
  await fc.assert(
    fc.asyncProperty(pairAndArguments, async ([[before, after], all]) => {
      // `allOf` sends each to the library, past the quick check.
      const whole = (one: JsonSchema): JsonSchema => ({ ...one, allOf: [...((one.allOf as []) ?? []), {}] });
      const [was, is] = [whole(before), whole(after)];
      for (const args of all) {
        if ((await validateJson(args, was)).length > 0) continue;
        checked += 1;
        expect(await validateJson(args, is), JSON.stringify(args)).toEqual([]);
      }
    }),
    { numRuns: 250 },
  );
  // Otherwise nothing was asked.
  expect(checked).toBeGreaterThan(40);
});

test("a schema compared with itself, in any order of keys and other words, has no change", () => {
  const reordered = (schema: unknown): unknown => {
    if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
    return Object.fromEntries(
      Object.entries(schema)
        .reverse()
        .map(([key, inner]) => [key, reordered(inner)]),
    );
  };
  fc.assert(
    fc.property(object, (one) => {
      expect(compareSchemas(one, reordered(one) as JsonSchema)).toEqual([]);
      expect(compareSchemas(one, { ...one, title: "other", description: "other", $comment: "" })).toEqual([]);
    }),
  );
});

test("an optional argument more never breaks a closed schema", () => {
  fc.assert(
    fc.property(object, schema, ({ patternProperties: _, unevaluatedProperties: __, ...one }, added) => {
      const before = { ...one, additionalProperties: false };
      const after = { ...before, properties: { ...(one.properties as object), added } };
      expect(breaks(before, after)).toBe(false);
    }),
  );
});

const closed = (properties: object, rest: object = {}): JsonSchema => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...rest,
});

const changed = (before: object, after: object): string[] =>
  compareSchemas(before as JsonSchema, after as JsonSchema).map(({ kind, path }) => `${kind} ${path}`);

/** Each row: what it is, an argument before and after, the change. */
test.each<[string, object, object, string]>([
  ["a narrower type", { type: "number" }, { type: "integer" }, "narrowed"],
  ["a wider type", { type: "string" }, { type: ["string", "null"] }, "widened"],
  ["a type where any was taken", {}, { type: "string" }, "narrowed"],
  [
    "the type of an enum, said: keywords are compared alone",
    { enum: ["x"] },
    { enum: ["x"], type: "string" },
    "narrowed",
  ],
  ["a higher minimum", { type: "integer", minimum: 0 }, { type: "integer", minimum: 1 }, "narrowed"],
  ["a higher maximum", { type: "integer", maximum: 5 }, { type: "integer", maximum: 9 }, "widened"],
  ["a maximum that was not there", { type: "integer" }, { type: "integer", maximum: 9 }, "narrowed"],
  ["a shorter text", { type: "string", maxLength: 9 }, { type: "string", maxLength: 5 }, "narrowed"],
  ["a pattern", { type: "string" }, { type: "string", pattern: "x" }, "narrowed"],
  ["a pattern dropped", { type: "string", pattern: "x" }, { type: "string" }, "widened"],
  ["a default that is no longer stated", { default: 1 }, {}, "default"],
  ["a default that was not stated before", {}, { default: 2 }, ""],
  [
    "one of several forms gone",
    { anyOf: [{ type: "string" }, { type: "number" }] },
    { anyOf: [{ type: "string" }] },
    "narrowed",
  ],
  ["several forms in place of one", { type: "string" }, { anyOf: [{ type: "string" }, { type: "array" }] }, "narrowed"],
  ["one form more", { anyOf: [{ type: "string" }] }, { anyOf: [{ type: "string" }, { type: "array" }] }, "widened"],
  ["another pattern", { pattern: "a" }, { pattern: "b" }, "incomparable"],
  ["an enum that leaves nothing of const", { const: "x", enum: ["x", "y"] }, { const: "x", enum: ["y"] }, "narrowed"],
])("%s", (_, before, after, kind) => {
  expect(changed(closed({ a: before }), closed({ a: after }))).toEqual(kind === "" ? [] : [`${kind} a`]);
});

/** Each row: what it is, all arguments before and after, the changes. */
test.each<[string, object, object, ...string[]]>([
  ["an optional argument that was required", closed({ a: {} }, { required: ["a"] }), closed({ a: {} }), "widened a"],
  [
    "an argument gone from an open object",
    { type: "object", properties: { a: { type: "string" } } },
    { type: "object" },
    "widened a",
  ],
  [
    "an argument inside a list",
    closed({ e: { type: "array", items: closed({ x: {} }) } }),
    closed({ e: { type: "array", items: closed({}) } }),
    "argument-gone e[].x",
  ],
  [
    "another default in one of several forms",
    closed({ limit: { anyOf: [{ type: "integer", default: 1 }, { type: "null" }] } }),
    closed({ limit: { anyOf: [{ type: "integer", default: 2 }, { type: "null" }] } }),
    "default limit",
  ],
  [
    "another default in allOf",
    { type: "object", allOf: [{ properties: { limit: { default: 1 } } }] },
    { type: "object", allOf: [{ properties: { limit: { default: 2 } } }] },
    "default limit",
  ],
  [
    "another default of any other name, and of the first element",
    { type: "object", additionalProperties: { default: 1 }, properties: { a: { prefixItems: [{ default: 1 }] } } },
    { type: "object", additionalProperties: { default: 2 }, properties: { a: { prefixItems: [{ default: 2 }] } } },
    "default *",
    "default a[]",
  ],
  [
    "another default in a definition",
    closed({ limit: { $ref: "#/$defs/n" } }, { $defs: { n: { type: "integer", default: 1 } } }),
    closed({ limit: { $ref: "#/$defs/n" } }, { $defs: { n: { type: "integer", default: 2 } } }),
    "default limit",
  ],
  [
    "a default in a definition of a list of itself",
    closed({ all: { $ref: "#/$defs/n" } }, { $defs: { n: { properties: { n: { $ref: "#/$defs/n" } }, default: 1 } } }),
    closed({ all: { $ref: "#/$defs/n" } }, { $defs: { n: { properties: { n: { $ref: "#/$defs/n" } }, default: 2 } } }),
    "default all",
  ],
  [
    "defaults of arguments whose paths look the same",
    closed({ "a.b": { default: 1 }, a: { properties: { b: { default: 3 } } } }),
    closed({ "a.b": { default: 2 }, a: { properties: { b: { default: 3 } } } }),
    "default a.b",
  ],
  [
    "a default inside an argument that is gone",
    closed({ a: closed({ b: { default: 1 } }), "a.b": { default: 1 } }),
    closed({ "a.b": { default: 2 } }),
    "argument-gone a",
    "default a.b",
  ],
  ["an argument called default", closed({ default: { const: 1 } }), closed({ default: { enum: [1] } })],
  ["an open object closed", { type: "object" }, { type: "object", additionalProperties: false }, "narrowed "],
  [
    "another condition",
    closed({}, { if: { required: ["a"] } }),
    closed({}, { if: { required: ["b"] } }),
    "incomparable ",
  ],
  ["a keyword that is not known", closed({}), closed({}, { unevaluatedProperties: false }), "incomparable "],
  [
    "a keyword that depends on its neighbours",
    { type: "object", properties: { a: {} }, unevaluatedProperties: false },
    { type: "object", unevaluatedProperties: false },
    "incomparable ",
  ],
  [
    "an argument with the name of a keyword",
    closed({ title: { type: "string" } }),
    closed({ title: { type: "number" } }),
    "narrowed title",
  ],
  [
    "references",
    closed({ a: { $ref: "#/$defs/x" } }, { $defs: { x: { type: "string" } } }),
    closed({ a: { $ref: "#/$defs/x" } }, { $defs: { x: { type: "number" } } }),
    "incomparable ",
  ],
  [
    "another draft, by which the same keywords say another thing",
    closed({ a: { items: [{ type: "string" }] } }, { $schema: "http://json-schema.org/draft-07/schema#" }),
    closed({ a: { items: [{ type: "string" }] } }, { $schema: "https://json-schema.org/draft/2020-12/schema" }),
    "incomparable ",
  ],
  ["the draft, said", closed({}), closed({}, { $schema: "https://json-schema.org/draft/2020-12/schema" })],
  [
    "words below a name that is referred to",
    closed({ a: { $ref: "#/$defs/x" } }, { $defs: { x: { type: "string", title: "X" } } }),
    closed({ a: { $ref: "#/$defs/x" } }, { $defs: { x: { type: "string", title: "Y" } } }),
  ],
  [
    "a name that looks like a word, below a keyword that is not known",
    closed({ a: { $ref: "#/components/title" } }, { components: { title: { type: "string" } } }),
    closed({ a: { $ref: "#/components/title" } }, { components: { title: { type: "number" } } }),
    "incomparable ",
  ],
  [
    "such a name inside a definition",
    closed({ a: { $ref: "#/$defs/x/own/title" } }, { $defs: { x: { own: { title: { type: "string" } } } } }),
    closed({ a: { $ref: "#/$defs/x/own/title" } }, { $defs: { x: { own: { title: { type: "number" } } } } }),
    "incomparable ",
  ],
])("%s", (_, before, after, ...changes) => {
  expect(changed(before, after)).toEqual(changes);
});

test("a schema too deep to compare ends, and counts as breaking", () => {
  const nested = (depth: number, end: JsonSchema): JsonSchema =>
    depth === 0 ? end : { anyOf: [nested(depth - 1, end), { type: "null" }], allOf: [{ type: ["object", "null"] }] };
  expect(breaks(nested(60, { type: "object" }), nested(60, { type: "array" }))).toBe(true);
});

test("a schema nested 20,000 levels deep is too large to compare", () => {
  const nested = (end: JsonSchema): JsonSchema => {
    let schema = end;
    for (let level = 0; level < 20_000; level += 1) schema = { type: "object", properties: { a: schema } };
    return schema;
  };
  const tooLarge = [{ kind: "incomparable", path: "", detail: "is too large to compare" }];
  expect(compareSchemas(nested({ type: "string" }), nested({ default: 1 }))).toEqual(tooLarge);
  expect(compareSchemas(nested({}), {})).toEqual(tooLarge);
  expect(compareSchemas({}, nested({}))).toEqual(tooLarge);
});
