import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { answer } from "./answer.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "delegate-"));
  writeFileSync(join(root, "shop.ts"), "// Refunds are made by hand.\n");
  writeFileSync(join(root, ".env"), "KEY=secret\n");
});
afterEach(() => rmSync(root, { recursive: true }));

const ask = (task: string) => ({ calls: [{ name: "ask_reader", args: { task } }] });
const search = { calls: [{ name: "search_text", args: { query: "e", paths: ["."] } }] };

async function run(writer: ScriptedProvider, reader: ScriptedProvider, mostCalls?: number) {
  const progress: unknown[] = [];
  let text = "";
  for await (const event of answer({ writer, reader }, root, "Who refunds?", mostCalls)) {
    if (event.type === "tool-progress") progress.push(event.progress.message);
    if (event.type === "end") text = event.text;
  }
  return { progress, text };
}

test("the reader searches the real files, and only its answer reaches the writer", async () => {
  const reader = new ScriptedProvider([search, "By hand (shop.ts:1)."]);
  const writer = new ScriptedProvider([ask("Who makes refunds?"), "Somebody does, by hand."]);
  const { progress, text } = await run(writer, reader);
  const read = JSON.stringify(reader.requests[1]?.messages);
  expect(read).toContain("Refunds are made by hand.");
  expect(read).not.toContain("secret");
  const told = JSON.stringify(writer.requests[1]?.messages);
  expect(told).toContain("By hand (shop.ts:1).");
  expect(told).not.toContain("Refunds are made by hand.");
  expect(progress).toEqual([expect.stringContaining("search_text")]);
  expect(text).toBe("Somebody does, by hand.");
});

test("a guard of the writer holds for the reader, too", async () => {
  const reader = new ScriptedProvider([search, search, "I have seen half of it."]);
  const writer = new ScriptedProvider([ask("Who makes refunds?"), "Perhaps by hand."]);
  await run(writer, reader, 2);
  const results = reader.requests[2]?.messages.flatMap((message) => (message.role === "tool" ? [message.output] : []));
  expect(results?.[0]).toContain("shop.ts:1");
  expect(results?.[1]).toContain("there were 2 calls; answer with what you have");
});
