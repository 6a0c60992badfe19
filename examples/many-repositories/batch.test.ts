import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message, ModelRequest } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { answerAll, startAll } from "./batch.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "batch-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function addRepository(name: string): string {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, "package.json"), '{ "license": "ISC" }\n');
  return join(folder, name);
}

/** Tells the second request of a repository from its first: which repository asks first is open. */
const hasResults = (messages: readonly Message[]): boolean => messages.some(({ role }) => role === "tool");

const edit = { path: "package.json", edits: [{ old_text: "ISC", new_text: "MIT" }] };

test("reads run at once, changes wait in their journals, and only those with a yes are made in the next process", async () => {
  const [shop, blog] = [addRepository("shop"), addRepository("blog")];
  const first = new ScriptedProvider(
    Array(4).fill(({ messages }: ModelRequest) =>
      hasResults(messages)
        ? { calls: [{ name: "edit_file", args: edit }] }
        : { calls: [{ name: "read_file", args: { path: "package.json" } }] },
    ),
  );
  const asked = await startAll(first, folder, "Change the license to MIT");
  expect(asked.map(({ repository, pending, failed }) => [repository, pending.length, failed])).toEqual([
    ["blog", 1, false],
    ["shop", 1, false],
  ]);
  expect(asked[0]?.pending[0]?.question.text).toContain("edit_file would write package.json");
  expect(readFileSync(join(blog, "package.json"), "utf8")).toContain("ISC");

  const second = new ScriptedProvider(["Done.", "Done."]);
  const seen: string[] = [];
  const done = await answerAll(second, folder, async (repository, { name }) => {
    seen.push(`${repository} ${name}`);
    return repository === "shop" || "not this one";
  });
  expect(seen).toEqual(["blog edit_file", "shop edit_file"]);
  expect(done.map(({ text, pending }) => [text, pending])).toEqual([
    ["Done.", []],
    ["Done.", []],
  ]);
  expect(readFileSync(join(shop, "package.json"), "utf8")).toContain("MIT");
  expect(readFileSync(join(blog, "package.json"), "utf8")).toContain("ISC");
  expect(await answerAll(second, folder, async () => true)).toEqual([]);
});

test("a repository that fails does not stop the others, and no tool reaches another repository or a journal", async () => {
  addRepository("shop");
  addRepository("blog");
  const reads = [".batch/shop.jsonl", "shop/package.json", "blog/package.json"].map((path) => ({
    name: "read_file",
    args: { path: `../${path}` },
  }));
  let asked = 0;
  const model = new ScriptedProvider(
    Array(3).fill(({ messages }: ModelRequest) => {
      if (hasResults(messages)) return "Done.";
      asked += 1;
      return asked === 1 ? { calls: reads } : new Error("no such model");
    }),
  );
  const reports = await startAll(model, folder, "Look around");
  expect(reports.map(({ failed }) => failed).sort()).toEqual([false, true]);
  expect(reports.find(({ failed }) => failed)?.text).toContain("no such model");
  const results = model.requests.flatMap(({ messages }) => messages.filter(({ role }) => role === "tool"));
  // Either repository may ask first: its own file is the one that it may read.
  expect(results.map((result) => "isError" in result && result.isError).sort()).toEqual([false, true, true]);
  expect(existsSync(join(folder, ".batch/shop.jsonl"))).toBe(true);
});
