// A turn of 1,000 deltas, from the request of a page to the last byte of its stream: by our handler, or by the stream that the AI SDK writes for
// the same events.
import { Agent } from "@toolcrib/agent";
import { ToolRegistry } from "@toolcrib/core";
import { PageSessions } from "@toolcrib/page";
import { createUIHandler } from "@toolcrib/page/ai-sdk";
import { createUIMessageStream, createUIMessageStreamResponse } from "ai";
import { answer } from "../pairs.mjs";

const deltas = Array.from({ length: 1000 }, (_, index) => `word${index} `);
const usage = { inputTokens: 10, outputTokens: 1000, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const model = {
  name: "scripted",
  model: "talking",
  async *send() {
    for (const text of deltas) yield { type: "text-delta", text };
    const content = [{ type: "text", text: deltas.join("") }];
    yield { type: "reply", message: { role: "assistant", content }, stop: "stop", usage };
  },
};
const newAgent = () => new Agent(model, { tools: new ToolRegistry() });
const body = JSON.stringify({ id: "c", messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "go" }] }] });
let count = 0;

const ways = {
  async ours() {
    count += 1;
    const sessions = new PageSessions({ open: () => ({ journal: `session ${count}`, agent: newAgent }) });
    const headers = { "content-type": "application/json" };
    const request = new Request("http://page.test/chat", { method: "POST", headers, body });
    return await createUIHandler(sessions)(request);
  },
  async sdk() {
    const stream = createUIMessageStream({
      async execute({ writer }) {
        writer.write({ type: "start", messageId: "1" });
        writer.write({ type: "start-step" });
        writer.write({ type: "text-start", id: "text-1" });
        for await (const event of newAgent().streamChat("go"))
          if (event.type === "text-delta") writer.write({ type: "text-delta", id: "text-1", delta: event.text });
        writer.write({ type: "text-end", id: "text-1" });
        writer.write({ type: "finish", finishReason: "stop" });
      },
    });
    return createUIMessageStreamResponse({ stream });
  },
};
const respond = ways[process.argv[2]];

answer(async ({ turns = 20 }) => {
  let bytes = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    const response = await respond();
    for await (const chunk of response.body) bytes += chunk.length;
  }
  return { count: turns, bytes: bytes / turns };
});
