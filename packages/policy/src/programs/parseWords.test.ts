import { expect, test } from "vitest";
import { parseWords } from "./parseWords.ts";

const list = "-a -b --all -n= --lines= -f=@ --file=@ -c=? --color=? -# --two=, --both=,@ --kind=x|y --only=!";
const parse = (line: string, stop = false, style?: "letters" | "words") =>
  parseWords(line.split(" "), 1, list, { stop, style });
const nothing = { unknown: [], operands: [], names: [], values: [], paths: [] };

test.each([
  ["x", { next: 1 }],
  ["x -ab --all", { names: ["-a", "-b", "--all"], next: 3 }],
  ["x -n 5 -n5 -an 5", { names: ["-n", "-n", "-a", "-n"], values: ["5", "5", "5"], next: 6 }],
  ["x --lines 5 --lines=5 --lines=", { names: ["--lines", "--lines", "--lines"], values: ["5", "5", ""], next: 5 }],
  [
    "x -f a -fb --file c --file=d",
    { names: ["-f", "-f", "--file", "--file"], values: ["a", "b", "c", "d"], paths: ["a", "b", "c", "d"], next: 7 },
  ],
  ["x -c a -cb --color --color=c d", { names: ["-c", "-c", "--color", "--color"], operands: ["a", "d"], next: 7 }],
  ["x -20 - a -b", { operands: ["-", "a"], names: ["-b"], next: 5 }],
  ["x -a -- -b --", { names: ["-a"], operands: ["-b", "--"], next: 3 }],
  ["x --two a b c", { names: ["--two"], values: ["a", "b"], operands: ["c"], next: 5 }],
  ["x --two=a b c", { names: ["--two"], values: ["a", "b"], operands: ["c"], next: 4 }],
  ["x --both a b", { names: ["--both"], values: ["a", "b"], paths: ["b"], next: 4 }],
  ["x --kind x --kind=y z", { names: ["--kind", "--kind"], values: ["x", "y"], operands: ["z"], next: 5 }],
  ["x --only -a --only", { names: ["--only", "-a", "--only"], next: 4 }],
])("the options of %j are read", (line, found) => {
  expect(parse(line)).toMatchObject({ ...nothing, ...found });
});

test.each<[string, number]>([
  ["x -z", 1],
  ["x -az", 1],
  ["x a -z", 2],
  ["x --al", 1],
  ["x --all=1", 1],
  ["x -n", 1],
  ["x --lines", 1],
  ["x -a --file", 2],
  ["x -f", 1],
  ["x -2a", 1],
  ["x ---all", 1],
  ["x -all", 1],
  ["x --two a", 1],
  ["x --kind z", 1],
  ["x --kind=z", 1],
  ["x --kind", 1],
  ["x --only a", 1],
  ["x --only=a", 1],
  ["x --a", 1],
])("%j has an option that is not understood", (line, at) => {
  expect(parse(line).unknown[0]).toBe(at);
});

test("a choice of values may hold commas", () => {
  const options = "--proto==https|=http,https";
  expect(parseWords(["x", "--proto", "=http,https", "--proto==https"], 1, options).unknown).toEqual([]);
  expect(parseWords(["x", "--proto", "=https,file"], 1, options).unknown).toEqual([1]);
});

test("parsing goes on after an option that is not understood", () => {
  expect(parse("x -z -a --oops b")).toMatchObject({
    ...nothing,
    unknown: [1, 3],
    names: ["-a"],
    operands: ["b"],
    next: 5,
  });
});

test("what follows the first operand may belong to another program", () => {
  expect(parse("x -a -n 5 ls -z", true)).toMatchObject({ ...nothing, names: ["-a", "-n"], values: ["5"], next: 4 });
  expect(parse("x -a -- -b", true)).toMatchObject({ ...nothing, names: ["-a"], next: 3 });
  expect(parse("x -", true)).toMatchObject({ ...nothing, next: 1 });
});

test("the value of a letter is the next word alone where the program reads letters one by one", () => {
  expect(parse("x -abn 5 -- -z", false, "letters")).toMatchObject({
    ...nothing,
    names: ["-a", "-b", "-n"],
    values: ["5"],
    operands: ["-z"],
    next: 4,
  });
  for (const line of ["x -n5", "x -na 5", "x -cb"]) expect(parse(line, false, "letters").unknown).toEqual([1]);
});

test("each option is a word of its own where the program joins none", () => {
  const read = (line: string) => parseWords(line.split(" "), 1, "-name= -type=f|d -print ! ( ) -#", { style: "words" });
  expect(read("x . ! -name -print ( -type f )")).toMatchObject({
    ...nothing,
    names: ["!", "-name", "(", "-type", ")"],
    values: ["-print", "f"],
    operands: ["."],
    next: 9,
  });
  expect(read("x -5 -name=a")).toMatchObject({ ...nothing, names: ["-name"], values: ["a"], next: 3 });
  for (const line of ["x -p", "x --", "x -printx", "x -print=1", "x -type x", "x --name a"])
    expect(read(line).unknown).toEqual([1]);
  expect(parseWords(["x", "--", "-z"], 1, "--", { style: "words" })).toMatchObject({ names: ["--"], unknown: [2] });
});

test("a value or an operand that looks like an option is doubtful", () => {
  expect(parse("x -n --all").doubtful).toEqual([1, 2]);
  expect(parse("x --two a -b").doubtful).toEqual([1, 3]);
  expect(parse("x -n-5 --lines=-5 -n 5").doubtful).toEqual([]);
  expect(parse("x -- -a b").doubtful).toEqual([2]);
  expect(parse("x -n --all").values).toEqual(["--all"]);
});

test("options with which the program does more than read are told apart", () => {
  const read = (line: string) => parseWords(line.split(" "), 1, list, { reads: "-a -n=" });
  expect(read("x -a -n 5 b").changing).toEqual([]);
  expect(read("x -a -ab b --all").changing).toEqual([2, 4]);
});

test("a number is an option only if the list has it", () => {
  expect(parseWords(["x", "-5"], 1, "-a").unknown).toEqual([1]);
  expect(parseWords(["x", "-"], 1, "").unknown).toEqual([]);
});
