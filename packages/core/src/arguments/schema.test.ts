import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonSchema } from "../interface.ts";
import { copyJson, deepFreeze } from "../json.ts";
import { qualifiesForStrict, schemaProblem } from "./schema.ts";
import { createValidator } from "./validator.ts";

const object = (rest: object): JsonSchema => ({ type: "object", ...rest });

describe("what register accepts as parameters", () => {
  test.each([
    [{}, "root"],
    [{ type: "string" }, "root"],
    [{ type: ["object"] }, "root"],
    [null, "JSON Schema object"],
    [[], "JSON Schema object"],
    ["object", "JSON Schema object"],
    [object({ properties: [] }), "parameters/properties"],
    [object({ properties: { a: 1 } }), "parameters/properties/a"],
    [object({ properties: { a: { type: "strnig" } } }), "not a JSON Schema type"],
    [object({ properties: { a: { type: [] } } }), "not a JSON Schema type"],
    [object({ required: "a" }), "array of different strings"],
    [object({ required: ["a", "a"] }), "array of different strings"],
    [object({ properties: { a: { pattern: "(" } } }), "regular expression"],
    [object({ patternProperties: { "(": {} } }), "regular expression"],
    [object({ properties: { a: { $ref: "#/$defs/none" } } }), "does not lead"],
    [object({ properties: { a: { $ref: "https://elsewhere.example/schema" } } }), "does not lead"],
    [object({ properties: { a: { $ref: 1 } } }), "does not lead"],
    [object({ properties: { a: { minLength: -1 } } }), "whole number"],
    [object({ properties: { a: { minimum: "1" } } }), "must be a number"],
    [object({ properties: { a: { multipleOf: 0 } } }), "above 0"],
    [object({ properties: { a: { anyOf: [] } } }), "not empty"],
    [object({ properties: { a: { items: 3 } } }), "must be a schema"],
    [object({ properties: { a: { enum: "x" } } }), "must be an array"],
    [object({ properties: { a: { uniqueItems: 1 } } }), "true or false"],
    [object({ additionalProperties: "no" }), "must be a schema"],
  ])("refuses %j", (schema, problem) => {
    expect(schemaProblem(schema)).toContain(problem);
  });

  test.each([
    [object({})],
    [object({ properties: { a: true, b: false } })],
    [object({ properties: { a: { $ref: "#/$defs/x" } }, $defs: { x: { type: "string" } } })],
    [object({ properties: { a: { $ref: "#" } } })],
    [object({ properties: { a: { pattern: "^\\d{4}\\-\\d\\d\\@[\\w\\-\\_]$" } } })],
    [object({ properties: { a: { $ref: "#named" } }, $defs: { x: { $anchor: "named" } } })],
    [object({ properties: { a: { $ref: "urn:x" } }, $defs: { x: { $id: "urn:x" } } })],
    [object({ properties: { "a/b": { type: "string" }, c: { $ref: "#/properties/a~1b" } } })],
    [object({ properties: { a: { type: ["string", "null"], "x-hint": 1, nullable: true } } })],
    [
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        type: "object",
        definitions: {},
        dependencies: { a: ["b"] },
      },
    ],
  ])("accepts %j", (schema) => {
    expect(schemaProblem(schema)).toBe(undefined);
  });

  test("strict is granted only to schemas closed and required all the way down", () => {
    const closed = object({ properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false });
    expect(qualifiesForStrict(closed)).toBe(true);
    expect(qualifiesForStrict({ ...closed, required: [] })).toBe(false);
    expect(qualifiesForStrict({ ...closed, additionalProperties: true })).toBe(false);
    const nested = object({
      properties: { a: { type: "array", items: object({}) } },
      required: ["a"],
      additionalProperties: false,
    });
    expect(qualifiesForStrict(nested)).toBe(false);
  });
});

type Group = {
  description: string;
  schema: Record<string, unknown>;
  tests: { description: string; data: unknown; valid: boolean }[];
};

/** The part of the suite (draft-04 as published on npm) that later drafts kept and that needs no other document. */
const suite = join(dirname(createRequire(import.meta.url).resolve("json-schema-test-suite")), "tests", "draft4");
const changedSince = new Set(["ref.json", "refRemote.json", "definitions.json", "additionalItems.json"]);

describe("JSON-Schema-Test-Suite", () => {
  for (const file of readdirSync(suite).filter((name) => name.endsWith(".json") && !changedSince.has(name))) {
    const groups = (JSON.parse(readFileSync(join(suite, file), "utf8")) as Group[]).filter(
      ({ schema }) => !("exclusiveMinimum" in schema || "exclusiveMaximum" in schema || Array.isArray(schema.items)),
    );
    test(file, async () => {
      for (const { description, schema, tests } of groups) {
        const parameters = deepFreeze(
          copyJson(object({ properties: { value: schema }, required: ["value"] })),
        ) as never;
        expect(schemaProblem(parameters), description).toBe(undefined);
        const validate = createValidator(parameters);
        for (const { description: what, data, valid } of tests) {
          // `1.0` is an integer from draft-06 on.
          expect((await validate({ value: data })).length === 0, `${description}: ${what}`).toBe(valid);
        }
      }
    });
  }
});
