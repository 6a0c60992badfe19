import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { loadGlobFiles } from "./globFiles.ts";
import { createDirectoryLister, type DirectoryLister } from "./listDirectory.ts";
import { compileWalkGlob } from "./pathGlob.ts";
import { walkFiles } from "./walk.ts";

const globFiles = await loadGlobFiles();

let base: string;
beforeEach(() => {
  base = temporaryFolder("search-trees");
});

const fail = (path: string, error: unknown): never => {
  throw new Error(`${path}: ${String(error)}`);
};

const filesOf = (lister: DirectoryLister): string[] =>
  [...walkFiles(lister, base, fail)].filter((path) => path !== undefined);

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
        const walked = filesOf(createDirectoryLister(undefined));
        expect(walked.sort()).toEqual(rg.stdout.split("\n").filter(Boolean).sort());
      }),
      { numRuns: 40 },
    );
  });

  test("are the same, whether walked or found by fast-glob", () => {
    fc.assert(
      fc.property(tree, (planted) => {
        plant(planted);
        const lister = createDirectoryLister(undefined);
        expect(filesOf(lister)).toEqual(globFiles(lister, base, ["**"], false, fail).sort());
      }),
      { numRuns: 40 },
    );
  });

  test("are the same by a glob that begins anywhere, whether filtered from the walk or found by fast-glob", () => {
    const segment = fc.constantFrom(
      "**",
      "*",
      "a",
      "b",
      "*.ts",
      "a*",
      "*b*",
      "{a,b}",
      "{*.ts,c}",
      "*.*",
      "c.ts",
      ".*",
      "*.a",
    );
    const pattern = fc.array(segment, { maxLength: 3 }).map((rest) => ["**", ...rest].join("/"));
    const patternsOf = fc.array(pattern, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(tree, patternsOf, fc.boolean(), (planted, patterns, anyDepth) => {
        plant(planted);
        const globs = anyDepth ? [...patterns, `!${patterns[0]?.slice(3) || "x"}`] : patterns.slice(0, 1);
        const matches = compileWalkGlob(globs, anyDepth);
        if (matches === undefined) return;
        const lister = createDirectoryLister(undefined);
        const found = filesOf(lister).filter(matches);
        expect(found, globs.join(" ")).toEqual(globFiles(lister, base, globs, anyDepth, fail).sort());
      }),
      { numRuns: 80 },
    );
  });
});
