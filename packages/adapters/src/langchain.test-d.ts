import { fakeModel } from "@langchain/core/testing";
import { type ClientTool, DynamicTool, type StructuredTool, tool } from "@langchain/core/tools";
import { type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { createAgent } from "langchain";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { fromLangChainTool, registryMiddleware, toLangChainTools } from "./langchain.ts";

const registry = new ToolRegistry();
const model = fakeModel();

test("LangChain accepts the tools and the middleware as they are", () => {
  const tools = toLangChainTools(registry, { labels: { chat: 1 } });
  const other = tool(({ city }) => city, { name: "other", description: "", schema: z.object({ city: z.string() }) });
  const agent = createAgent({ model, tools });
  const both: ClientTool[] = [...tools, other];
  void createAgent({ model, tools: both });
  const following = createAgent({ model, tools: [other], middleware: [registryMiddleware(registry)] });
  void (() => agent.invoke({ messages: "go" }));
  void (() => following.invoke({ messages: "go" }));
  void (() => model.bindTools(tools));
});

test("tools of every LangChain kind are accepted", () => {
  const zod = tool(({ city }) => city, { name: "a", description: "", schema: z.object({ city: z.string() }) });
  const text = new DynamicTool({ name: "b", description: "", func: async (input) => input });
  expectTypeOf(fromLangChainTool(zod)).toEqualTypeOf<ExecutableTool>();
  void (() => fromLangChainTool(text));
  void ((structured: StructuredTool) => fromLangChainTool(structured));
});
