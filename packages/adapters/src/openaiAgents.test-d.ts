import { Agent, Runner, run, tool } from "@openai/agents";
import { ToolRegistry } from "@toolcrib/core";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { openAIAgentsRunOptions, toOpenAIAgentsTools } from "./openaiAgents.ts";

const registry = new ToolRegistry();

test("agents and runs accept the tools and options as they are, with and without a context", () => {
  const tools = toOpenAIAgentsTools(registry, { timeoutMs: 5 });
  const options = openAIAgentsRunOptions(registry);
  const other = tool({ name: "other", description: "", parameters: z.object({}), execute: () => "" });
  const agent = new Agent({ name: "clerk", tools: [...tools, other] });
  const informed = new Agent<{ user: string }>({ name: "informed", tools });
  expectTypeOf(agent).toExtend<Agent>();
  void (() => run(agent, "go", options));
  void (() => run(informed, "go", { ...options, context: { user: "u" }, stream: true }));
  void (() => new Runner({ ...options, workflowName: "w" }));
});
