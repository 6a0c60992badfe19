import { expect, test } from "vitest";
import { fromMcpHints, toAnthropicTool, toMcpTool, toOpenAIChatTool, toOpenAIResponsesTool } from "./formats.ts";
import type { ChatTool, JsonSchema } from "./interface.ts";

const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const tool: ChatTool = { type: "function", function: { name: "t", description: "d", parameters } };

test("chat completions: nested, strict present", () => {
  expect(toOpenAIChatTool(tool)).toEqual({
    type: "function",
    function: { name: "t", description: "d", parameters, strict: false },
  });
});

test("Responses: flat, strict present", () => {
  expect(toOpenAIResponsesTool(tool)).toEqual({
    type: "function",
    name: "t",
    description: "d",
    parameters,
    strict: false,
  });
});

test("Anthropic: input_schema, strict only where asked for", () => {
  expect(toAnthropicTool(tool)).toEqual({ name: "t", description: "d", input_schema: parameters });
  const strict = (schema: JsonSchema): ChatTool => ({
    ...tool,
    function: { ...tool.function, parameters: schema, strict: true },
  });
  expect(toAnthropicTool(strict({ ...parameters, additionalProperties: false })).strict).toBe(true);
  expect(toAnthropicTool(strict(parameters)).strict).toBeUndefined();
});

test("MCP: inputSchema and the stated traits as hints", () => {
  expect(toMcpTool(tool)).toEqual({ name: "t", description: "d", inputSchema: parameters });
  expect(toMcpTool(tool, { readOnly: true, destructive: false }).annotations).toEqual({
    readOnlyHint: true,
    destructiveHint: false,
  });
});

test("MCP: hints become traits where they are stated", () => {
  expect(fromMcpHints({ readOnlyHint: true, openWorldHint: false, destructiveHint: "yes", title: "t" })).toEqual({
    readOnly: true,
    openWorld: false,
  });
  expect(fromMcpHints({})).toEqual({});
});

test("a mapping leaves the frozen schema as it is and is the same byte for byte each time", () => {
  const before = JSON.stringify(tool);
  for (const map of [toOpenAIChatTool, toOpenAIResponsesTool, toAnthropicTool, toMcpTool]) {
    expect(JSON.stringify(map(tool))).toBe(JSON.stringify(map(tool)));
  }
  expect(JSON.stringify(tool)).toBe(before);
});

test("toMcpTool can map a list: the index is not read as traits", () => {
  expect([tool, tool].map(toMcpTool)).toEqual([toMcpTool(tool), toMcpTool(tool)]);
});
