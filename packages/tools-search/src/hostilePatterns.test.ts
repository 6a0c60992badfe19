import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSearchTools } from "./search.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "search-evil-")));
  writeFileSync(join(base, "evil.txt"), `aaa is found\n${"a".repeat(60)}!\n${"x".repeat(50_000)}y\nfound after\n`);
  mkdirSync(join(base, "a".repeat(60)));
  writeFileSync(join(base, "a".repeat(60), "b".repeat(80)), "plain needle\n");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function registry(options: { matchLimitMs?: number } = {}): ToolRegistry {
  const made = new ToolRegistry();
  for (const tool of createSearchTools({ cwd: base, ...options })) made.register(tool);
  return made;
}

/** Node 22 counts for the whole process only, which the threads under test keep busy; there nothing is told of the loop. */
const threadCpuUsage = (before?: NodeJS.CpuUsage): NodeJS.CpuUsage =>
  process.threadCpuUsage?.(before) ?? { user: 0, system: 0 };

/**
 * What `run` answers, how many ms it took, and the longest block of the event loop meanwhile: in ms of this thread's own
 * work, so that a machine that does much else does not count.
 */
async function watched<Result>(run: () => Promise<Result>): Promise<{ result: Result; ms: number; blockMs: number }> {
  let blockMs = 0;
  let before = threadCpuUsage();
  const ticks = setInterval(() => {
    const { user, system } = threadCpuUsage(before);
    blockMs = Math.max(blockMs, (user + system) / 1000);
    before = threadCpuUsage();
  }, 5);
  const started = performance.now();
  const result = await run();
  clearInterval(ticks);
  return { result, ms: performance.now() - started, blockMs };
}

const evilExpressions = [
  "(a+)+$",
  "^(a|a)*$",
  "^(a|aa)+$",
  "(.*a){25}$",
  "(a*)*b",
  "^(([a-z])+.)+[A-Z]([a-z])+$",
  "(?=(a+)+$)",
  "(x+x+)+z",
  "^(\\w+\\s?)*$",
  "(x*)*(x*)*(x*)*z",
];

const evilGlobs = [
  `${"{a,b}".repeat(30)}`,
  `{1..999999999}`,
  `${"**/".repeat(40)}*x`,
  `${"*a".repeat(40)}x`,
  `${"*".repeat(60)}x`,
  "+(+(+(+(+(a)))))x",
  "*(*(*(*(a|a)|a)|a)|a)x/**",
  `${"@(a|b".repeat(20)}${")".repeat(20)}`,
  `!(!(!(!(a*)*)*)*)*x`,
  `${"[a-z]*".repeat(30)}x`,
  `${"{".repeat(2000)}a${"}".repeat(2000)}`,
  `${"(".repeat(5000)}`,
];

// The promise is 6 s; the bounds leave room for a machine that does much else.
const answerMs = 8000;
const blockLimitMs = 100;
const plainMs = 4000;

describe("a pattern that backtracks without end", () => {
  test("ends with an error after 5 s, while the event loop runs and plain calls answer", async () => {
    const tools = registry();
    const plain: number[] = [];
    let over = false;
    const others = (async () => {
      while (!over) {
        const started = performance.now();
        expect(await tools.execute("search_text", { query: "needle", paths: ["."] })).toMatch(/:1:plain needle$/);
        plain.push(performance.now() - started);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    const { result, ms, blockMs } = await watched(() =>
      Promise.all(
        evilExpressions
          .slice(0, 4)
          .map((query) => tools.execute("search_text", { query, regex: true, paths: ["evil.txt"] })),
      ),
    );
    over = true;
    await others;
    for (const answer of result) {
      expect(answer).toMatch(/^Error executing search_text: The search did not end: matching took longer than 5000 ms/);
    }
    expect(ms).toBeLessThan(answerMs);
    expect(blockMs).toBeLessThan(blockLimitMs);
    expect(Math.max(...plain)).toBeLessThan(plainMs);
  });

  test("of each known family is answered, all at once", async () => {
    const tools = registry({ matchLimitMs: 500 });
    const { result, ms, blockMs } = await watched(() =>
      Promise.all(evilExpressions.map((query) => tools.execute("search_text", { query, regex: true, paths: ["."] }))),
    );
    expect(result.every((answer) => typeof answer === "string")).toBe(true);
    expect(ms).toBeLessThan(answerMs);
    expect(blockMs).toBeLessThan(blockLimitMs);
  });

  test("keeps the matches that came before it, in the same file too", async () => {
    writeFileSync(join(base, "before.txt"), "aaa\n");
    const args = { query: "^(a+)+( is.*)?$", regex: true, paths: ["."] };
    const answer = await registry({ matchLimitMs: 300 }).execute("search_text", args);
    expect(answer).toContain("2 matches so far:\nbefore.txt:1:aaa\nevil.txt:1:aaa is found");
  });

  test("ends when the call is aborted, and the next call is served", async () => {
    const tools = registry();
    const args = { query: "(a+)+$", regex: true, paths: ["."] };
    const { result, ms } = await watched(() =>
      tools.execute("search_text", args, { signal: AbortSignal.timeout(300) }),
    );
    expect(result).toMatch(/Aborted/);
    expect(ms).toBeLessThan(plainMs);
    expect(await tools.execute("search_text", { query: "needle", paths: ["."] })).toMatch(/plain needle/);
  });
});

describe("a hostile glob", () => {
  test.each([
    ["search_files", (pattern: string) => ({ pattern })],
    ["search_text", (include: string) => ({ query: "needle", include, paths: ["."] })],
  ] as const)("to %s is answered", async (name, args) => {
    const tools = registry({ matchLimitMs: 500 });
    for (let i = 0; i < evilGlobs.length; i += 4) {
      const { result, ms, blockMs } = await watched(() =>
        Promise.all(evilGlobs.slice(i, i + 4).map((glob) => tools.execute(name, args(glob)))),
      );
      expect(result.every((answer) => typeof answer === "string")).toBe(true);
      expect(ms).toBeLessThan(answerMs);
      expect(blockMs).toBeLessThan(blockLimitMs);
    }
    expect(await tools.execute("search_text", { query: "needle", paths: ["."] })).toMatch(/plain needle/);
  });
});
