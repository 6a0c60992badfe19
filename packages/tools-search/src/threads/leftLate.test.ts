import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { BatchQueue } from "../engine/batchQueue.ts";
import { ControlBlock } from "../engine/controlBlock.ts";
import type { SearchJob } from "../engine/job.ts";
import { runSearch } from "./runSearch.ts";
import { createSearchPool, type SearchPool } from "./searchPool.ts";
import type { SearchThread } from "./searchThread.ts";

const countNeedles = (tree: string): SearchJob => ({
  starts: [{ path: tree, shown: "", isDirectory: true }],
  query: { text: "needle", regex: false, caseSensitive: true },
  globs: undefined,
  mode: "count",
  context: 0,
  limit: 1_000_000,
  maxBytes: Infinity,
  roots: undefined,
});
const nothing = (): void => undefined;
const standIn = {
  ...{ control: new ControlBlock(), lowered: false, walkedAt: 0 },
  ...{ lowerPriority: nothing, stop: nothing, end: nothing },
};

test("searches all other files while one waits for a thread", async () => {
  const tree = temporaryFolder("search-left");
  for (let file = 0; file < 300; file += 1) writeFileSync(join(tree, `file${file}`), "needle\n");
  writeFileSync(join(tree, "a large one"), `${"a line\n".repeat(200_000)}needle\n`);
  const given: string[] = [];
  const thread: SearchThread = {
    ...standIn,
    start({ left, queue }, onMessage) {
      given.push(...left.flatMap(({ paths }) => paths));
      expect(new BatchQueue(queue).isEmptied).toBe(true);
      onMessage({ kind: "done" });
    },
  };
  const pool: SearchPool = {
    takers: 2,
    alive: 0,
    // It comes when nothing else is left to do.
    ask: (member) => (member.waits ? member.join(thread) : undefined),
    leave: nothing,
    release: nothing,
  };
  const { shown } = await runSearch(pool, countNeedles(tree), { signal: undefined, matchLimitMs: 60_000 });
  expect(given).toEqual(["a large one"]);
  expect(shown).toBe(300);
});

test("leaves a file to another thread when the last one has seen nothing to do", async () => {
  const tree = temporaryFolder("search-left-late");
  for (let file = 0; file < 300; file += 1) writeFileSync(join(tree, `file${file}`), "needle\n");
  const threads = createSearchPool(1);
  let leaves: (() => void) | undefined;
  const idle: SearchThread = {
    ...standIn,
    start({ queue: memory }, onMessage) {
      // It takes the walk over with one file to go, and is told too late of what the caller's thread leaves.
      const queue = new BatchQueue(memory);
      queue.add({ order: 1000, start: 0, paths: ["large"] });
      queue.end();
      leaves = () => onMessage({ kind: "done" });
    },
  };
  writeFileSync(join(tree, "large"), `${"a line\n".repeat(200_000)}needle\n`);
  const pool: SearchPool = {
    takers: 2,
    alive: 0,
    ask: (member) => (leaves === undefined ? member.join(idle) : threads.ask(member)),
    leave: (member) => threads.leave(member),
    release: (thread) => (thread === idle ? undefined : threads.release(thread)),
  };
  const found = runSearch(pool, countNeedles(tree), { signal: undefined, matchLimitMs: 60_000 });
  // Long enough for the caller's thread to leave the search.
  for (let turn = 0; turn < 2000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  leaves?.();
  expect((await found).text).toContain("large:1\n");
});

test("asks for no thread once the search is over", async () => {
  const tree = temporaryFolder("search-left-over");
  for (let file = 0; file < 40; file += 1)
    writeFileSync(join(tree, `${file}`), `${"a line\n".repeat(200_000)}needle\n`);
  const stopping = new AbortController();
  const waiting: boolean[] = [];
  const pool: SearchPool = {
    takers: 2,
    alive: 0,
    ask(member) {
      stopping.abort(new Error("enough"));
      waiting.push(member.waits);
    },
    leave: nothing,
    release: nothing,
  };
  const options = { signal: stopping.signal, matchLimitMs: 60_000 };
  await expect(runSearch(pool, countNeedles(tree), options)).rejects.toThrow("enough");
  for (let turn = 0; turn < 2000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(waiting).toEqual([false]);
});

test("waits for room where more files are left than the queue holds, and none is lost", async () => {
  const tree = temporaryFolder("search-left-many");
  const names = Array.from({ length: 16 }, (_, file) => `large${file}`);
  for (const name of names) {
    writeFileSync(join(tree, name), "");
    truncateSync(join(tree, name), 4_000_000);
  }
  const taken: string[] = [];
  const slow: SearchThread = {
    ...standIn,
    start({ left, queue: memory }, onMessage) {
      const queue = new BatchQueue(memory);
      taken.push(...left.flatMap(({ paths }) => paths));
      queue.add({ order: 2048, start: 0, paths: ["walked on"] });
      queue.end();
      // By then the queue is full.
      const takeAll = (turns: number): void => {
        for (let batch = turns > 0 ? undefined : queue.take(); batch; batch = queue.take()) taken.push(...batch.paths);
        if (taken.length > names.length) onMessage({ kind: "done" });
        else setImmediate(takeAll, turns - 1);
      };
      takeAll(50);
    },
  };
  const pool: SearchPool = {
    takers: 2,
    alive: 0,
    ask: (member) => (member.joined === 0 && taken.length === 0 ? member.join(slow) : undefined),
    leave: nothing,
    release: nothing,
  };
  await runSearch(pool, countNeedles(tree), { signal: undefined, matchLimitMs: 60_000 });
  expect(taken.sort()).toEqual([...names, "walked on"].sort());
});
