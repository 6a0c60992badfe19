import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder, temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { compilePathPatterns, type PathPatternOptions } from "./pathPatterns.ts";

const hasGit = spawnSync("git", ["--version"]).status === 0;

function match(pattern: string, path: string, options: Partial<PathPatternOptions> = {}): string | undefined {
  const isDirectory = path.endsWith("/") ? true : options.missingMatches ? undefined : false;
  return compilePathPatterns([pattern], { roots: ["/r", "/s"], home: "/home/u", ...options }).match(path, isDirectory);
}

describe("path patterns", () => {
  test.each([
    ["a", "/r/a", true],
    ["a", "/r/x/a", true],
    ["a", "/r/a/below", true],
    ["a", "/elsewhere/a/b", true],
    ["a", "/r/ab", false],
    ["*.pem", "/r/x/key.pem", true],
    ["*.pem", "/r/key.pem.txt", false],
    [".env*", "/r/.env.local", true],
    ["a/b", "/r/a/b", true],
    ["a/b", "/s/a/b/c", true],
    ["a/b", "/r/x/a/b", false],
    ["a/b", "/t/a/b", false],
    ["./a", "/r/a", true],
    ["./a", "/r/x/a", false],
    ["././/a", "/r/a", true],
    [".", "/r/anything", true],
    ["./", "/r/", true],
    [".", "/t/anything", false],
    ["/t/x", "/t/x", true],
    ["//t/x", "/t/x/y", true],
    ["/x", "/r/x", false],
    ["/", "/anything", true],
    ["~/.ssh", "/home/u/.ssh/id", true],
    ["~/.ssh", "/r/.ssh", false],
    ["~", "/home/u/x", true],
    ["~", "/home/user", false],
    ["\\~", "/r/~", true],
    ["\\!a", "/r/!a", true],
    ["d/", "/r/d/", true],
    ["d/", "/r/d", false],
    ["d/", "/r/d/f", true],
    ["a/**", "/r/a", false],
    ["a/**", "/r/a/b/c", true],
    ["**/b", "/r/x/y/b", true],
    ["a/**/b", "/r/a/b", true],
    ["{a,b}", "/r/a", false],
    ["{a,b}", "/r/{a,b}", true],
    ["[a-c]x", "/r/bx", true],
    ["a?c", "/r/a/c", false],
    ["A", "/r/a", false],
    ["a", "/r/x/../a", true],
    ["x", "/r/x/../a", false],
  ])("%j decides about %j", (pattern, path, expected) => {
    expect(match(pattern, path)).toBe(expected ? pattern : undefined);
  });

  describe("a path is its own pattern", () => {
    test.each([
      ["app/(auth)/[id]/page.tsx", "/r/app/(auth)/[id]/page.tsx"],
      ["app/[[...slug]]/page.tsx", "/r/app/[[...slug]]/page.tsx"],
      ["app/[id]/**", "/r/app/[id]/x/y"],
      ["app/[id]", "/r/app/[id]/below"],
      ["[id]", "/r/x/[id]"],
      ["*/[id]", "/r/x/[id]"],
      ["**/[a]/[b]/*.ts", "/r/x/[a]/b/y.ts"],
      ["[a]/[b]/[c]", "/r/a/[b]/c"],
      ["/t/[x]/y", "/t/[x]/y"],
      ["~/[x]", "/home/u/[x]"],
      ["x[a/b]y", "/r/x[a/b]y"],
      ["[a/b]/[c/d]", "/r/[a/b]/[c/d]"],
      ["[a/b]/[c/d]", "/r/a/[c/d]"],
      ["[a/b]/[c/d]", "/r/[a/b]/c"],
      ["[a/b]/**/[c/d]x/[e]", "/r/b/y/[c/d]x/[e]/z"],
      ["**/[a/b]/*/[!c/d]", "/r/x/[a/b]/y/z"],
      ["a\\b[c]", "/r/a\\b[c]"],
      ["[[:alpha:]é]", "/r/[[:alpha:]é]"],
    ])("%j matches %j", (pattern, path) => {
      for (const ignoreCase of [false, true]) {
        expect(match(pattern, path, { ignoreCase })).toBe(pattern);
        const folder = path.slice(0, path.lastIndexOf("/"));
        const { mayMatchBelow } = compilePathPatterns([pattern], { roots: ["/r"], home: "/home/u", ignoreCase });
        expect(mayMatchBelow(folder)).toBe(true);
      }
    });

    test.each([
      ["app/[id]/x", "/r/app/i/x", true],
      ["app/[id]/x", "/r/app/id/x", false],
      ["app/\\[id\\]/x", "/r/app/[id]/x", true],
      ["app/\\[id\\]/x", "/r/app/i/x", false],
      ["app/[id]/x", "/r/app/[ID]/x", false],
      ["[a][b]", "/r/[a]b", false],
    ])("and %j still decides about %j", (pattern, path, expected) => {
      expect(match(pattern, path) !== undefined).toBe(expected);
    });

    test("a name in it that leads elsewhere through a link does so too", () => {
      const base = temporaryFolder("path-patterns");
      mkdirSync(join(base, "real"));
      symlinkSync("real", join(base, "[link]"));
      const compile = (pattern: string) => compilePathPatterns([pattern], { roots: [base], followLinks: true });
      for (const pattern of ["./[link]/x", "./\\[link\\]/x", "./[link]/*"])
        expect(compile(pattern).match(join(base, "real/x"))).toBe(pattern);
    });
  });

  test("a name is not matched against the path of a root itself", () => {
    const roots = ["/home/build/project"];
    const patterns = compilePathPatterns(["build"], { roots });
    expect(patterns.match("/home/build/project/src/a")).toBeUndefined();
    expect(patterns.match("/home/build/project/build/a")).toBe("build");
    expect(patterns.match("/home/build/other")).toBe("build");
  });

  test("the first pattern that matches is returned", () => {
    const patterns = compilePathPatterns(["z", "*.key", "a/b", "b", "/r/a"], { roots: ["/r"] });
    expect(patterns.match("/r/a/b/x.key")).toBe("*.key");
    expect(patterns.match("/r/a/b")).toBe("a/b");
    expect(patterns.match("/r/c")).toBeUndefined();
  });

  test.each([
    [".env", "/r/.ENV"],
    [".ENV", "/r/.env"],
    ["*.PEM", "/r/a.pem"],
    ["/T/X", "/t/x"],
    ["[A-Z]x", "/r/bX"],
    ["[[:upper:]]x", "/r/bx"],
    ["a/B*", "/R/A/bc"],
    [".git", "/r/.G\u0131T"],
    [".git", "/r/.g\u200cit"],
    ["s", "/r/\u017f"],
    ["k", "/r/\u212a"],
    ["straße", "/r/STRASSE"],
    ["caf\u00e9", "/r/CAFE\u0301"],
    ["cafe\u0301*", "/r/CAF\u00c9x"],
    ["\u03b1\u03c3*", "/r/\u0391\u03a3\u0391"],
  ])("%j matches %j when the case is ignored", (pattern, path) => {
    expect(match(pattern, path, { ignoreCase: true })).toBe(pattern);
    expect(match(pattern, path)).toBeUndefined();
  });

  test("a wildcard matches a letter without its accent too when the case is ignored", () => {
    expect(match("e*", "/r/e\u0301", { ignoreCase: true })).toBe("e*");
  });

  test("a pattern for directories matches paths of unknown type when an option asks for it", () => {
    expect(match("d/", "/r/d", { missingMatches: true })).toBe("d/");
    const patterns = compilePathPatterns(["d/"], { roots: ["/r"], missingMatches: true });
    expect(patterns.match("/r/d", false)).toBeUndefined();
  });

  test.each([
    [".env", "/r", true],
    ["a/b", "/r", true],
    ["a/b", "/", true],
    ["a/b", "/r/a", true],
    ["a/b", "/r/a/b/c", true],
    ["a/b", "/r/c", false],
    ["a/b", "/r/ab", false],
    ["a/*/c", "/r/a/b", true],
    ["a/*/c", "/r/a/b/d", false],
    ["a/**", "/r/a/x/y", true],
    ["/t/*.pem", "/t", true],
    ["/t/*.pem", "/t/x", false],
    ["/t", "/t/x", true],
    ["~/.ssh", "/home", true],
    ["~/.ssh", "/r", false],
    [".", "/r/x", true],
  ])("%j may match below %j: %j", (pattern, directory, expected) => {
    const patterns = compilePathPatterns([pattern], { roots: ["/r"], home: "/home/u" });
    expect(patterns.mayMatchBelow(directory)).toBe(expected);
    expect(patterns.mayMatchBelow(`${directory}/`)).toBe(expected);
  });

  test.each([
    ["", /is empty/],
    ["!a", /starts with !/],
    ["a\0b", /NUL/],
    ["a[b", /\[ is never closed/],
    ["x/[b", /\[ is never closed/],
    ["a\\", /escapes nothing/],
    ["[[:ALPHA:]]", /unknown class/],
    ["[/]", /fits no character/],
    ["a//b", /empty name/],
    ["a/../b", /\.\./],
    ["..", /\.\./],
    ["/a/./b", /empty name, \. or \.\./],
    [" a", /begins with a blank/],
    ["\ta", /begins with a blank/],
    ["a\nb", /holds a line end/],
    ["a".repeat(5000), /longer than 4096 bytes/],
    ["?".repeat(4096).concat("x"), /longer than/],
  ])("%# is refused by name", (pattern, reason) => {
    const compile = () => compilePathPatterns(["ok", pattern], { roots: ["/r"] });
    expect(compile).toThrow(TypeError);
    expect(compile).toThrow(reason);
    expect(compile).toThrow(JSON.stringify(pattern.slice(0, 50)).slice(0, -1));
  });

  test("a name of characters without a shape is refused where these do not count", () => {
    for (const pattern of ["\u200b", "a/\u200b", "\u200b/a"]) {
      expect(() => compilePathPatterns([pattern], { roots: ["/r"], ignoreCase: true })).toThrow(
        "only invisible characters",
      );
    }
    expect(match("\u200b", "/r/\u200b")).toBe("\u200b");
  });

  test("a value that is not a pattern, a home or an absolute path is refused", () => {
    expect(() => compilePathPatterns([5 as unknown as string], { roots: ["/r"] })).toThrow(
      "must be a string, got a number",
    );
    expect(() => compilePathPatterns(["~/x"], { roots: ["/r"], home: "" })).toThrow("home directory is not known");
    expect(() => compilePathPatterns(["x"], { roots: ["/r"] }).match("x")).toThrow("must be absolute");
  });

  test.each([
    ["*a".repeat(1000), `/r/${"a".repeat(1500)}`],
    [`/${"*a".repeat(1000)}/x`, `/${"a".repeat(1500)}/a`],
    [`/${"**/a/".repeat(700)}x`, `/${"a/".repeat(2000)}`],
    [`${"[a-z]*".repeat(600)}/x`, `/r/${"a".repeat(1500)}`],
  ])("are decided quickly, however hostile: %#", (pattern, path) => {
    const patterns = compilePathPatterns([`${pattern}b`], { roots: ["/r"], ignoreCase: true });
    expect(patterns.match(path)).toBeUndefined();
    expect(typeof patterns.mayMatchBelow(path)).toBe("boolean");
  });

  describe("through links", () => {
    const root = sharedFolder("path-patterns");
    beforeAll(() => {
      mkdirSync(join(root, "real/keys"), { recursive: true });
      writeFileSync(join(root, "real/keys/a.pem"), "");
      symlinkSync("real", join(root, "link"));
      symlinkSync(root, join(root, "self"));
    });

    test("a root matches by its own path and by the path it links to", () => {
      const patterns = compilePathPatterns(["real/keys"], { roots: [join(root, "self")] });
      expect(patterns.match(join(root, "self/real/keys/a.pem"))).toBe("real/keys");
      expect(patterns.match(join(root, "real/keys/a.pem"))).toBe("real/keys");
    });

    test.each(["link/keys", "link/*/a.pem", "LINK"])(
      "%s is resolved through links when an option asks for it",
      (pattern) => {
        const target = join(root, "real/keys/a.pem");
        const given = pattern === "LINK" ? `${root}/link` : pattern;
        expect(compilePathPatterns([given], { roots: [root], followLinks: true }).match(target)).toBe(given);
        expect(compilePathPatterns([given], { roots: [root] }).match(target)).toBeUndefined();
      },
    );
  });
});

describe.skipIf(!hasGit)("path patterns compared with git", () => {
  const root = sharedFolder("path-patterns-git");
  beforeAll(() => {
    spawnSync("git", ["init", "-q", root]);
  });

  const plainPiece = fc.constantFrom(..."a b ab B * ** *** ? / / . [ab] [!a] [A-C] a*b t".split(" "));
  const oddPiece = fc.constantFrom(
    ...["\\*", "\\a", "\\ ", "\\", "!", "#", "\t", "{a,b}", "é", "-", "[", "]", "[^a]", "[b-a]", "[]a]", "[!]a]"],
    ...["[a-]", "[\\]a]", "[a-\\b]", "[/]", "[é]", "[[:alpha:]]", "[![:digit:]]", "[[:UPPER:]]", "[[:upper:]]"],
  );
  const piece = fc.oneof({ arbitrary: plainPiece, weight: 3 }, { arbitrary: oddPiece, weight: 1 });
  const pattern = fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));
  const name = fc.constantFrom(..."a b ab a.b .a aab AB B * é aé t [ \\ - {a,b}".split(" "), "a b");
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));

  /** A pattern, and each way to write some of its names exactly. */
  const withExactNames = (given: string): string[] => {
    const heads = given.split("/").map((one) => [one, one.replace(/[\\*?[]/g, "\\$&")]);
    return heads.reduce<string[]>(
      (lines, forms, at) => lines.flatMap((line) => forms.map((form) => (at === 0 ? form : `${line}/${form}`))),
      [""],
    );
  };

  const asked = fc.tuple(pattern, fc.uniqueArray(path, { minLength: 1, maxLength: 8 }));

  test.each([false, true])(
    "relative patterns match what `git check-ignore` ignores, and exact names; without case: %j",
    (ignoreCase) => {
      const isComparable = ([given]: readonly [string, readonly string[]]): boolean =>
        // Other in a .gitignore: comments, exceptions, the top directory, and blanks at the ends.
        !/^[#!/~\s]|\s$/.test(given) &&
        // git does not fold the letters of a set.
        !(ignoreCase && /\[[^\]]*[A-Z]/.test(given));
      const matched = (given: string, folder: string, paths: readonly string[]): string[] | undefined => {
        try {
          const patterns = compilePathPatterns([given], { roots: [join(root, folder)], ignoreCase });
          return paths.filter((one) => patterns.match(join(root, one), one === `${folder}/t`) !== undefined).sort();
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
          return undefined;
        }
      };
      // A folder for each pattern, so that one git is asked for many.
      const compare = (all: readonly (readonly [string, readonly string[]])[]): void => {
        const cases = all.map(([given, paths], index) => {
          const folders = { folder: `case${index}`, exact: `exact${index}` };
          for (const [folder, lines] of [
            [folders.folder, [given]] as const,
            [folders.exact, withExactNames(given)] as const,
          ]) {
            mkdirSync(join(root, folder, "t"), { recursive: true });
            writeFileSync(join(root, folder, ".gitignore"), lines.join("\n"));
          }
          const below = (folder: string): string[] => [`${folder}/t`, ...paths.map((one) => `${folder}/t/${one}`)];
          return { given, ...folders, paths: below(folders.folder), exactPaths: below(folders.exact) };
        });
        const input = cases.flatMap((one) => [...one.paths, ...one.exactPaths]).join("\0");
        // Without case a set leaves out no letter of the other case, where git with its case does not.
        const ignored = [...new Set([false, ignoreCase])].flatMap((withoutCase) => {
          const args = ["-c", `core.ignoreCase=${withoutCase}`, "check-ignore", "--no-index", "--stdin", "-z"];
          return spawnSync("git", args, { cwd: root, input, encoding: "utf8" }).stdout.split("\0").filter(Boolean);
        });
        const ignoredIn = (folder: string): string[] => ignored.filter((one) => one.startsWith(`${folder}/`));
        for (const { given, folder, exact, paths } of cases) {
          const ours = matched(given, folder, paths);
          const theirs = ignoredIn(folder);
          // What is refused matches nothing in git either, but for what a path pattern alone understands.
          if (ours === undefined) expect(theirs, given).toEqual([]);
          else if (!/^\.(\/|$)/.test(given)) {
            const exactly = ignoredIn(exact).map((one) => one.replace(exact, folder));
            expect(ours, given).toEqual([...new Set([...theirs, ...exactly])].sort());
          }
        }
      };
      fc.assert(fc.property(fc.array(asked.filter(isComparable), { minLength: 20, maxLength: 20 }), compare), {
        numRuns: 3,
      });
      compare(
        [["[!A]b", ["ab", "Ab", "bb"]] as const, ["***/[!a]", ["a"]] as const, ["t**/a", ["a", "b/a"]] as const].filter(
          isComparable,
        ),
      );
    },
  );
});
