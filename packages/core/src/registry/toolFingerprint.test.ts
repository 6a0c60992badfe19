import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { defineTool } from "../defineTool.ts";
import type { ExecutableTool, JsonSchema } from "../interface.ts";
import { ToolRegistry } from "./registry.ts";
import { toolFingerprint } from "./toolFingerprint.ts";

const parameters: JsonSchema = {
  type: "object",
  description: "Arguments.",
  properties: {
    path: { type: "string", description: "Where." },
    description: { type: "string", default: { description: "data" } },
  },
  anyOf: [{ description: "One.", required: ["path"] }],
};

function tool(change: object = {}, schema: JsonSchema = parameters, description = "Does it."): ExecutableTool {
  const defined = defineTool({ name: "act", description, parameters: schema, execute: () => "" });
  return { ...defined, ...change };
}

test("is SHA-256 in hex of canonical JSON", () => {
  const text = '{"name":"act","origin":"own","parameters":{"type":"object"},"traits":{"readOnly":true}}';
  expect(toolFingerprint(tool({ readOnly: true }, { type: "object" }))).toBe(
    createHash("sha256").update(text).digest("hex"),
  );
});

test("of a tool and of its row in listTools is the same", () => {
  const change = { origin: "mcp:a", hints: { readOnly: true }, destructive: true };
  const [listing] = new ToolRegistry([tool(change)]).listTools();
  expect(listing && toolFingerprint(listing)).toBe(toolFingerprint(tool(change)));
});

test("is the same whatever the order of keys", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (schema) => {
      const reversed = Object.fromEntries(Object.entries(schema).reverse());
      expect(toolFingerprint(tool({}, reversed as JsonSchema))).toBe(toolFingerprint(tool({}, schema as JsonSchema)));
    }),
  );
});

const withProperties = (properties: object): JsonSchema => ({ ...parameters, properties });

test("is another after any change of name, origin, traits, hints or parameters", () => {
  const all = [
    tool(),
    tool({ origin: "pack" }),
    tool({ readOnly: true }),
    tool({ readOnly: false }),
    tool({ hints: { readOnly: true } }),
    tool({}, { type: "object" }),
    tool({}, withProperties({ path: { type: "string" } })),
    tool({}, withProperties({ ...(parameters.properties as object), description: { type: "number" } })),
    tool(
      {},
      withProperties({ path: { type: "string" }, description: { type: "string", default: { description: "other" } } }),
    ),
    {
      ...tool(),
      getSchema: () => ({ ...tool().getSchema(), function: { ...tool().getSchema().function, name: "b" } }),
    },
  ].map(toolFingerprint);
  expect(new Set(all).size).toBe(all.length);
});

test("counts descriptions for a mounted server's tools only", () => {
  const other = { ...parameters, description: "Others.", anyOf: [{ required: ["path"] }] };
  const own = toolFingerprint(tool());
  expect(toolFingerprint(tool({}, parameters, "Does another thing."))).toBe(own);
  expect(toolFingerprint(tool({}, other))).toBe(own);
  const origin = "mcp:a";
  const mounted = toolFingerprint(tool({ origin }));
  expect(toolFingerprint(tool({ origin }, parameters, "Does another thing."))).not.toBe(mounted);
  expect(toolFingerprint(tool({ origin }, other))).not.toBe(mounted);
});

test("a property named like a keyword of words counts wherever it is named", () => {
  const needs = (names: string[]): JsonSchema => ({ ...parameters, dependentRequired: { description: names } });
  expect(toolFingerprint(tool({}, needs(["path"])))).not.toBe(toolFingerprint(tool({}, needs([]))));
});
