import { expect, test } from "vitest";
import { entryOf, readOptions } from "./options.ts";

const list = "-a -b --all -n= --lines= -f=@ --file=@ -c=? --color=? -#";
const read = (line: string, stopAtOperand = false) => {
  const words = line.split(" ");
  const { unknown, operands, names, values, paths, next } = readOptions(words, 1, list, { stopAtOperand });
  return { unknown, operands: operands.map((at) => words[at]), names, values, paths, next };
};
const nothing = { unknown: undefined, operands: [], names: [], values: [], paths: [] };

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
  ["x -a -- -b --", { names: ["-a"], operands: ["-b", "--"], next: 5 }],
])("the options of %j are read", (line, found) => {
  expect(read(line)).toEqual({ ...nothing, ...found });
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
])("%j has an option that is not understood", (line, at) => {
  expect(read(line).unknown).toBe(at);
});

test("what follows the first operand may belong to another program", () => {
  expect(read("x -a -n 5 ls -z", true)).toEqual({ ...nothing, names: ["-a", "-n"], values: ["5"], next: 4 });
  expect(read("x -a -- -b", true)).toEqual({ ...nothing, names: ["-a"], next: 3 });
  expect(read("x -", true)).toEqual({ ...nothing, next: 1 });
});

test("a number is an option only if the list has it", () => {
  expect(readOptions(["x", "-5"], 1, "-a").unknown).toBe(1);
  expect(readOptions(["x", "-"], 1, "").unknown).toBeUndefined();
});

test("names that every object has are not in a table", () => {
  expect(entryOf({ a: 1 }, "a")).toBe(1);
  expect(entryOf({ a: 1 }, "constructor")).toBeUndefined();
  expect(entryOf({ a: 1 }, "__proto__")).toBeUndefined();
});
