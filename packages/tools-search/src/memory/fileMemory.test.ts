import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ToolRegistry } from "@toolcrib/core";
import { sharedFolder } from "@toolcrib/testing";
import fc from "fast-check";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { notesEveryChange } from "../engine/learnFiles.ts";
import type { SearchOptions } from "../options.ts";
import { createSearchTools } from "../search.ts";
import { FileMemory, memoryOf } from "./fileMemory.ts";

const root = sharedFolder("search-memory");
const limit = 2 ** 26;
const names = Array.from({ length: 40 }, (_, index) => `file${index}.txt`);
const at = (name: string): string => join(root, name);

function registryWith(options: SearchOptions = {}): ToolRegistry {
  return new ToolRegistry(createSearchTools({ root, cwd: root, searchMemory: limit, ...options }));
}
const remembering = registryWith();

/** The files that hold a text, one a line. */
function search(query: string, more: Record<string, unknown> = {}, registry = remembering): Promise<string> {
  return registry.execute("search_text", { query, paths: ["."], mode: "files", ...more });
}

function isKnown(name: string, tree = root): boolean {
  const shared = memoryOf(tree, limit);
  return shared !== undefined && new FileMemory(shared).find(at(name)) !== 0;
}

/** Lets all changes look old enough to `run`, as if the clock had gone on. The next change gets another time than they have. */
async function later(run: () => Promise<unknown>): Promise<void> {
  await pause(20);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3100 });
  try {
    await run();
  } finally {
    vi.useRealTimers();
  }
}

/** Searches on the caller's thread until the files are known. */
async function learn(expected: readonly string[]): Promise<void> {
  const unknown = async () => {
    await search("no such text");
    return expected.filter((name) => !isKnown(name));
  };
  await later(() => vi.waitUntil(async () => (await unknown()).length === 0, { timeout: 60_000 }));
}

/** Writes other bytes of the same length, and puts the times back as they were. */
function changeUnseen(name: string, text: string): void {
  const { atime, mtime } = statSync(at(name));
  writeFileSync(at(name), text.padEnd(64, "."));
  utimesSync(at(name), atime, mtime);
}

beforeAll(() => {
  for (const name of names) {
    writeFileSync(at(name), "the first text".padEnd(64, "."));
    // Times without fractions, which can be restored exactly.
    utimesSync(at(name), 1e9, 1e9);
  }
});

describe("a search never answers from what a file held before", () => {
  test("a file changed between two searches, with its size and times as they were", async () => {
    await learn(names);
    changeUnseen("file3.txt", "another text");
    expect(await search("another text")).toBe("file3.txt");
    expect(await search("an[o]ther text", { regex: true })).toBe("file3.txt");
    expect((await search("the first text")).split("\n")).not.toContain("file3.txt");
    await learn(["file3.txt"]);
    expect(await search("ANOTHER text", { case_sensitive: false })).toBe("file3.txt");
  });

  test("a file changed right before a search, many times in a row", async () => {
    for (let round = 0; round < 20; round += 1) {
      const name = names[round % names.length] as string;
      changeUnseen(name, `round ${round}`);
      // An expression is searched for in threads.
      expect(await search(`round ${round}.`, { regex: round % 2 === 1 }), `round ${round}`).toBe(name);
    }
  });

  test("a file changed while a search runs is found as it is by the next one", async () => {
    await learn(names);
    for (let round = 0; round < 20; round += 1) {
      const name = names[(round * 7) % names.length] as string;
      const regex = round % 2 === 1;
      const running = search("no such text", { regex });
      if (round % 3 > 0) await pause(round % 3);
      changeUnseen(name, `during ${round}`);
      const next = search(`during ${round}.`, { regex });
      await running;
      expect(await next, `round ${round}`).toBe(name);
    }
  });

  test("a file replaced by another, linked, removed, or made a directory or a link", async () => {
    writeFileSync(at("spare"), "the spare text".padEnd(64, "."));
    utimesSync(at("spare"), 1e9, 1e9);
    for (const name of ["file10.txt", "file11.txt"]) utimesSync(at(name), 1e9, 1e9);
    await learn(["spare", "file10.txt", "file11.txt", "file12.txt", "file13.txt", "file14.txt"]);
    renameSync(at("spare"), at("file10.txt"));
    expect(await search("the spare text")).toBe("file10.txt");
    rmSync(at("file11.txt"));
    linkSync(at("file10.txt"), at("file11.txt"));
    expect(await search("the spare text")).toBe("file10.txt\nfile11.txt");
    rmSync(at("file12.txt"));
    rmSync(at("file13.txt"));
    mkdirSync(at("file13.txt"));
    rmSync(at("file14.txt"));
    symlinkSync("file10.txt", at("file14.txt"));
    expect(await search("the spare text")).toBe("file10.txt\nfile11.txt");
  });

  test("whatever is done to the files, a search answers as one that remembers nothing", async () => {
    await learn(["file0.txt", "file1.txt"]);
    const forgetful = registryWith({ searchMemory: 0 });
    const change = fc.record({
      name: fc.constantFrom("file0.txt", "file1.txt", "file2.txt", "sub/file.txt"),
      how: fc.constantFrom("write", "unseen", "append", "remove", "rename"),
      text: fc.constantFrom("abcd", "bcda", "cdab", "abab"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 4 }),
        fc.constantFrom("abc", "cda", "ABA", "b"),
        async (all, query) => {
          mkdirSync(at("sub"), { recursive: true });
          for (const { name, how, text } of all) {
            if (how === "remove") rmSync(at(name), { force: true });
            else if (how === "append") writeFileSync(at(name), text, { flag: "a" });
            else if (how === "rename") {
              writeFileSync(at("moved"), text);
              renameSync(at("moved"), at(name));
            } else if (how === "unseen" && statSync(at(name), { throwIfNoEntry: false })) changeUnseen(name, text);
            else writeFileSync(at(name), text);
          }
          const more = { case_sensitive: query !== "ABA", mode: "lines" };
          expect(await search(query, more)).toBe(await search(query, more, forgetful));
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe("what is remembered", () => {
  test("a file that changed a moment ago is not, nor an empty one", async () => {
    writeFileSync(at("old"), "is learned");
    writeFileSync(at("empty"), "");
    await learn(["old"]);
    writeFileSync(at("fresh"), "fresh");
    await search("fresh");
    await pause(50);
    expect(isKnown("fresh")).toBe(false);
    expect(isKnown("empty")).toBe(false);
  });

  test("nothing is, with searchMemory 0", async () => {
    const apart = join(root, "apart");
    mkdirSync(apart);
    writeFileSync(join(apart, "a"), "text");
    const registry = registryWith({ root: apart, cwd: apart, searchMemory: 0 });
    await later(async () => {
      for (let round = 0; round < 3; round += 1) await search("text", {}, registry);
      await pause(20);
    });
    const shared = memoryOf(apart, limit);
    expect(shared && new FileMemory(shared).find(join(apart, "a"))).toBe(0);
  });

  test("nothing is, where the process has no room for it", async () => {
    class NoRoom {
      constructor() {
        throw new RangeError("Array buffer allocation failed");
      }
    }
    const before = memoryOf(root, limit);
    vi.stubGlobal("SharedArrayBuffer", NoRoom);
    try {
      expect(memoryOf("/elsewhere", limit)).toBe(undefined);
    } finally {
      vi.unstubAllGlobals();
    }
    expect(memoryOf(root, limit)).not.toBe(before);
  });

  test("a denied file is not shown, whoever searched it before", async () => {
    writeFileSync(at("secret.key"), "a hidden word");
    await learn(["secret.key"]);
    expect(await search("a hidden word")).toBe("secret.key");
    const denying = registryWith({ deny: ["*.key"] });
    expect(await search("a hidden word", {}, denying)).toContain("No matches");
    expect(await search("a hidden word", { paths: ["secret.key"] }, denying)).toMatch(/^Error/);
  });

  test("a file whose permissions changed is opened again", async () => {
    writeFileSync(at("shut"), "a shut text");
    await learn(["shut"]);
    chmodSync(at("shut"), 0);
    expect(isKnown("shut")).toBe(false);
    const answer = await search("a shut text");
    // Root may read it all the same.
    expect(answer).toContain(process.getuid?.() === 0 ? "shut" : "permission denied");
  });

  test.runIf(process.platform === "linux")("files of /proc and /sys are not: their times say nothing", () => {
    expect(notesEveryChange("/proc/self/status")).toBe(false);
    expect(notesEveryChange("/sys/kernel")).toBe(false);
  });

  test("a tree that needs more room than there is keeps what fits, and the tree searched longest ago is forgotten", () => {
    const least = 2 ** 20;
    const first = new FileMemory(memoryOf("/first", least) as SharedArrayBuffer);
    const stats = statSync(at("old"));
    const learned = { signature: new Uint32Array(128), text: readFileSync(at("old")) };
    for (let index = 0; index < 20_000; index += 1) first.add(`/first/${index}`, stats, learned);
    expect(first.used).toBeLessThanOrEqual(least);
    expect(first.hasRoom).toBe(false);
    expect(first.knows("/first/0", stats)).toBe(true);
    expect(first.knows("/first/19999", stats)).toBe(false);
    expect(memoryOf("/second", least)).toBeDefined();
    const again = new FileMemory(memoryOf("/first", least) as SharedArrayBuffer);
    expect(again.knows("/first/0", stats)).toBe(false);
  });
});
