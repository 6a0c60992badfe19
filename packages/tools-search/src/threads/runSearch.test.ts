import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder, temporaryFolder } from "@toolcrib/testing";
import fc from "fast-check";
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { SearchJob } from "../engine/job.ts";
import type { SearchResult } from "../engine/searchResult.ts";
import { runSearch } from "./runSearch.ts";
import { createSearchPool, type PoolMember, type SearchPool } from "./searchPool.ts";
import { NoThreadsError } from "./searchThread.ts";

const root = sharedFolder("search-takers");
const small = sharedFolder("search-takers-small");
const more = sharedFolder("search-takers-more");
const long = "a long line ".repeat(200);
const largeText = `${"a line\n".repeat(200_000)}needle\n`;

beforeAll(() => {
  for (let folder = 0; folder < 38; folder += 1) {
    mkdirSync(join(root, `folder${folder}`));
    for (let file = 0; file < 30; file += 1) {
      const lines = `line\nneedle ${folder * file}\nend É\n`.repeat(1 + (file % 5) * 4);
      writeFileSync(join(root, `folder${folder}/file${file}.${file % 3 ? "txt" : "md"}`), lines);
    }
    writeFileSync(join(root, `folder${folder}/binary`), "needle\0");
    writeFileSync(join(root, `folder${folder}/long`), `${long}needle\nneedle\n`);
    writeFileSync(join(root, `folder${folder}/secret.key`), "needle\n");
    writeFileSync(join(root, `folder${folder}/wide`), Buffer.from("\ufeffneedle\n", "utf16le"));
    writeFileSync(join(root, `folder${folder}/closed`), "needle\n");
    chmodSync(join(root, `folder${folder}/closed`), 0);
  }
  for (const folder of [3, 30]) writeFileSync(join(root, `folder${folder}/large`), largeText);
  for (let file = 0; file < 60; file += 1) writeFileSync(join(small, `file${file}.txt`), `line\nneedle ${file}\n`);
  for (let file = 0; file < 3300; file += 1) writeFileSync(join(more, `file${file}`), "");
  writeFileSync(join(root, ".gitignore"), "folder7\n*9.txt\n");
  // More rules than the caller's thread reads at a time.
  writeFileSync(join(root, "folder9/.gitignore"), "a rule\n".repeat(10_000));
});

function textJob(rest: Partial<SearchJob> = {}, path = root): SearchJob {
  return {
    starts: [{ path, shown: "", isDirectory: true }],
    query: { text: "needle", regex: false, caseSensitive: true },
    globs: undefined,
    mode: "lines",
    context: 0,
    limit: 1_000_000,
    maxBytes: Infinity,
    roots: undefined,
    ...rest,
  };
}
const startAt = (shown: string) => ({ path: join(root, shown).replace(/\/$/, ""), shown, isDirectory: true });
const query = (text: string, regex = true, caseSensitive = true) => ({ text, regex, caseSensitive });

const run = (pool: SearchPool, job: SearchJob, signal?: AbortSignal): Promise<SearchResult> =>
  runSearch(pool, job, { signal, matchLimitMs: 60_000 });

/** A pool of a process in which no thread can be started. */
const noThreads: SearchPool = {
  takers: 1,
  alive: 0,
  ask: (member) => {
    if (member.waits || member.wanted.started > 0) member.giveUp(new NoThreadsError(new Error("forbidden")));
  },
  leave: () => undefined,
  release: () => undefined,
};

/** A pool with threads that are loaded and free. */
async function warmPool(takers: number): Promise<SearchPool> {
  const pool = createSearchPool(takers);
  for (let time = 0; time < 2; time += 1) await run(pool, textJob({ query: query("(?=n)needle") }));
  return pool;
}

const pools = new Map<number, SearchPool>();
beforeAll(async () => {
  for (const takers of [1, 2, 4]) pools.set(takers, await warmPool(takers));
});

describe("a search answers the same, however many take part in it", () => {
  test("1, 2 or 4 threads, or the caller's alone", async () => {
    const globs = fc.constantFrom(
      undefined,
      { patterns: ["*.md"], anyDepth: true },
      { patterns: ["!*.txt"], anyDepth: true },
      { patterns: ["folder{1,2,3}*/**"], anyDepth: false },
      { patterns: ["+(folder3)*/*"], anyDepth: false },
    );
    const job = fc.record({
      query: fc.constantFrom(
        query("needle", false),
        query("É", false, false),
        query("needle 1\\d"),
        query("^n\\w+ 1\\d+$"),
        query("(?=n)needle"),
        query("nowhere", false),
        undefined,
      ),
      globs,
      mode: fc.constantFrom("lines", "files", "count"),
      context: fc.constantFrom(0, 0, 1, 3),
      limit: fc.constantFrom(1_000_000, 2, 37, 1500),
      maxBytes: fc.constantFrom(Infinity, 5, 700, 20_000),
      deny: fc.constantFrom(undefined, { patterns: ["*.key"], roots: [root] }),
      several: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ several, ...rest }) => {
        const { context, mode } = rest;
        const inside = { path: join(root, "folder3"), shown: "folder3/", isDirectory: true };
        const made = textJob({ ...rest, context: mode === "lines" ? context : 0 } as Partial<SearchJob>);
        if (several) made.starts.unshift(inside, { ...inside, path: join(inside.path, "binary"), isDirectory: false });
        const expected = await run(pools.get(1) as SearchPool, made);
        for (const takers of [2, 4]) {
          expect(await run(pools.get(takers) as SearchPool, made), `${takers} takers`).toEqual(expected);
        }
        const alone = await run(noThreads, made).catch(({ message }: Error) => message);
        if (typeof alone === "string") expect(alone).toMatch(/^Not searched: .*could run for very long/);
        // Alone it leaves out lines that are too long for an expression, and says so.
        else if (!rest.query?.regex) expect(alone).toEqual(expected);
      }),
      { numRuns: 8 },
    );
  });

  test.each([
    ["all matches", {}],
    ["those that fit, with neighbours", { maxBytes: 5000, context: 1 }],
    ["files", { query: undefined }],
    [
      "in folders that overlap",
      { mode: "count" as const, starts: [startAt("folder3/"), startAt(""), startAt("folder30/")] },
    ],
  ])("or the caller's while threads start and take over: %s", async (_, rest) => {
    const job = textJob(rest);
    expect(await run(createSearchPool(2), job)).toEqual(await run(pools.get(1) as SearchPool, job));
  });
});

describe("a search on the caller's thread", () => {
  /** The requests to a pool. */
  function watched(pool: SearchPool) {
    const asked: { waits: boolean; started: number }[] = [];
    const ask = (member: PoolMember): void => {
      asked.push({ waits: member.waits, started: member.wanted.started });
      pool.ask(member);
    };
    const leave = (member: PoolMember): void => pool.leave(member);
    const release: SearchPool["release"] = (thread) => pool.release(thread);
    return { asked, pool: { takers: pool.takers, alive: 0, ask, leave, release } };
  }

  test.each([
    ["literal", query("needle", false), false],
    ["expression of few steps", query("needle 1\\d"), false],
    ["expression of many steps", query("[a-z]*e.*d.*\\d$"), true],
    ["expression that may run away", query("(n+)+"), true],
  ])("begins at once with a %s, if nothing in it can hold up the caller", async (_, text, waits) => {
    const { asked, pool } = watched(createSearchPool(2));
    await run(pool, textJob({ query: text }, small));
    expect(asked.some((one) => one.waits)).toBe(waits);
  });

  test.each([
    ["an expression and a long line", query("needle$"), "long"],
    ["a large file", query("needle", false), "large"],
    ["many rules", query("nowhere", false), ".gitignore"],
  ])("leaves to a thread what would: %s", async (_, text, name) => {
    const tree = temporaryFolder("search-leaves");
    const content = { long: `${long}needle\n`, large: largeText, ".gitignore": "a rule\n".repeat(10_000) };
    writeFileSync(join(tree, name), content[name as keyof typeof content]);
    writeFileSync(join(tree, "z"), "needle\n");
    const { asked, pool } = watched(createSearchPool(2));
    const job = textJob({ query: text, mode: "count" }, tree);
    const found = await run(pool, job);
    expect(asked).toContainEqual({ waits: true, started: 1 });
    expect(found).toEqual(
      await run(pools.get(2) as SearchPool, { ...job, query: { ...text, text: `(?=.)${text.text}`, regex: true } }),
    );
  });

  test("tries an expression in a file whose long lines cannot match, and tells of none", async () => {
    const tree = temporaryFolder("search-long-lines");
    writeFileSync(join(tree, "bundle.js"), `${"a function ".repeat(1000)}\nexport function toDate(\n`);
    const { asked, pool } = watched(createSearchPool(2));
    const found = await run(pool, textJob({ query: query("export (?:async )?function \\w+Date\\(") }, tree));
    expect(asked).toEqual([]);
    expect(found).toMatchObject({ text: "bundle.js:2:export function toDate(\n", problems: [] });
  });

  test("of a small tree starts no thread and asks for none", async () => {
    const { asked, pool } = watched(createSearchPool(8));
    await run(pool, textJob({}, small));
    await run(pool, textJob({ query: undefined }, small));
    expect(asked).toEqual([]);
  });

  test("of a large tree asks for more threads the more files it finds, and for one at most where files are listed", async () => {
    const most = async (job: SearchJob, takers = 8): Promise<number> => {
      // Nothing joins: threads would take files from it.
      const { asked, pool } = watched({ ...noThreads, takers, ask: () => undefined });
      await run(pool, job);
      return Math.max(...asked.map(({ started }) => started));
    };
    expect(await most(textJob({}, more))).toBe(3);
    // The caller's thread is the second of two.
    expect(await most(textJob({}, more), 2)).toBe(1);
    expect(await most(textJob({ query: undefined }, more))).toBe(1);
    // A thread remembers more folders than the caller's, so that the next search need not list them again.
    expect(await most(textJob({ globs: { patterns: ["*.none"], anyDepth: true } }, more))).toBe(1);
  });

  test("skips a line that is too long for an expression where there is no thread, and says so", async () => {
    writeFileSync(join(root, "folder5/longest"), `needle\n${"n".repeat(20_000)}\n`);
    const starts = [{ path: join(root, "folder5/longest"), shown: "longest", isDirectory: false }];
    expect(await run(noThreads, textJob({ starts, query: query("n.*e") }))).toMatchObject({
      text: "longest:1:needle\n",
      problems: [{ path: starts[0]?.path, code: "longLine" }],
    });
  });

  test.each([
    ["no thread", () => noThreads],
    ["a thread", () => createSearchPool(2)],
  ])("goes on with %s when all that is queued was left to one", async (_, makePool) => {
    const tree = temporaryFolder("search-queue-full");
    const names = Array.from({ length: 40 }, (__, index) => `file${index + 10}`);
    for (const name of names) writeFileSync(join(tree, name), Buffer.from("\ufeffneedle\n", "utf16le"));
    const starts = names.map((name) => ({ path: join(tree, name), shown: name, isDirectory: false }));
    const found = await run(makePool(), textJob({ starts, query: query("needle") }));
    expect(found.text).toBe(names.map((name) => `${name}:1:needle\n`).join(""));
  });

  test("ends between two slices when it is aborted, and before it begins", async () => {
    const controller = new AbortController();
    const running = run(createSearchPool(2), textJob(), controller.signal);
    controller.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await expect(run(createSearchPool(2), textJob(), controller.signal)).rejects.toThrow("enough");
  });

  test("takes turns with others, so that other work runs after each slice", async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      turn = setImmediate(count);
    };
    let turn = setImmediate(count);
    const folders = Array.from({ length: 4 }, (_, index) => textJob({}, index % 2 ? small : root));
    await Promise.all(folders.map((job) => run(noThreads, job)));
    clearImmediate(turn);
    expect(turns).toBeGreaterThanOrEqual(folders.length);
  });
});

describe("the pool", () => {
  function memberOf(wanted: number): PoolMember & { joined: number } {
    return {
      joined: 0,
      wanted: { ready: wanted, started: wanted },
      get waits() {
        return this.joined === 0;
      },
      join() {
        this.joined += 1;
      },
      giveUp: vi.fn(),
    };
  }

  test("has a thread for each search that waits, though all may hang", async () => {
    const pool = createSearchPool(2);
    const [large, small, third] = [memberOf(8), memberOf(1), memberOf(1)];
    pool.ask(large);
    await expect.poll(() => large.joined).toBe(2);
    pool.ask(small);
    await expect.poll(() => small.joined).toBe(1);
    pool.ask(third);
    await expect.poll(() => third.joined).toBe(1);
    for (const member of [large, small, third]) pool.leave(member);
  });

  test("gives free threads to the search that has the fewest", async () => {
    const pool = await warmPool(3);
    const [first, second] = [memberOf(2), memberOf(2)];
    pool.ask(first);
    // The threads of the searches before may still be on their way back.
    await expect.poll(() => first.joined).toBe(2);
    pool.ask(second);
    await expect.poll(() => second.joined).toBeGreaterThan(0);
    for (const member of [first, second]) pool.leave(member);
  });
});

test("a small search is answered while all takers of a large one are at work", async () => {
  const pool = createSearchPool(2);
  const order: string[] = [];
  const large = run(pool, textJob({ query: query("(?=n)needle"), context: 3 })).then(() => order.push("large"));
  await expect.poll(() => order).toEqual([]);
  await run(pool, textJob({ query: query("(?=n)needle"), limit: 2 }, join(root, "folder2"))).then(() =>
    order.push("small"),
  );
  await large;
  expect(order).toHaveLength(2);
});
