import type { ExecutableTool, JsonSchema } from "@toolcrib/core";
import { createEditFileTool } from "@toolcrib/tools-fs";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { createDefaultToolRegistry } from "./factory.ts";

const registry = createDefaultToolRegistry();
const ten = registry.getToolNames().map((name) => registry.get(name) as ExecutableTool);

/** Every named parameter below a schema, by its path. */
function parametersOf({ properties = {}, items }: JsonSchema, at: string): [path: string, schema: JsonSchema][] {
  const named = Object.entries(properties as Record<string, JsonSchema>).flatMap(
    ([name, schema]): [string, JsonSchema][] => [[`${at}.${name}`, schema], ...parametersOf(schema, `${at}.${name}`)],
  );
  return items === undefined ? named : [...named, ...parametersOf(items as JsonSchema, `${at}[]`)];
}

const parameters = [...ten, createEditFileTool()].flatMap((tool) =>
  parametersOf(tool.getSchema().function.parameters, tool.name),
);

test("every parameter has a description, nested ones too", () => {
  expect(parameters.map(([path]) => path)).toContain("edit_file.edits[].old_text");
  for (const [path, schema] of parameters) expect(schema.description, path).toMatch(/\w/);
});

test("the ten schemas are at most 1,000 o200k tokens as the JSON of a chat-completions request", () => {
  const schemas = registry.listTools().map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters, strict: false },
  }));
  expect(schemas).toHaveLength(10);
  expect(encode(JSON.stringify(schemas)).length).toBeLessThanOrEqual(1000);
});
