import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { describe, expect, test } from "vitest";
import { readPatternList, refuseChoices } from "./deniedPaths.ts";
import { createPathScope } from "./pathScope.ts";

describe("a list of patterns is read as its model reads it, and never more openly", () => {
  test.each([
    ["secrets/\r", ["secrets/", "secrets/\r"]],
    ["c.txt  ", ["c.txt", "c.txt  "]],
    ["*.pem\t \r\t", ["*.pem", "*.pem\t \r\t"]],
    ["a\\ ", ["a\\ "]],
    ["a\\  \r", ["a\\ ", "a\\  \r"]],
    ["a\\\\ ", ["a\\\\", "a\\\\ "]],
    ["a\\\t", ["a\\\t"]],
    ["a\n", ["a"]],
    ["a\r\n", ["a"]],
    ["#name", ["#name"]],
    ["a b", ["a b"]],
  ])("%j is read as %j", (entry, patterns) => {
    expect(readPatternList("deny", [entry])).toEqual(patterns);
  });

  test("entries without a pattern are none, unless no other is left", () => {
    expect(readPatternList("deny", ["", "a", "\r", " \t", "a"])).toEqual(["a"]);
    expect(readPatternList("deny", [])).toEqual([]);
    for (const list of [[""], ["\r", ""], [" "], ["\t\n"]])
      expect(() => readPatternList("deny", list)).toThrow("deny has entries, but none of them is a pattern");
  });

  test.each([
    ["secrets/\r", "secrets/key"],
    ["c.txt  ", "c.txt"],
    ["c.txt  ", "c.txt  "],
    ["c.txt\t\r ", "sub/C.TXT"],
    ["./sub/x \r", "sub/x"],
    ["#name", "#name"],
    ["a\\ ", "a "],
    ["a\\ \r", "a "],
  ])("deny: [%j] denies %j", async (entry, path) => {
    const root = temporaryFolder("pattern-list");
    await expect(createPathScope({ root, cwd: root, deny: ["", entry] }).resolve(path)).rejects.toThrow("denied paths");
  });

  test.each([
    ["a\\ ", "a"],
    ["a\\ \r", "a"],
    ["secrets/\r", "secrets2"],
  ])("deny: [%j] does not deny %j", async (entry, path) => {
    const root = temporaryFolder("pattern-list");
    expect(await createPathScope({ root, cwd: root, deny: [entry] }).resolve(path)).toBe(join(root, path));
  });

  test.each([
    [[" .env"], "begins with a blank"],
    [["ok", "  secrets/"], "begins with a blank"],
    [["secrets\\\r"], "ends in a \\ that escapes nothing"],
    [["", "\r"], "none of them is a pattern"],
    [["*.{pem,key}"], "write *.pem, *.key as entries of their own"],
    [["./{a,b}/"], "write ./a/, ./b/ as entries"],
    [["x/{a,{b,c}}.ts\r"], "write x/a.ts, x/b.ts, x/c.ts as entries"],
    [["log.{1..3}"], "write log.1, log.2, log.3 as entries"],
    [["{a..c}"], "write a, b, c as entries"],
    [["a{,.bak}"], "write a, a.bak as entries"],
    [["{a,b}{a,b}{a,b}{a,b}"], "and so on as entries"],
  ])("deny: %j is refused in words", (deny, message) => {
    const root = temporaryFolder("pattern-list");
    expect(() => createPathScope({ root, deny })).toThrow(TypeError);
    expect(() => createPathScope({ root, deny })).toThrow(message);
  });

  test.each(["{a,b}", "sub/{a,b}", "*/{a,b}.ts", "{b,a}", "\\{c,d}", "{c\\,d}", "{id}.yaml", "[{,}]", "{c,d", "c,d}"])(
    "%j is a name that something has, or no choice",
    async (pattern) => {
      const root = temporaryFolder("pattern-list");
      mkdirSync(join(root, "sub/deep"), { recursive: true });
      for (const name of ["{a,b}", "sub/{a,b}", "sub/{a,b}.ts", "sub/deep/{b,a}"]) writeFileSync(join(root, name), "");
      expect(() => refuseChoices([pattern], { roots: [root] })).not.toThrow();
      const scope = createPathScope({ root, cwd: root, deny: [pattern] });
      if (pattern === "{a,b}") await expect(scope.resolve("sub/{a,b}")).rejects.toThrow("denied paths");
    },
  );
});
