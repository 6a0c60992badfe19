// The same steps in the OpenAI Agents SDK with a model in process.

import { answer } from "../pairs.mjs";
import { importPeer, installPeer } from "../peers.mjs";

const { Agent, run, setTracingDisabled, tool, Usage } = await importPeer(
  installPeer("openai-agents"),
  "@openai/agents",
);
setTracingDisabled(true);
const add = tool({
  name: "add",
  description: "Adds.",
  strict: false,
  parameters: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: true,
  },
  execute: async ({ a, b }) => String(a + b),
});

answer(async ({ steps = 1000 }) => {
  let step = 0;
  const model = {
    async getResponse() {
      step += 1;
      const output =
        step <= steps
          ? [
              {
                type: "function_call",
                callId: `c${step}`,
                name: "add",
                status: "completed",
                arguments: JSON.stringify({ a: step, b: 1 }),
              },
            ]
          : [
              {
                type: "message",
                role: "assistant",
                status: "completed",
                content: [{ type: "output_text", text: "done" }],
              },
            ];
      return { usage: new Usage(), output };
    },
    getStreamedResponse() {
      throw new Error("not used");
    },
  };
  const agent = new Agent({ name: "bench", model, tools: [add] });
  const started = performance.now();
  const result = await run(agent, "go", { maxTurns: steps + 10 });
  return { ms: performance.now() - started, count: result.finalOutput === "done" ? steps : -1 };
});
