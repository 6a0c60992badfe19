import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { DirectoryLister } from "./listDirectory.ts";
import { walkFiles } from "./walk.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("search-trees");
});

const fail = (path: string, error: unknown): never => {
  throw new Error(`${path}: ${String(error)}`);
};

const filesOf = (lister: DirectoryLister, after = ""): string[] =>
  [...walkFiles(lister, base, { onUnreadable: fail, after, enters: () => true, onLeftOut: () => undefined })].filter(
    (path) => path !== undefined,
  );

const hasRipgrep = spawnSync("rg", ["--version"]).status === 0;
const rgFlags = [
  "--hidden",
  "-g",
  "!.git",
  "--no-require-git",
  "--no-ignore-global",
  "--no-ignore-exclude",
  "--no-ignore-dot",
];

const name = fc.constantFrom("a", "b", "c.js", "d.log", ".hid", "e f", "ü", "build", "A");
const filePath = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
const rule = fc.constantFrom(
  "a",
  "/a",
  "*.log",
  "!d.log",
  "build/",
  "b/*",
  "**/c.js",
  "a/**",
  ".hid",
  "!a",
  "*",
  "!*/",
  "?",
  "[ab]",
  "e\\ f",
  "# x",
  "/b/a",
  "a/**/b",
);
const tree = fc.record({
  files: fc.uniqueArray(filePath, { minLength: 1, maxLength: 25 }),
  ignores: fc.array(fc.tuple(filePath, fc.array(rule, { minLength: 1, maxLength: 4 })), { maxLength: 4 }),
  repositories: fc.array(filePath, { maxLength: 2 }),
});

function plant({
  files,
  ignores,
  repositories,
}: {
  files: string[];
  ignores: [string, string[]][];
  repositories: string[];
}): void {
  rmSync(base, { recursive: true, force: true });
  mkdirSync(base);
  const put = (path: string, content: string): void => {
    try {
      mkdirSync(dirname(join(base, path)), { recursive: true });
      writeFileSync(join(base, path), content);
    } catch {
      // A file stands where a directory would have to be: the tree goes without.
    }
  };
  for (const path of files) put(path, "x");
  for (const [path, rules] of ignores) put(join(dirname(path), ".gitignore"), rules.join("\n"));
  for (const path of repositories) put(join(dirname(path), ".git", "HEAD"), "ref");
}

describe("the files that are walked", () => {
  test.skipIf(!hasRipgrep)("are those of `rg --files`, for random trees with ignore files and repositories", () => {
    fc.assert(
      fc.property(tree, (planted) => {
        plant(planted);
        const rg = spawnSync("rg", ["--files", ...rgFlags], { cwd: base, encoding: "utf8" });
        const walked = filesOf(new DirectoryLister(undefined));
        expect(walked.sort()).toEqual(rg.stdout.split("\n").filter(Boolean).sort());
      }),
      { numRuns: 40 },
    );
  });

  test("go on behind any of them as from the start", () => {
    fc.assert(
      fc.property(tree, fc.nat(), (planted, at) => {
        plant(planted);
        const all = filesOf(new DirectoryLister(undefined));
        const after = all[at % Math.max(1, all.length)] ?? "";
        expect(filesOf(new DirectoryLister(undefined), after)).toEqual(all.slice(all.indexOf(after) + 1));
      }),
      { numRuns: 40 },
    );
  });
});
