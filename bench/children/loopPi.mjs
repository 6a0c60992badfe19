// The same steps in pi-agent-core with a stream function in process.

import { answer } from "../pairs.mjs";
import { importPeer, installPeer } from "../peers.mjs";

const home = installPeer("pi-agent-core");
const { Agent } = await importPeer(home, "@mariozechner/pi-agent-core");
const { createAssistantMessageEventStream, Type } = await importPeer(home, "@mariozechner/pi-ai");
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost };
const model = {
  id: "m",
  name: "m",
  api: "openai-completions",
  provider: "openai",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost,
  contextWindow: 1e9,
  maxTokens: 1e6,
};
const add = {
  name: "add",
  label: "add",
  description: "Adds.",
  parameters: Type.Object({ a: Type.Number(), b: Type.Number() }),
  execute: async (_id, { a, b }) => ({ content: [{ type: "text", text: String(a + b) }], details: {} }),
};

answer(async ({ steps = 1000 }) => {
  let step = 0;
  const streamFn = () => {
    step += 1;
    const more = step <= steps;
    const content = more
      ? [{ type: "toolCall", id: `c${step}`, name: "add", arguments: { a: step, b: 1 } }]
      : [{ type: "text", text: "done" }];
    const message = {
      role: "assistant",
      content,
      api: model.api,
      provider: model.provider,
      model: model.id,
      usage,
      stopReason: more ? "toolUse" : "stop",
      timestamp: Date.now(),
    };
    const stream = createAssistantMessageEventStream();
    queueMicrotask(() => {
      stream.push({ type: "start", partial: message });
      stream.push({ type: "done", reason: message.stopReason, message });
    });
    return stream;
  };
  const agent = new Agent({ initialState: { systemPrompt: "", model, tools: [add], messages: [] }, streamFn });
  const started = performance.now();
  await agent.prompt("go");
  return { ms: performance.now() - started, count: step === steps + 1 ? steps : -1 };
});
