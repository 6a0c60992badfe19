import { mkdirSync, rmdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { loadFastGlobs } from "./fastGlobs.ts";
import { compilePlainGlobs } from "./globs.ts";
import type { SearchJob } from "./job.ts";
import { DirectoryLister, quickLimits } from "./listDirectory.ts";
import { createFinder, Notes, walkFiles } from "./walkBatches.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("search-walk");
});

function make(files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) writeIn(base, path, content);
}
const fail = (path: string, error: unknown): never => {
  throw new Error(`${path}: ${String(error)}`);
};
const options = { onUnreadable: fail, after: "", enters: () => true, onLeftOut: () => undefined };
const walk = (lister: DirectoryLister, at = base): string[] => [...walkFiles(lister, at, options)].flat();
const walked = (at = base, roots?: string[]): string[] => walk(new DirectoryLister(roots), at);
/** The files that a glob finds, as a search finds them. */
async function glob(pattern: string, anyDepth = false, at = base): Promise<string[]> {
  const globs = { patterns: [pattern], anyDepth };
  const matchAny = compilePlainGlobs(globs) === undefined ? await loadFastGlobs(globs) : undefined;
  const find = createFinder({ globs } as unknown as SearchJob, new DirectoryLister(undefined), matchAny);
  const found = find({ path: at, shown: "", isDirectory: true }, "", new Notes());
  return [...found].flat();
}

/** Lists when every directory looks untouched for a while, so that what is listed is remembered. */
function listLater<T>(list: () => T): T {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3100 });
  try {
    return list();
  } finally {
    vi.useRealTimers();
  }
}

test("the walk can be left after each directory, also where none holds a file", () => {
  for (let outer = 0; outer < 5; outer += 1) mkdirSync(join(base, `${outer}/inner`), { recursive: true });
  expect([...walkFiles(new DirectoryLister(undefined), base, options)]).toEqual(Array(10).fill([]));
});

test("the walk can go on behind any of its paths, in another thread", () => {
  make({ "a/x": "", "a/y/z": "", "a.b": "", "a-b": "", ab: "", "b/c": "", "b/d/e": "" });
  const all = walked();
  for (const [at, after] of all.entries()) {
    const rest = [...walkFiles(new DirectoryLister(undefined), base, { ...options, after })];
    expect(rest.flat()).toEqual(all.slice(at + 1));
  }
});

describe("a lister with limits lists nothing that takes long", () => {
  const limits = { directory: Infinity, ignoreFile: Infinity, matches: Infinity, kept: 5000 };

  test.each([
    ["many rules", "*a*a0b*c\n".repeat(3000), "n"],
    ["a rule of many stars", `${"*a".repeat(1000)}\n`, "a".repeat(200)],
    ["many rules for the same ending", Array.from({ length: 2000 }, (_, index) => `*${index}x\n`).join(""), "n"],
  ])("where many names would be compared with %s", (_, rules, name) => {
    const list = () =>
      new DirectoryLister(undefined, undefined, { ...limits, matches: quickLimits.matches }).list(base, undefined);
    for (let index = 0; index < 200; index += 1) make({ [`${name}${index}`]: "" });
    expect(list()?.names).toHaveLength(200);
    make({ ".gitignore": rules });
    expect(list()).toBe(undefined);
  });

  test.runIf(process.platform === "linux")("where a directory has many entries, whatever size it tells", () => {
    const directory = "/proc/sys/kernel";
    expect(statSync(directory).size).toBe(0);
    const lister = new DirectoryLister(undefined, undefined, { ...limits, directory: 500 });
    expect(lister.list(directory, undefined)).toBe(undefined);
  });
});

describe("the files that are walked", () => {
  test("are in the order of their paths", () => {
    make({ "a/x": "", "a.b": "", "a-b": "", ab: "", "b/c": "" });
    expect(walked()).toEqual(["a-b", "a.b", "a/x", "ab", "b/c"]);
  });

  test("follow no link, to a file or to a directory, nor a loop", async () => {
    make({ "d/f": "" });
    symlinkSync("f", join(base, "d/link"));
    symlinkSync("..", join(base, "d/loop"));
    symlinkSync("d", join(base, "e"));
    expect(walked()).toEqual(["d/f"]);
    expect(await glob("e/*", false)).toEqual([]);
    expect(await glob("d/link", false)).toEqual([]);
  });

  test("follow rules from the repository's root down, and none from above it", () => {
    make({
      ".gitignore": "f1",
      "repo/.git/HEAD": "",
      "repo/.gitignore": "f2",
      "repo/sub/f1": "",
      "repo/sub/f2": "",
      "repo/sub/f3": "",
    });
    expect(walked(join(base, "repo/sub"))).toEqual(["f1", "f3"]);
  });

  test("follow rules from above a start that is in no repository", () => {
    make({ ".gitignore": "f1", "sub/f1": "", "sub/f2": "" });
    expect(walked(join(base, "sub"))).toEqual(["f2"]);
  });

  test("are confined by roots: rules above them are not read", () => {
    make({ ".gitignore": "f1", "sub/f1": "", "sub/f2": "" });
    expect(walked(join(base, "sub"), [join(base, "sub")])).toEqual(["f1", "f2"]);
  });

  test("reach 400 levels down", () => {
    let at = base;
    for (let i = 0; i < 400; i += 1) {
      at += "/d";
      mkdirSync(at);
    }
    writeFileSync(`${at}/f`, "");
    try {
      expect(walked()).toEqual([`${"d/".repeat(400)}f`]);
    } finally {
      // Node 22's recursive rmSync has not the stack for it.
      rmSync(`${at}/f`);
      for (; at !== base; at = dirname(at)) rmdirSync(at);
    }
  });
});

describe("the cache of a lister", () => {
  test("a file, a directory or a rule that changes between two walks is always noticed", () => {
    make({ "s/a": "", "t/b": "", "t/.gitignore": "x" });
    for (const directory of ["s", "t", "."]) utimesSync(join(base, directory), 1e9, 1e9);
    const lister = new DirectoryLister(undefined);
    const list = (): string[] => walk(lister);
    const first = ["s/a", "t/.gitignore", "t/b"];
    expect(listLater(list)).toEqual(first);
    expect(list()).toEqual(first);
    for (let i = 0; i < 30; i += 1) {
      make({ "s/new": "" });
      // The old time put back, as an unpacked archive does.
      utimesSync(join(base, "s"), 1e9, 1e9);
      expect(list()).toEqual(["s/a", "s/new", "t/.gitignore", "t/b"]);
      rmSync(join(base, "s/new"));
      expect(list()).toEqual(first);
    }
    const { mtime } = statSync(join(base, "t/.gitignore"));
    make({ "t/.gitignore": "b" });
    utimesSync(join(base, "t/.gitignore"), mtime, mtime);
    expect(list()).toEqual(["s/a", "t/.gitignore"]);
    mkdirSync(join(base, "t/.git"));
    make({ ".gitignore": "a" });
    expect(list()).toEqual([".gitignore", "t/.gitignore"]);
  });
});

describe("a glob", () => {
  test.each(["../*", "../../**", "{..,x}/*", "x/../../*", "/etc/*", "@(..)/*", "./../*"])(
    "cannot leave its directory: %s",
    async (pattern) => {
      make({ "in/f": "", "out/g": "" });
      const found = await glob(pattern, false, join(base, "in"));
      expect(found.filter((path) => path !== "f")).toEqual([]);
    },
  );
});
