import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { settingsOf } from "./options.ts";
import { createSearchTools } from "./search.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("search-evil");
  writeFileSync(join(base, "evil.txt"), `aaa is found\n${"a".repeat(60)}!\n${"x".repeat(50_000)}y\nfound after\n`);
  mkdirSync(join(base, "a".repeat(60)));
  writeFileSync(join(base, "a".repeat(60), "b".repeat(80)), "plain needle\n");
});

function registry(options: { matchLimitMs?: number } = {}): ToolRegistry {
  const made = new ToolRegistry();
  for (const tool of createSearchTools({ cwd: base, ...options })) made.register(tool);
  return made;
}

/** Runs `run`, and counts how often the event loop came round meanwhile. */
async function watched<Result>(run: () => Promise<Result>): Promise<{ result: Result; rounds: number }> {
  let rounds = 0;
  const ticks = setInterval(() => {
    rounds += 1;
  }, 5);
  const result = await run();
  clearInterval(ticks);
  return { result, rounds };
}

const evilExpressions = ["(a+)+$", "^(a|a)*$", "(.*a){25}$", "(?=(a+)+$)", "(x+x+)+z", "^(\\w+\\s?)*$"];

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

/** An event loop that came round so often was not held by the search: a pattern here would hold it without end. */
const fewestRounds = 10;

describe("a pattern that backtracks without end", () => {
  test("ends with an error after its limit of matching, 5 s unless set, while the event loop runs", async () => {
    const args = { query: "(a+)+$", regex: true, paths: ["evil.txt"] };
    const { result, rounds } = await watched(() => registry({ matchLimitMs: 400 }).execute("search_text", args));
    expect(result).toMatch(/^Error executing search_text: The search did not end: matching took longer than 400 ms/);
    expect(rounds).toBeGreaterThan(fewestRounds);
    expect(settingsOf("createSearchTextTool", {}).matchLimitMs).toBe(5000);
  });

  test("does not delay other calls", async () => {
    // The patterns hang until the plain calls are answered, however slow the machine is.
    const hour = 3_600_000;
    const tools = registry({ matchLimitMs: hour });
    const controller = new AbortController();
    const order: string[] = [];
    const evil = Promise.all(
      evilExpressions.slice(0, 4).map((query) => {
        const options = { signal: controller.signal, timeoutMs: hour };
        return tools.execute("search_text", { query, regex: true, paths: ["evil.txt"] }, options);
      }),
    ).finally(() => order.push("evil"));
    for (let call = 0; call < 5; call += 1) {
      expect(await tools.execute("search_text", { query: "needle", paths: ["."] })).toMatch(/:1:plain needle$/);
      order.push("plain");
    }
    controller.abort();
    expect((await evil).every((answer) => /Aborted/.test(answer))).toBe(true);
    expect(order).toEqual(["plain", "plain", "plain", "plain", "plain", "evil"]);
  });

  test("of each known family is answered, all at once", async () => {
    const tools = registry({ matchLimitMs: 100 });
    const { result, rounds } = await watched(() =>
      Promise.all(evilExpressions.map((query) => tools.execute("search_text", { query, regex: true, paths: ["."] }))),
    );
    expect(result.every((answer) => typeof answer === "string")).toBe(true);
    expect(rounds).toBeGreaterThan(fewestRounds);
  });

  test("keeps the matches that came before it, in the same file too", async () => {
    writeFileSync(join(base, "before.txt"), "aaa\n");
    const args = { query: "^(a+)+( is.*)?$", regex: true, paths: ["."] };
    const answer = await registry({ matchLimitMs: 100 }).execute("search_text", args);
    expect(answer).toContain("2 matches so far:\nbefore.txt:1:aaa\nevil.txt:1:aaa is found");
  });

  test("ends when the call is aborted, and the next call is served", async () => {
    const tools = registry();
    const args = { query: "(a+)+$", regex: true, paths: ["."] };
    const result = await tools.execute("search_text", args, { signal: AbortSignal.timeout(100) });
    expect(result).toMatch(/Aborted/);
    expect(await tools.execute("search_text", { query: "needle", paths: ["."] })).toMatch(/plain needle/);
  });
});

describe("a hostile glob", () => {
  test.each([
    ["search_files", (pattern: string) => ({ pattern })],
    ["search_text", (include: string) => ({ query: "needle", include, paths: ["."] })],
  ] as const)("to %s is answered", async (name, args) => {
    const tools = registry({ matchLimitMs: 60 });
    for (let i = 0; i < evilGlobs.length; i += 4) {
      const result = await Promise.all(evilGlobs.slice(i, i + 4).map((glob) => tools.execute(name, args(glob))));
      expect(result.every((answer) => typeof answer === "string")).toBe(true);
    }
    expect(await tools.execute("search_text", { query: "needle", paths: ["."] })).toMatch(/plain needle/);
  });
});

describe("a pattern that is too long or too deep is refused with what to do", () => {
  const tools = (): ToolRegistry => new ToolRegistry(createSearchTools({ cwd: base }));

  test.each([
    [
      "search_text",
      { query: "|".repeat(10_001), regex: true, paths: ["."] },
      "query: is longer than 10000 characters; pass",
    ],
    ["search_text", { query: "x".repeat(10_001), paths: ["."] }, "query: is longer than 10000 characters; pass"],
    [
      "search_text",
      { query: "x", include: "**/".repeat(334), paths: ["."] },
      "include: is longer than 1000 characters",
    ],
    ["search_files", { pattern: "**/".repeat(334) }, "pattern: is longer than 1000 characters; pass"],
    [
      "search_files",
      { pattern: "{a,b}".repeat(200) },
      "pattern: its braces stand for more than 1000 globs; pass fewer",
    ],
    ["search_text", { query: "x", include: "{a,{b,c}}".repeat(7), paths: ["."] }, "include: its braces stand for more"],
    ["search_files", { pattern: "{1..999999999}" }, "pattern: its braces stand for more than 1000 globs"],
    ["search_files", { pattern: "{1..40..2}{1..99..-1}" }, "pattern: its braces stand for more than 1000 globs"],
    [
      "search_text",
      { query: "(".repeat(10_000), regex: true, paths: ["."] },
      "query: Invalid regular expression: Unterminated group; correct",
    ],
  ])("%s %#", async (name, args, words) => {
    expect(await tools().execute(name, args)).toContain(`Error executing ${name}: Invalid arguments: ${words}`);
  });

  test.each(["{a,b}".repeat(9), "{1..1000}", `{${"a,".repeat(450)}}`, "\\{{a,b}[{,}]".repeat(9), "a,".repeat(450)])(
    "a glob with fewer alternatives is accepted: %s",
    async (pattern) => {
      expect(await tools().execute("search_files", { pattern })).toMatch(/^No files match/);
    },
  );

  test("groups that are nested a thousand deep are accepted", async () => {
    writeFileSync(join(base, "deep.txt"), "needle\n");
    const query = `${"(".repeat(1000)}needle${")".repeat(1000)}`;
    expect(await tools().execute("search_text", { query, regex: true, paths: ["."] })).toContain("deep.txt:1:needle");
  });
});

test("other work runs while many paths are looked up, and the signal ends it", async () => {
  const paths = Array.from({ length: 1500 }, (_, index) => `missing-${index}`);
  const [searchText] = createSearchTools({ cwd: base });
  let turns = 0;
  const count = (): void => {
    turns += 1;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  await expect(searchText?.execute({ query: "x", paths })).rejects.toThrow(/Path not found/);
  clearImmediate(turn);
  expect(turns).toBeGreaterThanOrEqual(14);
  const controller = new AbortController();
  setImmediate(() => controller.abort(new Error("stopped")));
  await expect(searchText?.execute({ query: "x", paths }, { signal: controller.signal })).rejects.toThrow("stopped");
});
