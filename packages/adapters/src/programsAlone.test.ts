import { defineTool, ToolRegistry } from "@toolcrib/core";
import { expect, test } from "vitest";
import { toAiSdkTools } from "./aiSdk.ts";
import { toAnthropicTools } from "./anthropic.ts";
import { toGeminiTool } from "./gemini.ts";
import { registryMiddleware, toLangChainTools } from "./langchain.ts";
import { toOpenAIResponsesTools, toOpenAIRunnerFunctions, toOpenAITools } from "./openai.ts";
import { toOpenAIAgentsTools } from "./openaiAgents.ts";

const parameters = { type: "object" } as const;
const tool = (name: string, callers?: readonly ("model" | "programs")[]) =>
  defineTool({ name, description: "Says.", parameters, ...(callers && { callers }), execute: () => "said" });
const registry = new ToolRegistry([
  ...[tool("plain"), tool("both", ["model", "programs"])],
  ...[tool("hidden", ["programs"]), tool("model_only", ["model"])],
]);
const shown = ["plain", "both", "model_only"];

test.each<[string, () => unknown]>([
  ["the AI SDK", () => Object.keys(toAiSdkTools(registry))],
  ["Anthropic", () => toAnthropicTools(registry).map((one) => one.name)],
  ["Gemini", () => toGeminiTool(registry).functionDeclarations?.map((one) => one.name)],
  ["LangChain", () => toLangChainTools(registry).map((one) => one.name)],
  ["LangChain's middleware", () => registryMiddleware(registry).tools?.map((one) => (one as { name: string }).name)],
  ["OpenAI", () => toOpenAITools(registry).map((one) => one.function.name)],
  ["OpenAI's runner", () => toOpenAIRunnerFunctions(registry).map((one) => one.tool.name)],
  ["OpenAI's Responses", () => toOpenAIResponsesTools(registry).map((one) => one.name)],
  ["OpenAI Agents", () => toOpenAIAgentsTools(registry).map((one) => one.name)],
])("under %s a tool for programs alone is not sent to the model", (_, names) => {
  expect(names()).toEqual(shown);
});
