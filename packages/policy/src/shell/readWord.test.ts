// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are expansions of the shell.
import { parse, type Word, type WordPart } from "unbash";
import { expect, test } from "vitest";
import { rowsOf } from "../../../../testing/shell/corpora.ts";
import { readDocument, readWord, type WordContext } from "./readWord.ts";

function context(line: string, isBash = false): WordContext & { problems: string[] } {
  const problems: string[] = [];
  return {
    line,
    isBash,
    problems,
    fail: (reason) => problems.push(reason),
    readSubstitution: ({ text }) => problems.push(`substitution ${text}`),
    readOther: ({ type }, reason) => problems.push(`${type}: ${reason}`),
  };
}

const wordOf = (line: string): Word => {
  const command = parse(line).commands[0]?.command;
  const word = command?.type === "Command" ? command.suffix[0] : undefined;
  if (word?.type !== "Word") throw new Error("no word");
  return word;
};

const read = (text: string, isBash = false) => {
  const reader = context(`x ${text}`, isBash);
  const { value, kind, splits, variables } = readWord(wordOf(reader.line), reader);
  const marks = [kind, ...(splits ? ["splits"] : []), ...variables.map((name) => `$${name}`), ...reader.problems];
  return [value, ...marks];
};

const unread = "An expansion in it could not be read.";
const computed = "It computes with more than numbers.";
const assigning = "It has an expansion that assigns, computes or works only in bash.";

test.each(rowsOf<[string, string[]]>("readWord", "words"))("the word %j is %j", (text, found) => {
  expect(read(text)).toEqual(found);
});

test.each<[string, string]>([
  ["${x:-'a'}", unread],
  ['${x:-"a"}', unread],
  ["${x:-\\a}", unread],
  ["${x:-~}", unread],
  ["${x:-*}", unread],
  ["${x:-{a,b}}", unread],
  ["${x:-<(ls)}", unread],
  ["${x#[a]}", unread],
  ["${x#'a'}", unread],
  ["${x%a b}", unread],
  ["${x#~}", unread],
  ["${!x}", unread],
  ["${x[0]}", unread],
  ["${#x[0]}", unread],
  ["${x:=a}", assigning],
  ["${x=a}", assigning],
  ["${x:1}", assigning],
  ["${x:1:2}", assigning],
  ["${x/a/b}", assigning],
  ["${x//a}", assigning],
  ["${x^}", assigning],
  ["${x,,}", assigning],
  ["${x@P}", assigning],
  ["$((x))", computed],
  ["$((1+x))", computed],
  ["$((a[1]))", computed],
  ["$(($x))", computed],
  ["$((1<<2))", computed],
  ["$[1]", computed],
])("the expansion %j is not read: %s", (text, problem) => {
  for (const written of [text, `"${text}"`]) expect(read(written)).toContain(problem);
});

test("parts that only bash knows are reported", () => {
  expect(read("$'a\\n'")).toEqual(["a\n", "literal", "It has $'…', which sh and bash read differently."]);
  expect(read("$'a\\n'", true)).toEqual(["a\n", "literal"]);
  expect(read("$'\\x{2d}'", true)).toEqual([
    expect.any(String),
    "literal",
    "It has an escape in $'…' that is not read.",
  ]);
  expect(read('$"a"')).toEqual(['$"a"', "expanded", "splits", `LocaleString: ${unread}`]);
  expect(read("{a,b}")).toContain("BraceExpansion: It has a list in braces, which sh and bash read differently.");
  expect(read("<(ls)")).toContain("ProcessSubstitution: It has a process substitution.");
  expect(read("@(a|b)")).toContain(`ExtendedGlob: ${unread}`);
});

/** A word of the line `x a'b'"c"$d`, changed as a parser must never do. */
const forged = (change: Partial<Word>, parts?: (parts: WordPart[]) => WordPart[]) => {
  const reader = context(`x a'b'"c$e"$d`);
  const word = wordOf(reader.line);
  const { text, value, pos, end } = word;
  const own = [...(word.parts ?? [])];
  readWord({ type: "Word", text, value, pos, end, parts: parts === undefined ? own : parts(own), ...change }, reader);
  return reader.problems;
};

test("a word is refused whose parts are not the text of the line", () => {
  const word = "A word in it could not be read.";
  const quote = "A quote in it could not be read.";
  expect(forged({})).toEqual([]);
  expect(forged({ text: "other" })).toEqual([word]);
  expect(forged({}, ([, ...rest]) => rest)).toEqual([word]);
  expect(forged({}, (parts) => parts.slice(0, -1))).toEqual([word]);
  expect(forged({}, ([a, , ...rest]) => (a ? [a, ...rest] : []))).toEqual([word]);
  const changed = (type: string, change: object) =>
    forged({}, (parts) => parts.map((part) => (part.type === type ? ({ ...part, ...change } as WordPart) : part)));
  expect(changed("SingleQuoted", { text: "'x'" })).toEqual([quote]);
  expect(changed("DoubleQuoted", { parts: [] })).toEqual([quote]);
  expect(changed("DoubleQuoted", { text: "'c$e\"" })).toEqual([quote]);
  expect(changed("DoubleQuoted", { text: "\"c$e'" })).toEqual([quote]);
  expect(changed("SimpleExpansion", { text: "$z" })).toEqual([unread]);
  expect(changed("SimpleExpansion", { type: "ParameterExpansion", parameter: "d" })).toEqual([unread]);
  const reader = context("x 'a'b'");
  const part: WordPart = { type: "SingleQuoted", pos: 2, end: 7, text: "'a'b'", value: "a'b" };
  readWord({ type: "Word", text: "'a'b'", value: "a'b", pos: 2, end: 7, parts: [part] }, reader);
  expect(reader.problems).toEqual([quote]);
});

test("a here-document is refused whose parts are not its text", () => {
  const line = "a $x b";
  const parts: WordPart[] = [
    { type: "Literal", pos: 0, end: 2, text: "a ", value: "a " },
    { type: "SimpleExpansion", pos: 2, end: 4, text: "$x" },
    { type: "Literal", pos: 4, end: 6, text: " b", value: " b" },
  ];
  const check = (some: readonly WordPart[] | undefined) => {
    const reader = context(line);
    const variables = readDocument({ type: "HereDocBody", pos: 0, end: 6, text: line, parts: some }, reader);
    return [...variables, ...reader.problems];
  };
  const problem = "A here-document in it could not be read.";
  expect(check(parts)).toEqual(["x"]);
  expect(check(undefined)).toEqual([unread]);
  expect(check(parts.slice(1))).toEqual(["x", problem]);
  expect(check(parts.slice(0, 2))).toEqual(["x", problem]);
  expect(check(parts.toSpliced(1, 1))).toEqual([problem]);
});
