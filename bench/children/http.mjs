// A run of 50 steps against a chat-completions server on loopback: the agent, or a plain loop over the same SDK.
import { Agent } from "@toolcrib/agent";
import { OpenAICompatibleProvider } from "@toolcrib/agent/openai-compatible";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import OpenAI from "openai";
import { answer } from "../pairs.mjs";

const [kind, baseURL] = process.argv.slice(2);
const add = defineTool({
  name: "add",
  description: "Adds.",
  parameters: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
  execute: ({ a, b }) => String(a + b),
});
const tools = new ToolRegistry();
tools.register(add);

async function plainLoop() {
  const client = new OpenAI({ apiKey: "none", baseURL, maxRetries: 0 });
  const messages = [{ role: "user", content: "go" }];
  for (;;) {
    const stream = await client.chat.completions.create({
      model: "m",
      messages,
      tools: tools.getEnabledSchemas(),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    const calls = [];
    for await (const { choices } of stream) {
      const delta = choices[0]?.delta;
      text += delta?.content ?? "";
      for (const part of delta?.tool_calls ?? []) {
        calls[part.index] ??= { id: part.id, type: "function", function: { name: part.function.name, arguments: "" } };
        calls[part.index].function.arguments += part.function.arguments ?? "";
      }
    }
    messages.push({ role: "assistant", content: text || null, ...(calls.length > 0 ? { tool_calls: calls } : {}) });
    if (calls.length === 0) return text;
    for (const call of calls) {
      messages.push({
        role: "tool",
        tool_call_id: call.id,
        content: await add.execute(JSON.parse(call.function.arguments)),
      });
    }
  }
}

answer(async () => {
  if (kind === "plain") return (await plainLoop()).length;
  const provider = new OpenAICompatibleProvider({ apiKey: "none", baseURL, model: "m" });
  return (await new Agent(provider, { tools, maxSteps: 1000 }).chat("go")).length;
});
