import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder, temporaryFolder } from "@toolcrib/testing";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { BeginAnew } from "../shared/beginAnew.ts";
import type { TextJob } from "../shared/jobs.ts";
import { mayBeginHere, searchFirst } from "./firstSearch.ts";
import { runSearch } from "./runSearch.ts";
import { createSearchPool, type SearchPool } from "./searchPool.ts";
import { NoThreadsError, type SearchThread } from "./searchThread.ts";

const root = sharedFolder("search-first");
const large = sharedFolder("search-first-large");
const options = { signal: undefined, matchLimitMs: Infinity };

beforeAll(() => {
  for (let folder = 0; folder < 60; folder += 1) {
    mkdirSync(join(root, `folder${folder}`));
    for (let file = 0; file < 60; file += 1) {
      const text = `line\nneedle ${folder * file}\nend\n`.repeat(1 + (file % 5) * 4);
      writeFileSync(join(root, `folder${folder}/file${file}.txt`), text);
    }
  }
  for (const name of ["file", "rules"]) mkdirSync(join(large, name));
  writeFileSync(join(large, "file/text"), "a line\n".repeat(400_000));
  writeFileSync(join(large, "rules/.gitignore"), "a rule\n".repeat(10_000));
});

function textJob(rest: Partial<TextJob> = {}, path = root): TextJob {
  return {
    kind: "text",
    starts: [{ path, shown: "", isDirectory: true }],
    query: { text: "needle", regex: false, caseSensitive: true },
    include: undefined,
    mode: "lines",
    context: 0,
    limit: 1_000_000,
    maxBytes: Infinity,
    roots: undefined,
    ...rest,
  };
}

/** A pool with a thread that is loaded and free. */
async function warmPool(): Promise<SearchPool> {
  const pool = createSearchPool();
  await runSearch(pool, textJob({ limit: 2 }), options);
  await expect.poll(() => pool.ready).toBe(true);
  return pool;
}

describe("the first search of a process begins on the caller's thread", () => {
  test.each([
    ["all matches", {}],
    ["the first of many", { limit: 200 }],
    ["those that fit", { maxBytes: 5000 }],
    ["neighbours too", { context: 1 }],
    ["counts", { mode: "count" as const }],
  ])("and finds what a thread finds, alone or with a helper: %s", async (_, rest) => {
    const job = textJob(rest);
    const pool = await warmPool();
    const expected = await runSearch(pool, job, options);
    expect(await searchFirst(createSearchPool(), job, undefined)).toEqual(expected);
    expect(await searchFirst(pool, job, undefined)).toEqual(expected);
    expect(expected.shown).toBeGreaterThan(0);
  });

  test("unless it has an expression, a long glob, or a thread is ready", async () => {
    const pool = createSearchPool();
    expect(mayBeginHere(pool, textJob())).toBe(true);
    const expression = { text: "a+", regex: true, caseSensitive: true };
    expect(mayBeginHere(pool, textJob({ query: expression }))).toBe(false);
    expect(mayBeginHere(pool, textJob({ include: ["*a".repeat(60)] }))).toBe(false);
    expect(mayBeginHere(await warmPool(), textJob())).toBe(false);
  });

  test("and so does every search of a tree that was found to be small, while it is", async () => {
    const tree = temporaryFolder("search-first-small");
    for (let file = 0; file < 30; file += 1) writeFileSync(join(tree, `file${file}`), "needle\n");
    const job = textJob({}, tree);
    const pool = await warmPool();
    expect(mayBeginHere(pool, job)).toBe(false);
    // One that was cut short tells nothing.
    await searchFirst(pool, { ...job, limit: 2 }, undefined);
    expect(mayBeginHere(pool, job)).toBe(false);
    const expected = await searchFirst(pool, job, undefined);
    expect(mayBeginHere(pool, job)).toBe(true);
    expect(mayBeginHere(pool, { ...job, query: { ...job.query, regex: true } })).toBe(false);
    expect(await searchFirst(pool, job, undefined)).toEqual(expected);
    for (let file = 30; file < 1010; file += 1) writeFileSync(join(tree, `file${file}`), "needle\n");
    expect(await searchFirst(pool, job, undefined)).toMatchObject({ shown: 1010 });
    await expect.poll(() => pool.ready).toBe(true);
    expect(mayBeginHere(pool, job)).toBe(false);
  });

  test.each([
    ["a large one needs a thread", root, 1],
    ["a small one needs none", join(root, "folder1"), 0],
  ])("a second search of a tree right after the first: %s", async (_, path, started) => {
    const pool = createSearchPool();
    const tryAcquire = vi.spyOn(pool, "tryAcquire").mockReturnValue(undefined);
    const job = { kind: "files" as const, start: { path, shown: "", isDirectory: true }, pattern: "**/*.txt" };
    const search = () =>
      searchFirst(pool, { ...job, limit: 1_000_000, maxBytes: Infinity, roots: undefined }, undefined);
    const first = await search();
    expect(tryAcquire).toHaveBeenCalledTimes(0);
    expect(await search()).toEqual(first);
    expect(tryAcquire).toHaveBeenCalledTimes(started);
  });

  test("one at a time", async () => {
    const pool = createSearchPool();
    const running = searchFirst(pool, textJob(), undefined);
    expect(mayBeginHere(pool, textJob())).toBe(false);
    await running;
  });

  test.each(["file", "rules"])("but not with a %s that would hold the caller up", async (name) => {
    const job = textJob({}, join(large, name));
    await expect(searchFirst(createSearchPool(), job, undefined)).rejects.toThrow(BeginAnew);
  });

  test.each(["before it begins", "while its helper starts"])(
    "ends when it is aborted %s, and gives its helper back",
    async (when) => {
      const pool = await warmPool();
      const controller = new AbortController();
      const tryAcquire = (): SearchThread | undefined => {
        controller.abort(new Error("enough"));
        // The slice is over then, and most files are left.
        for (const end = performance.now() + 5; performance.now() < end; );
        return pool.tryAcquire();
      };
      const search = searchFirst(
        Object.create(pool, { tryAcquire: { value: tryAcquire } }),
        textJob(),
        controller.signal,
      );
      if (when === "before it begins") controller.abort(new Error("enough"));
      await expect(search).rejects.toThrow("enough");
      await expect.poll(() => pool.ready).toBe(true);
    },
  );

  test("asks for a helper once, and tells where no thread can be started", async () => {
    const problem = new NoThreadsError(new Error("forbidden"));
    const tryAcquire = vi.fn(() => undefined);
    const told = vi.fn();
    const pool = Object.create(createSearchPool(), { tryAcquire: { value: tryAcquire }, problem: { value: problem } });
    await searchFirst(pool, textJob(), undefined, told);
    expect(tryAcquire).toHaveBeenCalledTimes(1);
    await expect.poll(() => told.mock.calls).toEqual([[problem]]);
    expect(tryAcquire).toHaveBeenCalledTimes(2);
  });
});
