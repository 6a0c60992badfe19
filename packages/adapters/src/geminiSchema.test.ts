import { expect, test } from "vitest";
import { toGeminiSchema } from "./geminiSchema.ts";

test("keeps what Gemini reads, at every depth, and drops the rest", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      path: { type: "string", minLength: 1, pattern: "^/", description: "A path." },
      mode: { const: "fast" },
      tags: { type: "array", items: { type: ["string", "null"], not: { const: "" } }, maxItems: 3, uniqueItems: true },
      either: {
        oneOf: [
          { type: "string", examples: ["x"] },
          { type: "integer", minimum: 0, multipleOf: 2 },
        ],
      },
      pattern: { type: "string" },
    },
    required: ["path"],
    additionalProperties: false,
  };
  expect(toGeminiSchema(schema)).toEqual({
    type: "object",
    properties: {
      path: { type: "string", description: "A path." },
      mode: { enum: ["fast"] },
      tags: { type: "array", items: { type: ["string", "null"] }, maxItems: 3 },
      either: { oneOf: [{ type: "string" }, { type: "integer", minimum: 0 }] },
      pattern: { type: "string" },
    },
    required: ["path"],
    additionalProperties: false,
  });
});

test("tells a default in words, as Gemini takes no such keyword", () => {
  const properties = {
    limit: { type: "integer", default: 500, description: "Most results" },
    mode: { enum: ["lines"], default: "lines" },
    default: { type: "string" },
  };
  expect(toGeminiSchema({ type: "object", properties })).toEqual({
    type: "object",
    properties: {
      limit: { type: "integer", description: "Most results; default 500" },
      mode: { enum: ["lines"], description: 'default "lines"' },
      default: { type: "string" },
    },
  });
});

test("rewrites draft-07 spellings, and leaves nothing beside a reference", () => {
  const schema = {
    type: "object",
    properties: {
      node: { $ref: "#/definitions/node", description: "The node." },
      pair: { type: "array", items: [{ type: "string" }, { type: "number" }] },
      one: { allOf: [{ type: "string", maxLength: 2 }], description: "One." },
    },
    definitions: { node: { type: "object", minProperties: 1 } },
  };
  expect(toGeminiSchema(schema)).toEqual({
    type: "object",
    properties: {
      node: { $ref: "#/$defs/node" },
      pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
      one: { type: "string", description: "One." },
    },
    $defs: { node: { type: "object" } },
  });
});
