import type { ExecutableTool, JsonSchema } from "@toolcrib/core";
import { defineTool } from "@toolcrib/core";
import { expect, test } from "vitest";
import { createManifest } from "./toolContract.ts";

const properties = {
  path: { type: "string", description: "Where." },
  description: { type: "string", default: { description: "data" } },
};
const parameters: JsonSchema = {
  type: "object",
  description: "Arguments.",
  properties,
  anyOf: [{ description: "One.", required: ["path"] }],
};

function wordsOf(change: JsonSchema = {}, more: Partial<ExecutableTool> = {}, description = "Does it."): string {
  const schema = { ...parameters, ...change };
  const tool = { ...defineTool({ name: "act", description, parameters: schema, execute: () => "" }), ...more };
  return createManifest("pack", [tool]).tools[0]?.words ?? "";
}

test("the digest of words is another after any change of a description, and after no other change", () => {
  const own = wordsOf();
  expect(wordsOf({}, { readOnly: true, origin: "pack" })).toBe(own);
  expect(wordsOf({ required: ["path"] })).toBe(own);
  expect(wordsOf({ properties: { ...properties, more: {} } })).toBe(own);
  const others = [
    wordsOf({}, {}, "Does another thing."),
    wordsOf({ description: "Others." }),
    wordsOf({ properties: { path: { description: "Where." }, description: { description: "Where." } } }),
    wordsOf({ properties: { path: { description: "There." } } }),
    wordsOf({ anyOf: [{ description: "Two." }] }),
  ];
  expect(new Set([own, ...others]).size).toBe(others.length + 1);
});
