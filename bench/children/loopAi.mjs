// The same 1,000 steps in the AI SDK's generateText.

import { answer } from "../pairs.mjs";
import { importPeer, installPeer } from "../peers.mjs";

const home = installPeer("ai");
const { generateText, jsonSchema, stepCountIs, isStepCount, tool } = await importPeer(home, "ai");
const { MockLanguageModelV4, MockLanguageModelV3 } = await importPeer(home, "ai/test");
const Model = MockLanguageModelV4 ?? MockLanguageModelV3;
const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 }, totalTokens: 15 };
const add = tool({
  description: "Adds.",
  inputSchema: jsonSchema({
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  }),
  execute: async ({ a, b }) => String(a + b),
});

answer(async ({ steps = 1000 }) => {
  let step = 0;
  const model = new Model({
    doGenerate: async () => {
      step += 1;
      const more = step <= steps;
      return {
        content: more
          ? [{ type: "tool-call", toolCallId: `c${step}`, toolName: "add", input: JSON.stringify({ a: step, b: 1 }) }]
          : [{ type: "text", text: "done" }],
        finishReason: { unified: more ? "tool-calls" : "stop", raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
  const started = performance.now();
  const { text } = await generateText({
    model,
    tools: { add },
    prompt: "go",
    stopWhen: (stepCountIs ?? isStepCount)(steps + 10),
  });
  return { ms: performance.now() - started, count: text === "done" ? steps : -1 };
});
