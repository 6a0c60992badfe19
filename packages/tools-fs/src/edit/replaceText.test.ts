import { expect, test } from "vitest";
import { type Edit, replaceText } from "./replaceText.ts";

const replace = (text: string, old_text: string, new_text: string, replace_all?: boolean): string =>
  replaceText(text, [{ old_text, new_text, replace_all }]);

test("exactly one match is replaced, and nothing else changes", () => {
  expect(replace("one two three", "two", "2")).toBe("one 2 three");
  expect(replace("a  b\t\n c ", "b\t", "B")).toBe("a  B\n c ");
  expect(replace("x", "x", "")).toBe("");
});

test("replacement patterns ($&) in the new text are plain text", () => {
  expect(replace("a b c", "b", "$& $1 $` $' $$")).toBe("a $& $1 $` $' $$ c");
});

test.each([
  ["no match", "abc", "x", /0 matches/],
  ["several matches", "abab", "ab", /2 matches.*replace_all=true/],
  ["matches that overlap", "aaa", "aa", /2 matches/],
  ["empty text", "abc", "", /must not be empty/],
])("%s is refused with the number of matches", (_, text, old_text, message) => {
  expect(() => replace(text, old_text, "new")).toThrow(message);
});

test("text that differs in case, spaces or indentation does not match", () => {
  expect(() => replace("  if (a) {", "if (A) {", "x")).toThrow(/0 matches/);
  expect(() => replace("a  b", "a b", "x")).toThrow(/0 matches/);
});

test("replace_all takes every match that does not overlap another, from the left", () => {
  expect(replace("aaaaa", "aa", "b", true)).toBe("bba");
  expect(replace("a.b.c", ".", "..", true)).toBe("a..b..c");
});

test("edits apply in order, each to the result of the one before; all or none", () => {
  const edits: Edit[] = [
    { old_text: "a", new_text: "b c" },
    { old_text: "c", new_text: "d" },
  ];
  expect(replaceText("a", edits)).toBe("b d");
  expect(() => replaceText("a", [...edits, { old_text: "gone", new_text: "" }])).toThrow(/edits\[2\]\.old_text/);
});

test("edits that change nothing are an error", () => {
  expect(() => replace("abc", "b", "b")).toThrow(/change nothing/);
});

test("line endings of the text match those of the edit, and are kept", () => {
  expect(replace("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n")).toBe("x\r\ny\r\nz\r\nc\r\n");
  expect(replace("a\nb\nc\n", "a\r\nb", "x\r\ny")).toBe("x\ny\nc\n");
  expect(replace("a\r\nb", "b", "x\ny")).toBe("a\r\nx\r\ny");
  expect(replace("\r\na\r\nb", "\na", "\nc")).toBe("\r\nc\r\nb");
});

test("in a text with both line endings only the edited lines change", () => {
  const mixed = "a\r\nb\nc\r\nd\n";
  expect(replace(mixed, "b\nc", "B\nC")).toBe("a\r\nB\nC\r\nd\n");
  expect(replace(mixed, "a\nb", "A\nB")).toBe("A\r\nB\nc\r\nd\n");
  expect(() => replace("a\r\nb\n a\nb\n", "a\nb", "x")).toThrow(/2 matches/);
});

test("in a text without line breaks those of the new text are kept", () => {
  expect(replace("ab", "b", "\r\nc")).toBe("a\r\nc");
});
