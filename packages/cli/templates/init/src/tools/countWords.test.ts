import assert from "node:assert/strict";
import { test } from "node:test";
import { ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { createCountWordsTool } from "./countWords.ts";

// What every well-made tool keeps: a closed schema, bounded answers, an end after an abort, and more.
testTool(test, { create: createCountWordsTool, validArgs: () => ({ text: "one two" }) });

const tools = new ToolRegistry([createCountWordsTool()]);

test("counts the words of a text", async () => {
  assert.equal(await tools.execute("count_words", { text: "It's two, or three." }), "4 words");
  assert.equal(await tools.execute("count_words", { text: "" }), "0 words");
});

test("counts one word, whatever its capitals", async () => {
  assert.equal(await tools.execute("count_words", { text: "The cat, the dog", word: "the" }), "2 of 4 words");
});

test("tells the model what was wrong with a call", async () => {
  assert.match(await tools.execute("count_words", {}), /Invalid arguments: text: is required/);
});
