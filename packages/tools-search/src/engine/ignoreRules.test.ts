import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "@toolcrib/testing";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { compileIgnoreRules } from "./ignoreRules.ts";

const hasGit = spawnSync("git", ["--version"]).status === 0;

function isIgnored(text: string, path: string): boolean {
  const rules = compileIgnoreRules(text);
  const parts = path.replace(/\/$/, "").split("/");
  // As a walk does it: what is in an ignored directory is never asked about.
  for (let i = 1; i <= parts.length; i += 1) {
    const isDirectory = i < parts.length || path.endsWith("/");
    const folder = parts.slice(0, i - 1).map((part) => `${part}/`);
    if (rules?.decide(parts[i - 1] as string, folder.join(""), isDirectory) === true) return true;
  }
  return false;
}

describe("the rules of a .gitignore", () => {
  test.each([
    ["# comment\n\n", "# comment", false],
    ["\\#a", "#a", true],
    ["a\n!a", "a", false],
    ["\\!a", "!a", true],
    ["a  ", "a", true],
    ["a\\ ", "a ", true],
    ["a\r\n", "a", true],
    ["\ufeffa", "a", true],
    ["d/", "d", false],
    ["d/", "d/", true],
    ["d/", "x/d/f", true],
    ["/a", "x/a", false],
    ["x/a", "y/x/a", false],
    ["**/x/a", "y/x/a", true],
    ["a/**", "a", false],
    ["a/**", "a/b/c", true],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["*.S", "a.s", false],
    ["*.log\n!keep.log", "keep.log", false],
    ["[a-c]x", "bx", true],
    ["[!a-c]x", "bx", false],
    ["[[:digit:]]", "7", true],
    ["a[", "a[", false],
    ["a\\", "a\\", false],
    ["a?c", "a/c", false],
    ["*", "any/thing", true],
  ])("%j decides about %j", (text, path, expected) => {
    expect(isIgnored(text, path)).toBe(expected);
  });

  test.each([
    ["*a".repeat(100), "a".repeat(255)],
    [`/${"*a".repeat(100)}/x`, `${"a".repeat(255)}/a`],
    [`/${"**/a/".repeat(500)}x`, "a/".repeat(2000)],
    [`/${"**/".repeat(100_000)}x`, "a/".repeat(2000)],
    ["a\n".repeat(100_000), "c"],
  ])("are decided quickly, however hostile: %#", (text, path) => {
    expect(compileIgnoreRules(`${text}b`)?.decide(path, "", true)).not.toBe(true);
  });

  describe.skipIf(!hasGit)("compared with git", () => {
    const root = sharedFolder("search-ignore");
    beforeAll(() => {
      spawnSync("git", ["init", "-q", root]);
    });

    const plainPiece = fc.constantFrom(
      "a",
      "b",
      "ab",
      "*",
      "**",
      "***",
      "?",
      "/",
      "/",
      ".",
      "[ab]",
      "[!a]",
      " ",
      "a*b",
      "t",
    );
    const oddPiece = fc.constantFrom(
      ...["\\*", "\\a", "\\ ", "\\/", "\\", "!", "#", "\t", "\r", "{a,b}", "é", "-", "[", "]"],
      ...[
        "[^a]",
        "[!b-a]",
        "[b-a]",
        "[]a]",
        "[!]a]",
        "[a-]",
        "[-a]",
        "[\\]a]",
        "[a-\\b]",
        "[/]",
        "[!/]",
        "[a/b]",
        "[é]",
      ],
      ...[
        "[[:alpha:]]",
        "[![:digit:]]",
        "[[:space:]]",
        "[[:foo:]]",
        "[[:ALPHA:]]",
        "[[:alpha]",
        "[[:alpha:]-z]",
        "[[:]",
      ],
    );
    const piece = fc.oneof({ arbitrary: plainPiece, weight: 3 }, { arbitrary: oddPiece, weight: 1 });
    const rule = fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));
    const name = fc.constantFrom(
      "a",
      "b",
      "ab",
      "a.b",
      ".a",
      "aab",
      "*",
      "a b",
      "é",
      "aé",
      "à",
      "t",
      "a ",
      "[",
      "\\",
      "-",
    );
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));

    test("random rules ignore what `git check-ignore` ignores", () => {
      fc.assert(
        fc.property(
          fc.array(rule, { maxLength: 5 }),
          fc.uniqueArray(path, { minLength: 1, maxLength: 8 }),
          (rules, paths) => {
            const text = rules.join("\n");
            writeFileSync(join(root, ".gitignore"), text);
            // Directories have to exist for git to take them for such.
            rmSync(join(root, "t"), { recursive: true, force: true });
            mkdirSync(join(root, "t"));
            const asked = paths.map((one) => `t/${one}`);
            const answer = spawnSync("git", ["check-ignore", "--no-index", "--stdin", "-z"], {
              cwd: root,
              input: asked.join("\0"),
              encoding: "utf8",
            });
            const expected = answer.stdout.split("\0").filter(Boolean).sort();
            expect(asked.filter((one) => isIgnored(text, one)).sort()).toEqual(expected);
          },
        ),
        {
          numRuns: 75,
          examples: [
            // Rules that were once read in another way than git's.
            [["***/[!a]"], ["a"]],
            [["**/***/a"], ["a", "b/a"]],
            [["t**/a"], ["a", "b/a"]],
            [["/t/a**/b"], ["ab", "ac/b", "a/b"]],
            [["**\\/a"], ["a", "b/a"]],
            [["[b-a]"], ["a", "b"]],
            [["[[:space:]]"], ["\v", "\u00a0", " "]],
            [["*[[:space:]]"], ["à"]],
            [["[[:ALPHA:]]"], ["a"]],
            [["[[:]"], ["[", ":"]],
          ],
        },
      );
    });
  });
});
