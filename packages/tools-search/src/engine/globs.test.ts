import { mkdirSync, rmSync } from "node:fs";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { createSearchFilesTool } from "../searchFiles.ts";
import { createSearchTextTool } from "../searchText.ts";
import { loadFastGlobs } from "./fastGlobs.ts";
import { compileFolderMatcher, compilePlainGlobs, leavesOut } from "./globs.ts";
import type { Globs } from "./job.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("search-globs");
});

function plant(paths: readonly string[]): void {
  rmSync(base, { recursive: true, force: true });
  mkdirSync(base);
  for (const path of paths) {
    try {
      writeIn(base, path, "text\n");
    } catch {
      // A file stands where a directory would have to be: the tree goes without.
    }
  }
}

const everything = { max_results: 1e6 };

async function filesOf(pattern: string): Promise<string[]> {
  const answer = await createSearchFilesTool({ cwd: base }).execute({ pattern, ...everything });
  return ((answer as { data?: { files: string[] } }).data?.files ?? []).toSorted();
}

async function includedBy(include: string): Promise<string[]> {
  const tool = createSearchTextTool({ cwd: base });
  const answer = await tool.execute({ query: "text", paths: ["."], include, mode: "files", ...everything });
  return ((answer as { data?: { files: { path: string }[] } }).data?.files ?? []).map(({ path }) => path).toSorted();
}

async function matchByFastGlob(globs: Globs, files: readonly string[]): Promise<string[]> {
  return (await loadFastGlobs(globs))([...files].sort());
}

describe("a name matches a segment that equals it", () => {
  const tree = [
    "app/(auth)/login/page.tsx",
    "app/[...all]/page.tsx",
    "app/[[...slug]]/page.tsx",
    "app/@modal/(.)photo/[id].tsx",
    "app/{a,b}/x",
    "app/a/x",
    "app/i/page.tsx",
    "app/auth/page.tsx",
  ];

  test.each([
    ["app/(auth)/**", ["app/(auth)/login/page.tsx"]],
    ["app/(auth)/*/page.{tsx,ts}", ["app/(auth)/login/page.tsx"]],
    ["app/[...all]/page.tsx", ["app/[...all]/page.tsx"]],
    ["app/[[...slug]]/*", ["app/[[...slug]]/page.tsx"]],
    ["app/[[...slug]]/page.tsx", ["app/[[...slug]]/page.tsx"]],
    ["app/@modal/(.)photo/[id].tsx", ["app/@modal/(.)photo/[id].tsx"]],
    ["**/@modal/**/*.tsx", ["app/@modal/(.)photo/[id].tsx"]],
    ["app/{a,b}/*", ["app/a/x", "app/{a,b}/x"]],
    ["app/+([a-i])/*", ["app/a/x", "app/i/page.tsx"]],
    ["app/[id]/*", ["app/i/page.tsx"]],
    ["app/[[...slug]]/+(page).tsx", ["app/[[...slug]]/page.tsx"]],
    ["app/(auth)/+(login)/*", ["app/(auth)/login/page.tsx"]],
  ])("%s", async (pattern, expected) => {
    plant(tree);
    expect(await filesOf(pattern)).toEqual(expected);
    expect(await includedBy(pattern)).toEqual(expected);
  });

  test("in what is left out too, with all below", async () => {
    plant(tree);
    expect(await includedBy("!app/(auth)")).not.toContain("app/(auth)/login/page.tsx");
    expect(await includedBy("!**/(auth)")).toEqual(await includedBy("!app/(auth)/**"));
    expect(await includedBy("![id].tsx")).toHaveLength(tree.length - 1);
  });
});

test("!( begins an extended glob, as in fast-glob and the shells, and ! before anything else leaves files out", async () => {
  plant(["a.ts", "a.test.ts", "b/a.js", "b/!(x)"]);
  expect(await includedBy("!(*.test).ts")).toEqual(["a.ts"]);
  expect(await includedBy("!(a)*/*")).toEqual(["b/!(x)", "b/a.js"]);
  expect(await includedBy("!*.ts")).toEqual(["b/!(x)", "b/a.js"]);
  expect(await filesOf("!(*.test).ts")).toEqual(["a.ts"]);
  await expect(createSearchFilesTool({ cwd: base }).execute({ pattern: "!*.ts" })).rejects.toThrow(
    "cannot start with !",
  );
});

describe("globs", () => {
  const piece = fc.constantFrom(..."a b (a) [a] [ab] {a,b} ! @ + ( ) [ ] - ü . * ? $ | , ^".split(" "), " ");
  const name = fc
    .array(piece, { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join(""))
    .filter((one) => one !== "." && one !== "..");
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
  const tree = fc.uniqueArray(path, { minLength: 1, maxLength: 8 });

  test("find a path that is there and is given as the pattern", async () => {
    await fc.assert(
      fc.asyncProperty(tree, async (paths) => {
        plant(paths);
        for (const one of await filesOf("**")) {
          // It leaves files out; only search_text takes it so.
          if (leavesOut(one)) continue;
          expect(await filesOf(one), one).toContain(one);
          expect(await includedBy(`/${one}`), one).toContain(one);
        }
      }),
      { numRuns: 12 },
    );
  });

  const segment = fc.constantFrom(
    ..."** * a b *.ts a* *b* a? [ab] [!a] {a,b} {*.ts,c} a?.ts (a) +(a|b) !(a) @(a|*.ts) {a..c} [[:alpha:]] a/{b,c/a} *[a]*".split(
      " ",
    ),
  );
  const pattern = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("/"));
  const plainPath = fc
    .array(fc.constantFrom("a", "b", "c", "ab", "a.ts", "ab.ts", "(a)", "[ab]", ".ts"), { minLength: 1, maxLength: 4 })
    .map((names) => names.join("/"));
  const plainTree = fc.uniqueArray(plainPath, { minLength: 1, maxLength: 12 });

  test("mean the same to search_files and as include", async () => {
    await fc.assert(
      fc.asyncProperty(plainTree, pattern, async (paths, glob) => {
        plant(paths);
        expect(await includedBy(`/${glob}`), glob).toEqual(await filesOf(glob));
        const anywhere = glob.includes("/") ? glob : `**/${glob}`;
        expect(await includedBy(glob), glob).toEqual(await filesOf(anywhere));
      }),
      { numRuns: 20 },
    );
  });

  test("that are plain find without a library what fast-glob finds, and no folder that may hold it is left out", async () => {
    await fc.assert(
      fc.asyncProperty(
        plainTree,
        fc.array(pattern, { minLength: 1, maxLength: 2 }),
        fc.boolean(),
        async (paths, patterns, anyDepth) => {
          const files = paths.filter((one) => !paths.some((other) => other.startsWith(`${one}/`)));
          const globs = { patterns: anyDepth ? [...patterns, `!${patterns[0]}/c`] : patterns, anyDepth };
          const matches = compilePlainGlobs(globs);
          // To fast-glob, `a/**` also finds a file called `a`, and `a?/*` looks in the folder of that very name alone.
          const differs = /.\*\*$|(^|\/)a\?(\.ts)?\//;
          fc.pre(matches !== undefined && !patterns.some((one) => differs.test(one)));
          const found = files.filter((one) => matches(one)).sort();
          expect(found, JSON.stringify(globs)).toEqual(await matchByFastGlob(globs, files));
          const enters = compileFolderMatcher(globs);
          for (const one of found) {
            for (let at = one.indexOf("/"); at > 0; at = one.indexOf("/", at + 1))
              expect(enters(one.slice(0, at))).toBe(true);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  test.each([
    ["src/*.ts", "src", true],
    ["src/*.ts", "lib", false],
    ["src/*.ts", "src/a", false],
    ["src/**", "src/a/b", true],
    ["*.ts", "src", false],
    ["{src,lib}/*/x", "lib/a", true],
    ["src/+(a|b)/x", "src/c", true],
    ["src/+(a|b)/x", "lib", false],
  ])("tell which folders are worth a look: %s, %s", (glob, folder, expected) => {
    expect(compileFolderMatcher({ patterns: [glob], anyDepth: false })(folder)).toBe(expected);
  });

  test("that are plain are matched in steps that grow with the pattern times the name", () => {
    const matches = compilePlainGlobs({ patterns: [`${"*a".repeat(200)}x`, `${"**/".repeat(40)}*x`], anyDepth: false });
    expect(matches?.("a".repeat(255))).toBe(false);
    expect(matches?.("a/".repeat(1000))).toBe(false);
  });
});
