// 1,000 sequential steps with one tool and a model in process. The first argument has further options of the agent, as JSON.
import { Agent } from "@toolcrib/agent";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { answer } from "../pairs.mjs";

const further = JSON.parse(process.argv[2] ?? "{}");
const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

class CountingModel {
  name = "scripted";
  model = "counting";
  step = 0;
  times = [];
  constructor(steps) {
    this.steps = steps;
  }
  async *send() {
    this.times.push(performance.now());
    this.step += 1;
    const more = this.step <= this.steps;
    const content = more
      ? [{ type: "tool-call", id: `c${this.step}`, name: "add", args: { a: this.step, b: 1, note: "x" } }]
      : [{ type: "text", text: "done" }];
    yield { type: "reply", message: { role: "assistant", content }, stop: more ? "tool-calls" : "stop", usage };
  }
}

const add = defineTool({
  name: "add",
  description: "Adds.",
  parameters: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" }, note: { type: "string" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
  execute: ({ a, b }) => String(a + b),
});

answer(async ({ steps = 1000, heap = false }) => {
  const tools = new ToolRegistry();
  tools.register(add);
  const model = new CountingModel(steps);
  const agent = new Agent(model, { tools, maxSteps: steps + 10, ...further });
  // A forced collection throws optimised code away, so memory and time are not measured in the same run.
  if (heap) globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  const started = performance.now();
  const text = await agent.chat("go");
  const ms = performance.now() - started;
  if (heap) globalThis.gc();
  const { times } = model;
  const first = times[100] - times[0];
  const last = times[steps] - times[steps - 100];
  return {
    ms,
    count: text === "done" ? steps : -1,
    growth: last / first,
    heapMb: (process.memoryUsage().heapUsed - before) / 2 ** 20,
  };
});
