import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "@toolcrib/testing/temporaryFolder";
import { beforeAll, describe, expect, test } from "vitest";
import { hasPattern } from "./folders.ts";
import { Looks } from "./looks.ts";

const folder = sharedFolder("policy");

beforeAll(() => {
  for (const name of ["a", "b", ".h"]) mkdirSync(join(folder, name));
  for (const name of ["x.ts", "é.ts", "[y].ts", "w\\v", ".env", "a/x.ts", "a/.env", "b/x.js", ".h/x.ts"])
    writeFileSync(join(folder, name), "");
});

describe("a file pattern stands for", () => {
  test.each([
    ["*.ts", ["*.ts", "[y].ts", "x.ts", "é.ts"]],
    ["?.ts", ["?.ts", "[y].ts", "x.ts", "é.ts"]],
    ["[x].ts", ["[x].ts", "[y].ts", "x.ts", "é.ts"]],
    ["[x.ts", ["[x.ts"]],
    ["x.[a-", ["x.[a-", "x.ts"]],
    ["*/x.*", ["*/x.*", "a/x.ts", "b/x.js"]],
    ["./*/x.ts", ["./*/x.ts", "./a/x.ts"].concat("./b/x.ts")],
    ["*/x.ts", ["*/x.ts", "a/x.ts", "b/x.ts", "w\\v/x.ts", "x.ts/x.ts", "[y].ts/x.ts", "é.ts/x.ts"]],
    [".e*", [".e*", ".env"]],
    ["*/.e*", ["*/.e*", "a/.env"]],
    [".*/x.ts", [".*/x.ts", "../x.ts", "./x.ts", ".env/x.ts", ".h/x.ts"]],
    [".?", [".?", ".", "..", ".env", ".h"]],
    [".[.]/x", [".[.]/x", "./x", "../x", ".env/x", ".h/x"]],
    [".[[:lower:]]nv", [".[[:lower:]]nv", ".env"]],
    [".[]e]nv", [".[]e]nv", ".env"]],
    [".[!]x]nv", [".[!]x]nv", ".env"]],
    ["[[:alpha:]-]?ts", ["[[:alpha:]-]?ts", "[y].ts", "x.ts", "é.ts"]],
    ["w*v", ["w*v", "w\\v"]],
    ["zz*", ["zz*"]],
    ["missing/*", ["missing/*"]],
    ["x.ts/*", ["x.ts/*"]],
  ])("%s", (word, expected) => {
    expect([...new Looks().expand(folder, word)].sort()).toEqual([...expectedFor(word, expected)].sort());
  });

  test("absolute paths if the pattern is absolute", () => {
    expect(new Looks().expand("/", `${folder}/.e*`)).toEqual([`${folder}/.e*`, `${folder}/.env`]);
    expect(new Looks().expand(folder, "/*")).toContain("/tmp");
  });
});

/** A name after the pattern is not looked for: it is opened only where it is there. */
function expectedFor(word: string, expected: readonly string[]): readonly string[] {
  if (word !== "./*/x.ts") return expected;
  return [word, ...["a", "b", "w\\v", "x.ts", "[y].ts", "é.ts"].map((name) => `./${name}/x.ts`)];
}

test("a pattern is recognised by its characters", () => {
  for (const word of ["*", "a?", "[a]"]) expect(hasPattern(word)).toBe(true);
  for (const word of ["", "a.ts", "a]", "{a,b}"]) expect(hasPattern(word)).toBe(false);
});

test("each name that is read counts against the budget, and nothing is read once it is used up", () => {
  const looks = new Looks();
  expect(looks.take(4989)).toBe(true);
  expect(looks.expand(folder, "a/*")).toEqual(["a/*", "a/x.ts"]);
  expect(looks.expand(folder, "*")).toEqual(["*"]);
  expect(looks.take(0)).toBe(false);
});
