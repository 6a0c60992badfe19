import { type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { type DefinitionWire, definitionListProblems } from "@toolcrib/testing";
import { asSchema } from "ai";
import { expect, test } from "vitest";
import { toAiSdkTools } from "./aiSdk.ts";
import { toAnthropicTools } from "./anthropic.ts";
import { toGeminiTool } from "./gemini.ts";
import { toLangChainTools } from "./langchain.ts";
import { toOpenAIResponsesTools, toOpenAITools } from "./openai.ts";
import { toOpenAIAgentsTools } from "./openaiAgents.ts";

const text = { type: "string" };
const odd = {
  plain: { type: "object" },
  union: { type: "object", oneOf: [{ properties: { a: text }, required: ["a"] }, { properties: { $b: text } }] },
  words: {
    type: "object",
    properties: {
      $filter: text,
      list: { type: "array" },
      pair: { items: [text] },
      n: { minimum: 1, exclusiveMinimum: true },
    },
  },
  tree: { type: "object", properties: { child: { $ref: "#" } } },
};

function toolOf(name: string, parameters: object): ExecutableTool {
  const getSchema = () =>
    ({ type: "function", function: { name, description: "d", parameters: { ...parameters } } }) as const;
  return { name, getSchema, execute: async (args) => JSON.stringify(args) };
}

const registry = new ToolRegistry(Object.entries(odd).map(([name, parameters]) => toolOf(name, parameters)));

test.each<[loop: string, wire: DefinitionWire, definitions: () => readonly unknown[]]>([
  [
    "OpenAI's runner",
    "chat",
    () => toOpenAITools(registry).map(({ type, function: { function: _, ...own } }) => ({ type, function: own })),
  ],
  ["Responses", "responses", () => toOpenAIResponsesTools(registry)],
  ["Anthropic's runner", "messages", () => toAnthropicTools(registry)],
  ["Gemini", "gemini", () => toGeminiTool(registry).functionDeclarations],
  ["OpenAI Agents", "responses", () => toOpenAIAgentsTools(registry)],
  [
    "LangChain",
    "any",
    () =>
      toLangChainTools(registry).map(({ name, description, schema }) => ({ name, description, parameters: schema })),
  ],
  [
    "the AI SDK",
    "any",
    () =>
      Object.entries(toAiSdkTools(registry)).map(([name, { description, inputSchema }]) => ({
        name,
        description,
        parameters: asSchema(inputSchema).jsonSchema,
      })),
  ],
])("a definition that a service refuses never goes out: %s", (_loop, wire, definitions) => {
  expect(definitions()).toHaveLength(4);
  expect(definitionListProblems(wire, definitions())).toEqual([]);
});

test("a name that Gemini does not take is an error for an own tool, and left out for a mounted one", () => {
  const first = toolOf("1st", odd.plain);
  expect(() => toGeminiTool(new ToolRegistry([first]))).toThrow(/Invalid tool "1st": for Gemini/);
  expect(toGeminiTool(new ToolRegistry([{ ...first, hints: {} }])).functionDeclarations).toEqual([]);
});

test("more than 128 tools are said before the request, where chat completions are spoken", () => {
  const many = new ToolRegistry(Array.from({ length: 129 }, (_, index) => toolOf(`t${index}`, odd.plain)));
  expect(() => toOpenAITools(many)).toThrow(/129 tools are enabled, and chat completions take at most 128/);
  expect(toOpenAIResponsesTools(many)).toHaveLength(129);
});
