import fc from "fast-check";
import { expect, test } from "vitest";
import { copyJson } from "../json.ts";
import { mountedSchema } from "./mountedArguments.ts";
import { repair } from "./repair.ts";
import { schemaProblem } from "./schema.ts";
import { compileQuickCheck, createValidator } from "./validator.ts";

const leaf = fc.oneof(
  fc.record({ type: fc.constantFrom("string", "number", "integer", "boolean", "null") }),
  fc.record({
    type: fc.constant("integer"),
    minimum: fc.integer({ min: -3, max: 3 }),
    maximum: fc.integer({ min: -3, max: 9 }),
  }),
  fc.record({ type: fc.constant("string"), minLength: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ enum: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 }) }),
);
const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.integer({ min: 0, max: 2 }) }),
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("schema"), { maxKeys: 2 }),
      required: fc.uniqueArray(fc.constantFrom("a", "b"), { maxLength: 2 }),
      additionalProperties: fc.boolean(),
    }),
  ),
}));
const value = fc.jsonValue({ maxDepth: 3, stringUnit: fc.constantFrom("a", "b", "😀") });

test("what the quick check accepts the validator accepts too", async () => {
  await fc.assert(
    fc.asyncProperty(schema, value, async (inner, given) => {
      const parameters = { type: "object", properties: { v: inner }, required: ["v"] };
      expect(schemaProblem(parameters)).toBe(undefined);
      const accepts = compileQuickCheck(inner);
      expect(accepts).toBeTypeOf("function");
      if (!accepts?.(copyJson(given))) return;
      const full = createValidator({ ...parameters, allOf: [] as never });
      expect(await full({ v: given })).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("what the quick check accepts is what repair would leave as it is", () => {
  fc.assert(
    fc.property(schema, value, (inner, given) => {
      const parameters = { type: "object", properties: { v: inner } };
      if (compileQuickCheck(parameters)?.(copyJson({ v: given })))
        expect(repair(copyJson({ v: given }), parameters)).toEqual(copyJson({ v: given }));
    }),
    { numRuns: 500 },
  );
});

test("a schema with any other keyword is left to the validator", () => {
  for (const rest of [
    { pattern: "a" },
    { anyOf: [{}] },
    { $ref: "#" },
    { format: "email" },
    { not: {} },
    { surprise: 1 },
  ]) {
    expect(compileQuickCheck({ type: "string", ...rest })).toBe(undefined);
  }
});

test("a keyword that is left out of a schema does not count as another one", () => {
  expect(compileQuickCheck(mountedSchema({ properties: { a: { type: "string", format: "date" } } }))).toBeTypeOf(
    "function",
  );
});
