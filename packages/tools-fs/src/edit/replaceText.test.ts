import { expect, test } from "vitest";
import { type Edit, replaceText } from "./replaceText.ts";

const limits = { maxBytes: 1000 };
const replace = (text: string, old_text: string, new_text: string, replace_all?: boolean): Promise<string> =>
  replaceText(text, [{ old_text, new_text, replace_all }], limits);

test("exactly one match is replaced, and nothing else changes", async () => {
  expect(await replace("one two three", "two", "2")).toBe("one 2 three");
  expect(await replace("a  b\t\n c ", "b\t", "B")).toBe("a  B\n c ");
  expect(await replace("x", "x", "")).toBe("");
});

test("replacement patterns ($&) in the new text are plain text", async () => {
  expect(await replace("a b c", "b", "$& $1 $` $' $$")).toBe("a $& $1 $` $' $$ c");
});

test.each([
  ["no match", "abc", "x", /0 matches/],
  ["several matches", "abab", "ab", /2 matches.*replace_all=true/],
  ["matches that overlap", "aaa", "aa", /2 matches/],
  ["empty text", "abc", "", /must not be empty/],
])("%s is refused with the number of matches", async (_, text, old_text, message) => {
  await expect(replace(text, old_text, "new")).rejects.toThrow(message);
});

test("the line numbers of the first ten matches are named", async () => {
  await expect(replace("a\nb\na\nc a\r\na", "a", "x")).rejects.toThrow(
    "has 4 matches, at lines 1, 3, 4 and 5; add surrounding lines",
  );
  await expect(replace("a\n".repeat(25), "a", "x")).rejects.toThrow(
    "at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 15 more;",
  );
  await expect(replace("aa", "a", "x")).rejects.toThrow("has 2 matches, at line 1;");
});

test("edits that would take too long end with the call", async () => {
  const edits = [{ old_text: `${"a\n".repeat(1e5)}x`, new_text: "" }];
  const run = replaceText("a\n".repeat(1e6), edits, { maxBytes: 1e8, signal: AbortSignal.timeout(50) });
  await expect(run).rejects.toMatchObject({ name: "TimeoutError" });
});

test("a text of many megabytes takes dozens of edits", async () => {
  const edits = Array.from({ length: 30 }, (_, at) => ({ old_text: `<${at}>`, new_text: "" }));
  const text = `${"line\n".repeat(4e5)}${edits.map(({ old_text }) => old_text).join("")}`;
  expect((await replaceText(text, edits, { maxBytes: 2 ** 25 })).length).toBe(2e6);
});

test("the nearest lines are shown where nothing matches, and what differs", async () => {
  await expect(replace("one\n\ttwo\n", "  two\n", "x")).rejects.toThrow(
    "Nearest is line 2:\n2: \ttwo\nLine 2 differs: at column 1 old_text has 2 spaces, the file has 1 tab",
  );
  await expect(replace("abc", "0", "x")).rejects.toThrow(/with its spaces and line breaks$/);
});

test("text that differs in case, spaces or indentation does not match", async () => {
  await expect(replace("  if (a) {", "if (A) {", "x")).rejects.toThrow(/0 matches/);
  await expect(replace("a  b", "a b", "x")).rejects.toThrow(/0 matches/);
});

test("replace_all takes every match that does not overlap another, from the left", async () => {
  expect(await replace("aaaaa", "aa", "b", true)).toBe("bba");
  expect(await replace("a.b.c", ".", "..", true)).toBe("a..b..c");
});

test("edits apply in order, each to the result of the one before; all or none", async () => {
  const edits: Edit[] = [
    { old_text: "a", new_text: "b c" },
    { old_text: "c", new_text: "d" },
  ];
  expect(await replaceText("a", edits, limits)).toBe("b d");
  await expect(replaceText("a", [...edits, { old_text: "gone", new_text: "" }], limits)).rejects.toThrow(
    /edits\[2\]\.old_text/,
  );
});

test("edits that change nothing are an error", async () => {
  await expect(replace("abc", "b", "b")).rejects.toThrow(/change nothing/);
});

test("line endings of the text match those of the edit, and are kept", async () => {
  expect(await replace("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n")).toBe("x\r\ny\r\nz\r\nc\r\n");
  expect(await replace("a\nb\nc\n", "a\r\nb", "x\r\ny")).toBe("x\ny\nc\n");
  expect(await replace("a\r\nb", "b", "x\ny")).toBe("a\r\nx\r\ny");
  expect(await replace("\r\na\r\nb", "\na", "\nc")).toBe("\r\nc\r\nb");
});

test("in a text with both line endings only the edited lines change", async () => {
  const mixed = "a\r\nb\nc\r\nd\n";
  expect(await replace(mixed, "b\nc", "B\nC")).toBe("a\r\nB\nC\r\nd\n");
  expect(await replace(mixed, "a\nb", "A\nB")).toBe("A\r\nB\nc\r\nd\n");
  await expect(replace("a\r\nb\n a\nb\n", "a\nb", "x")).rejects.toThrow(/2 matches/);
});

test.each([
  ["a\r\nb\r\nc\nd\r\n", "a\nb\nc\nd\n", "a\nb\nX\nc\nd\n", "a\r\nb\r\nX\r\nc\nd\r\n"],
  ["a\r\nb\nc\r\n", "a\nb\nc", "A\nb\nc", "A\r\nb\nc\r\n"],
  ["a\r\nb\nc\r\n", "b", "b\nX", "a\r\nb\nX\nc\r\n"],
  ["a\nb\r\nc\nd\r\n", "a\nb\nc\nd\n", "d\na\nb\nc\n", "d\na\nb\r\nc\n"],
  ["a\nb\r\nc", "c", "c\nX", "a\nb\r\nc\r\nX"],
  ["a\nb\r\nc\n", "a\nb\nc\n", "a\nc\n", "a\nc\n"],
])("in %j the lines that an edit keeps keep their endings", async (text, old_text, new_text, changed) => {
  expect(await replace(text, old_text, new_text)).toBe(changed);
});

test("each match of a text with both line endings keeps its own", async () => {
  expect(await replace("a\r\nb\na\nb\r\n", "a\nb\n", "a\nX\nb\n", true)).toBe("a\r\nX\r\nb\na\nX\nb\r\n");
  // Too many lines to compare them one by one.
  const many = "a\n".repeat(2000);
  const mixed = `${many}\r\n`;
  expect(await replaceText(mixed, [{ old_text: many, new_text: "b\n".repeat(2000) }], { maxBytes: 1e6 })).toBe(
    `${"b\n".repeat(2000)}\r\n`,
  );
});

test("in a text without line breaks those of the new text are kept", async () => {
  expect(await replace("ab", "b", "\r\nc")).toBe("a\r\nc");
});

test("a text that grows past the limit at any edit is refused", async () => {
  const grow = { old_text: "a", new_text: "aaaaaaaaaa", replace_all: true };
  const shrink = { old_text: "a", new_text: "", replace_all: true };
  await expect(replaceText("a", [grow, grow, grow, grow, shrink], limits)).rejects.toThrow(
    /edits\[3\]\.new_text: makes the text longer than 1000 bytes; give a shorter one/,
  );
  // Of bytes, not of characters.
  await expect(replace("a", "a", "€".repeat(334))).rejects.toThrow(/longer than 1000 bytes/);
  expect(await replace("a", "a", "€".repeat(333))).toBe("€".repeat(333));
});

test("a match across two of the parts that are searched is found once", async () => {
  const wanted = `x${"y".repeat(100)}\nz`;
  for (const before of [262_144 - 150, 262_144 - 101, 262_144 - 1, 262_144, 262_145]) {
    const text = `${"a".repeat(before)}${wanted.replace("\n", "\r\n")}b`;
    expect(await replaceText(text, [{ old_text: wanted, new_text: "" }], { maxBytes: 1e6 })).toBe(
      `${"a".repeat(before)}b`,
    );
  }
});

const alternating = Array.from({ length: 40 }, (_, index) => {
  const [old_text, new_text] = index % 2 === 0 ? ["a", "b"] : ["b", "a"];
  return { old_text, new_text, replace_all: true } as Edit;
});
const costly: [name: string, text: string, edits: Edit[]][] = [
  [
    "many edits with many matches",
    "a".repeat(60_000),
    [...alternating, { old_text: "a", new_text: "c", replace_all: true }],
  ],
  ["one edit with many matches", "a".repeat(1_000_000), [{ old_text: "a", new_text: "b", replace_all: true }]],
  [
    "one text that almost matches everywhere",
    "a\n".repeat(50_000),
    [{ old_text: `${"a\n".repeat(300)}b`, new_text: "" }],
  ],
];

test.each(costly)("other work runs meanwhile: %s", async (_name, text, edits) => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  await replaceText(text, edits, { maxBytes: 1e7 }).catch(() => undefined);
  clearImmediate(turn);
  expect(turns).toBeGreaterThan(2);
});

test.each(costly)("the signal ends it: %s", async (_name, text, edits) => {
  const controller = new AbortController();
  setImmediate(() => controller.abort(new Error("stopped")));
  await expect(replaceText(text, edits, { maxBytes: 1e7, signal: controller.signal })).rejects.toThrow("stopped");
});
