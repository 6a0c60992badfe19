import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { sharedFolder } from "@toolcrib/testing";
import { beforeAll, expect, test } from "vitest";
import { createSearchTools } from "./search.ts";

const root = sharedFolder("search-data");

beforeAll(() => {
  mkdirSync(join(root, "a:1:b"));
  writeFileSync(join(root, "a:1:b/x-2-y"), "no\nneedle: one\nno\nno\nno\n  needle\n");
  writeFileSync(join(root, "bell\u0007x"), "needle");
  writeFileSync(join(root, '"quoted"'), "needle needle\nneedle\n");
  writeFileSync(join(root, ".env"), "needle\n");
});

/** The data of a call, which is only there where it fits the tool's outputSchema. */
async function dataOf(name: string, args: Record<string, unknown>, deny: string[] = []): Promise<unknown> {
  const tools = new ToolRegistry(createSearchTools({ cwd: root, root, deny }));
  const outcome = await tools.invoke(name, name === "search_text" ? { paths: ["."], query: "needle", ...args } : args);
  return outcome.ok ? outcome.data : outcome.error;
}

const matches = [
  { path: '"quoted"', line: 1, text: "needle needle" },
  { path: '"quoted"', line: 2, text: "needle" },
  { path: ".env", line: 1, text: "needle" },
  { path: "a:1:b/x-2-y", line: 2, text: "needle: one" },
  { path: "a:1:b/x-2-y", line: 6, text: "  needle" },
  { path: "bell\u0007x", line: 1, text: "needle" },
];

test.each([{}, { regex: true, query: "needl[e]" }, { context: 1 }, { context: 9 }])(
  "search_text gives its matches with path, line and text, whatever a path looks like: %j",
  async (args) => {
    expect(await dataOf("search_text", args)).toEqual({ matches, more: false });
  },
);

test("search_text gives files, and how many lines match in each", async () => {
  const names = ['"quoted"', ".env", "a:1:b/x-2-y", "bell\u0007x"];
  expect(await dataOf("search_text", { mode: "files" })).toEqual({
    files: names.map((path) => ({ path })),
    more: false,
  });
  expect(await dataOf("search_text", { mode: "count" })).toEqual({
    files: names.map((path, at) => ({ path, count: [2, 1, 2, 1][at] })),
    more: false,
  });
});

test("data says that there is more, and what was not looked at", async () => {
  expect(await dataOf("search_text", { max_results: 2 })).toEqual({ matches: matches.slice(0, 2), more: true });
  expect(await dataOf("search_text", { query: "nothing" }, [".env"])).toEqual({
    matches: [],
    more: false,
    left_out: 1,
  });
});

test("search_files gives paths as they are, and how many there are in all", async () => {
  const files = ['"quoted"', ".env", "a:1:b/x-2-y", "bell\u0007x"];
  expect(await dataOf("search_files", { pattern: "**" })).toEqual({ files, total: 4 });
  expect(await dataOf("search_files", { pattern: "**", max_results: 1 })).toEqual({ files: ['"quoted"'], total: 4 });
  expect(await dataOf("search_files", { pattern: "*.no" }, [".env"])).toEqual({ files: [], total: 0, left_out: 1 });
});

test("more than data may hold is left out, and the text is not", async () => {
  writeFileSync(join(root, "many"), "a needle in a line\n".repeat(20_000));
  const tools = new ToolRegistry(createSearchTools({ cwd: root, maxReplyBytes: Number.POSITIVE_INFINITY }));
  const outcome = await tools.invoke("search_text", { paths: ["many"], query: "needle", max_results: 1e6 });
  expect(outcome).toMatchObject({ ok: true, output: expect.stringContaining("many:20000:a needle") });
  expect(outcome).not.toHaveProperty("data");
});
