import assert from "node:assert/strict";
import { test } from "node:test";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { createAgent } from "./agent.ts";

test("the agent calls the tool, and the model gets its result", async () => {
  const model = new ScriptedProvider([
    { calls: [{ name: "count_words", args: { text: "to be or not to be", word: "be" } }] },
    "Two.",
  ]);
  assert.equal(await createAgent(model, process.cwd()).chat("How often is there a be in: to be or not to be?"), "Two.");
  const result = model.requests[1]?.messages.at(-1);
  assert.equal(result?.role === "tool" && result.output, "2 of 6 words");
});

test("the agent changes no file, whatever the model calls", async () => {
  const model = new ScriptedProvider([
    { calls: [{ name: "write_file", args: { path: "src/agent.ts", content: "" } }] },
    "It is off.",
  ]);
  await createAgent(model, process.cwd()).chat("Empty your own source.");
  const result = model.requests[1]?.messages.at(-1);
  assert.equal(result?.role === "tool" && result.output, "Tool not available: write_file");
});
