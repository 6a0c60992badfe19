import { expect, test } from "vitest";
import { linesOf } from "../../../../testing/shell/corpora.ts";
import { onlyGaps, type Span } from "./text.ts";

/** The stretches between « and » are spans that were read. */
function check(marked: string, { from = 0, cut = 0 } = {}): boolean {
  const spans: Span[] = [];
  let line = "";
  for (const part of marked.split(/(«[^»]*»)/)) {
    const text = part.replace(/[«»]/g, "");
    if (part.startsWith("«")) spans.push({ pos: line.length, end: line.length + text.length });
    line += text;
  }
  return onlyGaps(line, from, line.length - cut, spans.reverse());
}

test.each(linesOf("onlyGaps", "nothing to run between the spans"))(
  "between the spans of %j there is nothing to run",
  (line) => {
    expect(check(line)).toBe(true);
  },
);

test.each(linesOf("onlyGaps", "text that was not read"))(
  "between the spans of %j there is text that was not read",
  (line) => {
    expect(check(line)).toBe(false);
  },
);

test("a part of the line is checked only from its start to its end", () => {
  expect(check("xx«ls»", { from: 2 })).toBe(true);
  expect(check("xx #«ls»", { from: 2 })).toBe(false);
  expect(check("x#a", { from: 1 })).toBe(true);
  expect(check("xfi", { from: 1 })).toBe(true);
  expect(check("«ls»x", { cut: 1 })).toBe(true);
  expect(check("fi)", { cut: 1 })).toBe(true);
  expect(check("# a\n", { cut: 1 })).toBe(true);
  // The comment goes on beyond the end, and takes it along.
  expect(check("# a\n", { cut: 2 })).toBe(false);
  expect(check("#")).toBe(true);
});

test("spans that overlap, go backwards or leave the part are refused", () => {
  expect(onlyGaps("ls", 0, 2, [{ pos: 0, end: 2 }])).toBe(true);
  expect(
    onlyGaps("ls", 0, 2, [
      { pos: 0, end: 2 },
      { pos: 1, end: 2 },
    ]),
  ).toBe(false);
  expect(onlyGaps("ls", 0, 2, [{ pos: 0, end: 3 }])).toBe(false);
  expect(onlyGaps("ls", 1, 2, [{ pos: 0, end: 2 }])).toBe(false);
  expect(onlyGaps("  ", 0, 2, [{ pos: 2, end: 1 }])).toBe(false);
  expect(
    onlyGaps("ls", 0, 2, [
      { pos: 2, end: 2 },
      { pos: 0, end: 2 },
    ]),
  ).toBe(true);
});
