import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import type { FilesJob, TextJob } from "../shared/jobs.ts";
import { runSearch } from "../threads/runSearch.ts";
import { createSearchPool } from "../threads/searchPool.ts";
import { searchHere } from "./searchHere.ts";

const pool = createSearchPool();
let base: string;
beforeEach(() => {
  base = temporaryFolder("search-here");
  for (let i = 0; i < 300; i += 1) {
    mkdirSync(join(base, `d${i % 7}`), { recursive: true });
    writeFileSync(join(base, `d${i % 7}/f${i}.${i % 3 ? "ts" : "js"}`), `one\ntwo ${i} needle\nÉ three\n`);
  }
  writeFileSync(join(base, ".gitignore"), "d3\n*7.ts\n");
  writeFileSync(join(base, "binary"), "needle\0");
});

const start = () => ({ path: base, shown: "", isDirectory: true });
const textJob = (rest: Partial<TextJob> = {}): TextJob => ({
  kind: "text",
  starts: [start()],
  query: { text: "needle", regex: false, caseSensitive: true },
  include: undefined,
  mode: "lines",
  context: 0,
  limit: 1001,
  maxBytes: Infinity,
  roots: undefined,
  ...rest,
});
const filesJob = (pattern: string, rest: Partial<FilesJob> = {}): FilesJob => {
  return { kind: "files", start: start(), pattern, limit: 1000, maxBytes: Infinity, roots: undefined, ...rest };
};

test.each([
  () => textJob(),
  () => textJob({ query: { text: "é", regex: false, caseSensitive: false } }),
  () => textJob({ query: { text: "^t\\w+ 1\\d", regex: true, caseSensitive: true }, context: 1 }),
  () => textJob({ mode: "count", include: ["*.ts"] }),
  () => textJob({ mode: "files", include: ["d{1,2}/*"] }),
  () => textJob({ include: ["!*.ts"], limit: 30 }),
  () => textJob({ maxBytes: 500, roots: [] }),
  () => textJob({ query: { text: "three", regex: true, caseSensitive: true }, maxBytes: 700, context: 2 }),
  () => filesJob("**"),
  () => filesJob("**/*.ts"),
  () => filesJob("d[12]/f?.{ts,js}"),
  () => filesJob("d1/**/f1*", { limit: 3 }),
  () => filesJob("*/*", { maxBytes: 100 }),
])("the caller's thread finds what a thread of its own finds: %#", async (makeJob) => {
  const job = makeJob();
  const ready = job.roots === undefined ? job : { ...job, roots: [base] };
  const options = { signal: undefined, matchLimitMs: 5000 };
  const expected = await runSearch(pool, ready, options);
  expect(expected.text).not.toBe("");
  expect(await searchHere(ready, undefined)).toEqual(expected);
});

test("a line that is too long for a regular expression on the caller's thread is reported", async () => {
  writeFileSync(join(base, "long"), `needle\n${"x".repeat(20_000)}\n`);
  const one = { path: join(base, "long"), shown: "long", isDirectory: false };
  const job = textJob({ starts: [one], query: { text: "n.*e", regex: true, caseSensitive: true } });
  expect(await searchHere(job, undefined)).toMatchObject({
    text: "long:1:needle\n",
    problems: [{ path: one.path, code: "longLine" }],
  });
});

test("an abort ends it between two slices", async () => {
  const controller = new AbortController();
  const running = searchHere(textJob(), controller.signal);
  controller.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
});
