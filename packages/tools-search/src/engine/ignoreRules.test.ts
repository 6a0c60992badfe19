import { describe, expect, test } from "vitest";
import { isIgnored } from "../../../../testing/suites/search/comparePeers.ts";
import { compileIgnoreRules } from "./ignoreRules.ts";

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
    ["*a".repeat(100_000), "a".repeat(255)],
    [`[${"ab-c[:alpha:]".repeat(80_000)}]x`, "ax"],
    [`[${"[:".repeat(500_000)}`, "a"],
    [`/${"*a".repeat(100)}/x`, `${"a".repeat(255)}/a`],
    [`/${"**/a/".repeat(500)}x`, "a/".repeat(2000)],
    [`/${"**/".repeat(100_000)}x`, "a/".repeat(2000)],
    ["a\n".repeat(100_000), "c"],
  ])("are decided quickly, however hostile: %#", (text, path) => {
    expect(compileIgnoreRules(`${text}b`)?.decide(path, "", true)).not.toBe(true);
  });
});
