import type { JsonSchema } from "@toolcrib/core";
import { expect, test } from "vitest";
import { toAnswerFormat } from "./answerFormat.ts";

const city = { type: "string", minLength: 1, description: "Its name." };

test("objects are closed, and limits that services refuse become words", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { city, people: { oneOf: [{ type: "integer", minimum: 0 }, { type: "null" }] } },
    required: ["city", "people"],
    additionalProperties: true,
  };
  expect(toAnswerFormat(schema)).toEqual({
    strict: true,
    schema: {
      type: "object",
      properties: {
        city: { type: "string", description: 'Its name. Must fit {"minLength":1}.' },
        people: { anyOf: [{ type: "integer", description: 'Must fit {"minimum":0}.' }, { type: "null" }] },
      },
      required: ["city", "people"],
      additionalProperties: false,
    },
  });
});

test("an optional property is no strict form", () => {
  expect(toAnswerFormat({ type: "object", properties: { city } })?.strict).toBe(false);
});

const list = (items: object) => ({
  type: "object",
  properties: { list: { type: "array", items } },
  required: ["list"],
});

test("definitions are kept where they do not lead back to themselves", () => {
  const schema = { ...list({ $ref: "#/$defs/city" }), $defs: { city, town: { $ref: "#/$defs/city" } } };
  expect(toAnswerFormat(schema)?.schema).toMatchObject({ $defs: { town: { $ref: "#/$defs/city" } } });
});

test.each<[string, JsonSchema]>([
  ["a circle of references", { ...list({ $ref: "#/$defs/a" }), $defs: { a: list({ $ref: "#/$defs/a" }) } }],
  ["a reference to the whole", list({ $ref: "#" })],
  ["a reference to elsewhere", list({ $ref: "https://example.com/a" })],
  ["an object with any property", list({ type: "object" })],
  ["an object as a map", list({ type: "object", additionalProperties: { type: "string" } })],
  ["a schema that is true", { type: "object", properties: { a: true } }],
  ["not", list({ not: { type: "string" } })],
  ["values that are objects", list({ enum: [{}] })],
  [
    "too many optional properties",
    { type: "object", properties: Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`p${n}`, city])) },
  ],
  ["too many unions", list({ anyOf: Array.from({ length: 16 }, () => ({ type: ["string", "null"] })) })],
])("none for %s", (_what, schema) => {
  expect(toAnswerFormat(schema)).toBeUndefined();
});

test("an empty object that is closed already stays so", () => {
  expect(toAnswerFormat(list({ type: "object", additionalProperties: false }))).toBeDefined();
});
