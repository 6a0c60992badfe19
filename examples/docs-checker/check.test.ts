import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkPage } from "./check.ts";

const page = `# Usage

Call \`connect()\`; it waits 10 seconds.
See [the source](../src/connect.ts), [its test](../src/connect.test.ts) and [the site](https://example.com/x).
Back to [the top](/README.md#top).
`;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "docs-"));
  mkdirSync(join(root, "docs"));
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "README.md"), "# Top\n");
  writeFileSync(join(root, "docs/usage.md"), page);
  writeFileSync(join(root, "src/connect.ts"), "const timeoutMs = 30_000;\n");
});
afterEach(() => rmSync(root, { recursive: true }));

const evidence = "src/connect.ts:1";

test("a wrong claim is found with its line, a dead link without the model, and an invented quote is left out", async () => {
  const wrong = [
    { quote: "it retries three times", problem: "it does not retry", evidence },
    { quote: "waits 10 seconds", problem: "it waits 30 seconds", evidence },
  ];
  const model = new ScriptedProvider([
    { calls: [{ name: "search_text", args: { query: "timeout", paths: ["src"] } }] },
    { calls: [{ name: "final_answer", args: { wrong } }] },
  ]);
  expect(await checkPage(model, root, "docs/usage.md")).toEqual([
    { page: "docs/usage.md", line: 3, problem: '"waits 10 seconds": it waits 30 seconds (src/connect.ts:1)' },
    { page: "docs/usage.md", line: 4, problem: "nothing at ../src/connect.test.ts" },
  ]);
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({
    output: expect.stringContaining("src/connect.ts:1:const timeoutMs = 30_000;"),
  });
});

test("an answer of another shape goes back to the model", async () => {
  const model = new ScriptedProvider([
    { calls: [{ name: "final_answer", args: { wrong: [{ problem: "no quote" }] } }] },
    { calls: [{ name: "final_answer", args: { wrong: [] } }] },
  ]);
  expect(await checkPage(model, root, "README.md")).toEqual([]);
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ isError: true, output: expect.stringContaining("quote") });
});
