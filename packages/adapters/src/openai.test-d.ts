import { ToolRegistry } from "@toolcrib/core";
import OpenAI from "openai";
import type { ResponseInput } from "openai/resources/responses/responses";
import { test } from "vitest";
import { runOpenAIResponsesCalls, toOpenAIResponsesTools, toOpenAITools } from "./openai.ts";

const registry = new ToolRegistry();
const client = new OpenAI({ apiKey: "none" });
const messages = [{ role: "user" as const, content: "go" }];
const model = "gpt-6-luna";

test("runTools accepts the tools as they are, streaming or not", () => {
  const tools = toOpenAITools(registry, { timeoutMs: 5 });
  void (() => client.chat.completions.runTools({ model, messages, tools }));
  void (() => client.chat.completions.runTools({ model, messages, tools, stream: true }));
});

test("Responses accepts the tools and the results as they are", () => {
  const tools = toOpenAIResponsesTools(registry);
  void (async () => {
    const { output } = await client.responses.create({ model, input: "go", tools });
    const input: ResponseInput = await runOpenAIResponsesCalls(registry, output, { labels: { chat: 1 } });
    await client.responses.create({ model, input, tools: [...tools, { type: "web_search" }] });
  });
});
