import { defineTool, type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { expect, test } from "vitest";
import { applyToolsChange } from "./mcpMount.ts";

const tool = (name: string, description: string): ExecutableTool =>
  defineTool({ name, description, parameters: { type: "object" }, execute: () => "" });

test("tools that a server gets or changes come into a conversation, off where the user has named others", () => {
  const registry = new ToolRegistry([tool("a", "One."), tool("b", "One."), tool("gone", "One.")]);
  registry.disable("b");
  const tools = [tool("a", "Two."), tool("b", "Two."), tool("new", "One."), tool("other", "One.")];
  const notes: string[] = [];
  const change = { server: "s", tools, withdrawn: ["gone"], problems: [] };
  applyToolsChange(
    registry,
    change,
    (name) => name === "other",
    (line) => notes.push(line),
  );
  const shown = registry.listTools().map(({ name, description, enabled }) => [name, description, enabled]);
  expect(shown).toEqual([
    ["gone", "One.", true],
    ["a", "Two.", true],
    ["b", "Two.", false],
    ["new", "One.", true],
    ["other", "One.", false],
  ]);
  expect(notes).toContain("The MCP server s has a new tool: new");
});
