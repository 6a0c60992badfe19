import { expect, test } from "vitest";
import { readShellLine } from "./readCommand.ts";

const read = (line: string) => {
  const { unreadable, commands } = readShellLine(line);
  expect([line, unreadable]).toEqual([line, undefined]);
  // What the record of its program says is tested there.
  return commands.map(({ reads: _reads, data: _data, ofRepository: _of, ...syntax }) => syntax);
};
const assignment = (name: string, value: string, literal: boolean, exported: boolean) => ({
  name,
  value,
  literal,
  exported,
});
const plain = (...words: string[]) => ({ words, assignments: [], text: words.join(" ") });

test("a command is told with its words, and nothing that it does not have", () => {
  expect(read("ls -l 'a b' && pwd")).toEqual([{ ...plain("ls", "-l", "a b"), text: "ls -l 'a b'" }, plain("pwd")]);
  expect(read("> a < b")).toEqual([]);
});

test("assignments tell whether programs get them and whether their value is written out", () => {
  expect(read('A=1 B="$x" > c ls')).toEqual([
    {
      words: ["ls"],
      assignments: [assignment("A", "1", true, true), assignment("B", '"$x"', false, true)],
      text: 'A=1 B="$x" > c ls',
      variables: ["x"],
    },
  ]);
  expect(read("A='a b' _b2=*")).toEqual([
    {
      words: [],
      assignments: [assignment("A", "a b", true, false), assignment("_b2", "*", true, false)],
      text: "A='a b' _b2=*",
    },
  ]);
  expect(read("A=$x")).toEqual([
    { words: [], assignments: [assignment("A", "$x", false, false)], text: "A=$x", variables: ["x"] },
  ]);
});

test("builtins that assign tell what and whether programs get it", () => {
  const assignments = (line: string) => read(line)[0]?.assignments;
  expect(assignments("export A=1 B='x y'")).toEqual([
    assignment("A", "1", true, true),
    assignment("B", "x y", true, true),
  ]);
  expect(assignments('export A="$x" B')).toEqual([
    assignment("A", '"$x"', false, true),
    assignment("B", "", false, true),
  ]);
  expect(assignments("readonly A=1")).toEqual([assignment("A", "1", true, false)]);
  expect(assignments("unset A")).toEqual([assignment("A", "", false, true)]);
  expect(assignments("read -r a b")).toEqual([assignment("a", "", false, false), assignment("b", "", false, false)]);
  expect(assignments("A=1 export B=2")).toEqual([assignment("A", "1", true, true), assignment("B", "2", true, true)]);
  expect(assignments("env A=1 B= ls")).toEqual([]);
  expect(read("env A=1 B= ls")[1]).toEqual({
    ...plain("ls"),
    assignments: [assignment("A", "1", true, true), assignment("B", "", true, true)],
  });
});

test("a wrapper is told with all its words, and what it starts with its own", () => {
  expect(read("timeout 5 nice ls -l src/*")).toEqual([
    { ...plain("timeout", "5", "nice", "ls", "-l", "src/*"), patterns: [5] },
    { ...plain("nice", "ls", "-l", "src/*"), patterns: [3] },
    { ...plain("ls", "-l", "src/*"), patterns: [2] },
  ]);
  expect(read('timeout 5 echo "$x"')).toEqual([
    {
      words: ["timeout", "5", "echo", '"$x"'],
      assignments: [],
      text: 'timeout 5 echo "$x"',

      variables: ["x"],
    },
    { words: ["echo", '"$x"'], assignments: [], text: 'echo "$x"', variables: ["x"] },
  ]);
  expect(read("find . -exec echo a/* \\; -name b")).toEqual([
    {
      ...plain("find", ".", "-exec", "echo", "a/*", ";", "-name", "b"),
      text: "find . -exec echo a/* \\; -name b",

      patterns: [4],
    },
    { ...plain("echo", "a/*"), moreWords: true, patterns: [1] },
  ]);
  expect(read("find . -exec ls {} + -name b -delete")).toMatchObject([
    { uncovered: { at: 8 } },
    { words: ["ls", "{}"] },
  ]);
  expect(read("find . -exec ls -delete {} +")[0]).not.toHaveProperty("uncovered");
  expect(read("xargs rg foo")[1]).toEqual({
    ...plain("rg", "foo"),
    uncovered: { why: "It gets further words from its input, which may be options that run a program.", at: 2 },
    moreWords: true,
  });
  expect(read("timeout -x 5 ls")).toEqual([
    { ...plain("timeout", "-x", "5", "ls"), uncovered: { why: "timeout runs another program.", at: 3 } },
  ]);
  expect(read("find . -exec ls a")).toEqual([
    { ...plain("find", ".", "-exec", "ls", "a"), uncovered: { why: "find runs another program.", at: 4 } },
  ]);
});

test.each<[string, string]>([
  ['timeout "$x" ls', "A word of timeout is not written out, so it may be an option or any path."],
  ['timeout 5 cat "$x"', "A word of cat is not written out, so it may be an option or any path."],
  ['timeout 5 "$x"', "The name of a program in it is not written out."],
  ["timeout 5 echo $x", "An expansion in it is outside quotes, so it may become several words."],
  ['find "$x" -exec ls {} +', "A word of find is not written out, so it may be an option or any path."],
  ['find . -exec echo {} + -name "$x"', "A word of find is not written out, so it may be an option or any path."],
  ['eval ls "$x"', "A word of eval is not written out, so it may be an option or any path."],
  ["eval src/*", "A script in it is not written out."],
  ["sh -c src/*", "A script in it is not written out."],
  ["x+=1", "An assignment in it could not be read."],
  ["export A=$x", "An expansion in it is outside quotes, so it may become several words."],
  ["[[]a] x", "The name of a program in it is not written out."],
  ["agrep foo *.ts", "A file pattern of agrep may become an option; it could not with ./ before it."],
  ["grepx foo *.ts", "A file pattern of grepx may become an option; it could not with ./ before it."],
  ["grep foo *.t-", "A file pattern of grep may become an option; it could not with ./ before it."],
  ["grep foo -*.ts", "A file pattern of grep may become an option; it could not with ./ before it."],
  ["test -n *", "A file pattern of test may become an option; it could not with ./ before it."],
  ["rg foo *--a=b", "A file pattern of rg may become an option; it could not with ./ before it."],
])("%j is asked: %s", (line, why) => {
  expect(readShellLine(line).unreadable).toBe(why);
});

test("file patterns are told where they cannot become an option", () => {
  for (const line of [
    "rg foo src/*",
    "grep foo *.ts",
    "egrep foo *.ts",
    "rg --glob=* foo",
    "cat *",
    "echo *",
    "[ -f src/* ]",
  ]) {
    expect([line, read(line)[0]?.patterns?.length]).toEqual([line, 1]);
  }
});
