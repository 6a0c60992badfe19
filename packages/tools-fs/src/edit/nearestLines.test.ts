import { expect, test } from "vitest";
import { describeDifference, describeNearest } from "./nearestLines.ts";

const nearest = (text: string, wanted: string) => describeNearest(text, wanted, () => undefined);

test.each([
  ["  if (a) {", "\tif (a) {", "at column 1 old_text has 2 spaces, the file has 1 tab"],
  ["a  b", "a b", "at column 2 old_text has 2 spaces, the file has 1 space"],
  ["a b", "ab", "at column 2 old_text has 1 space, the file has no white space"],
  ["a", "a \t ", "at column 2 old_text has no white space, the file has 1 space and 1 tab and 1 space"],
  ["a b", "a\u00a0\u00a0b", "at column 2 old_text has 1 space, the file has 2 no-break spaces (U+00A0)"],
  ["let a = 1;", "let b = 1;", 'at column 5 old_text has "a", the file has "b"'],
  ["say(“hi”)", 'say("hi")', 'at column 5 old_text has "“hi”", the file has "\\"hi\\""'],
  ["ab", "a\u200bb", 'at column 2 old_text has nothing, the file has "<U+200B>"'],
  ["ab", "abc", 'at column 3 old_text has nothing, the file has "c"'],
  ["x", "", 'at column 1 old_text has "x", the file has nothing'],
  ["caf\u00e9 x", "cafe\u0301 x", 'at column 4 old_text has "\u00e9" (U+00E9), the file has "e\u0301" (U+0065 U+0301)'],
  ["e\u0301e\u0301 x", "\u00e9\u00e9 y", 'at column 1 old_text has "e\u0301e\u0301 x", the file has "\u00e9\u00e9 y"'],
  [
    "e\u0301e\u0301x",
    "\u00e9\u00e9x",
    'at column 1 old_text has "e\u0301" (U+0065 U+0301), the file has "\u00e9" (U+00E9)',
  ],
  ["a = 1", "\u0430 = 1", 'at column 1 old_text has "a", the file has "\u0430" (U+0430)'],
  ["cafe", "cafe\u0301", 'at column 5 old_text has nothing, the file has "\u0301" (U+0301)'],
  ["😀!", "😁!", 'at column 1 old_text has "😀", the file has "😁"'],
  ["a🀀", "a𐐀", 'at column 2 old_text has "🀀", the file has "𐐀" (U+10400)'],
])("%j and %j differ in words", (wanted, found, words) => {
  expect(describeDifference(wanted, found)).toBe(words);
});

test("the same lines do not differ", () => {
  expect(describeDifference("a", "a")).toBeUndefined();
});

const file = "function a() {\n\treturn 1;\n}\n\nfunction b() {\n\treturn 2;\n}\n";

test("lines that differ in white space are found, numbered, and the difference shown", async () => {
  expect(await nearest(file, "function b() {\n  return 2;\n}")).toBe(
    "Nearest are lines 5 to 7:\n5: function b() {\n6: \treturn 2;\n7: }\nLine 6 differs: at column 1 old_text has 2 spaces, the file has 1 tab",
  );
});

test("a line that is only similar is found too", async () => {
  expect(await nearest(file, "function c() {")).toContain(
    "Nearest is line 1:\n1: function a() {\nLine 1 differs: at column 10",
  );
  expect(await nearest("alpha\nconst answer = 42;\n", "const answers = 42")).toContain("2: const answer = 42;");
});

test("of several places the one with the most equal lines is chosen", async () => {
  const text = "x\nsame\ny\nsame\nz\n";
  expect(await nearest(text, "same\nz!\n")).toContain("lines 2 to 3");
  expect(await nearest(text, " same\nz\n")).toContain("lines 4 to 5");
});

test.each([
  [
    '  "a b c\\nd \\"e\\""\n',
    'a b c\nd "e"',
    "Line 1 has it with backslashes, as in a string of code; give old_text the same way.",
  ],
  ["bcd\nefg\n", "a\nbcd\nefg", 'There is nothing before line 1 for "a".'],
  ["a\nbcd", "bcd\n", "The file ends without a line break; leave out the one at the end of old_text."],
])("of %j and %j the hint says what to give", async (text, wanted, hint) => {
  expect((await nearest(text, wanted))?.split("\n").at(-1)).toBe(hint);
});

test("lines beyond the end of the file are reported", async () => {
  expect(await nearest("a\nbcd\n", "bcd\nefg")).toContain('There is no line 3 for "efg".');
});

test("nothing is shown where no line is similar, and never more than a few short lines", async () => {
  expect(await nearest("alpha\nbeta\n", "0123456789")).toBeUndefined();
  expect(await nearest("", "a")).toBeUndefined();
  const long = Array.from({ length: 100 }, (_, at) => `${at} ${"x".repeat(1000)}`).join("\n");
  const words = await nearest(long, `${long}!`);
  expect(words?.length).toBeLessThan(2500);
  expect(words).toContain("Nearest are lines 1 to 100:");
});
