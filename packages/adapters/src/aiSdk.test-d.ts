import { ToolRegistry } from "@toolcrib/core";
import { generateText, streamText, type Tool, ToolLoopAgent, type ToolSet, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { fromAiSdkTool, toAiSdkTools } from "./aiSdk.ts";

const registry = new ToolRegistry();
const model = new MockLanguageModelV4();

test("the AI SDK accepts the tools as they are, alone and beside others", () => {
  const tools = toAiSdkTools(registry, { labels: { chat: 1 }, timeoutMs: 5 });
  expectTypeOf(tools).toEqualTypeOf<ToolSet>();
  const other = tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => city });
  void (() => generateText({ model, prompt: "", tools }));
  void (() => streamText({ model, prompt: "", tools: { ...tools, other } }));
  void (() => new ToolLoopAgent({ model, tools }));
  expectTypeOf(fromAiSdkTool).toBeCallableWith("other", other);
  expectTypeOf(fromAiSdkTool).parameter(1).toEqualTypeOf<Tool>();
});
