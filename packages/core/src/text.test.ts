import { describe, expect, test } from "vitest";
import { quote } from "./json.ts";
import {
  clip,
  cutBytes,
  cutHead,
  limitBytes,
  printableName,
  showInvisible,
  truncationNotice,
  withNotice,
  withoutControls,
} from "./text.ts";

describe("the notice of a cut", () => {
  test("says how much is shown, of how much if known, and how to go on if that is possible", () => {
    const next = { argument: "offset", value: 3 };
    expect(truncationNotice({ shown: 2, total: 9, unit: "lines", next })).toBe(
      "[truncated: shown 2 of 9 lines; pass offset=3 to continue]",
    );
    expect(truncationNotice({ shown: 2, unit: "lines", next })).toBe(
      "[truncated: shown 2 lines, there is more; pass offset=3 to continue]",
    );
    expect(truncationNotice({ shown: 2, total: 9, unit: "bytes" })).toBe("[truncated: shown 2 of 9 bytes]");
  });

  test("stands after a blank line", () => {
    expect(withNotice("a\n", { shown: 1, unit: "lines" })).toBe("a\n\n[truncated: shown 1 lines, there is more]");
    expect(withNotice("a", { shown: 1, unit: "lines" })).toBe("a\n\n[truncated: shown 1 lines, there is more]");
  });
});

test("a cut never splits a surrogate pair", () => {
  expect(cutHead("a😀b", 2)).toBe("a");
  expect(cutHead("a😀b", 3)).toBe("a😀");
  expect(clip("x".repeat(201))).toBe(`${"x".repeat(200)}…`);
  expect(clip("short")).toBe("short");
  expect([clip("x😀", 2), quote("xy😀z", 3), quote(["x😀".repeat(20)], 4)]).toEqual(["x…", '"xy…"', '["x…']);
});

test("names with control characters, line separators or lone surrogates are printed as JSON; others as they are", () => {
  expect(printableName("plain ~ name é 😀")).toBe("plain ~ name é 😀");
  expect(printableName("a\nb\u001b[31m")).toBe('"a\\nb\\u001b[31m"');
  expect(printableName("a\u0085")).toMatch(/^"/);
  expect(printableName("a\u2028")).toMatch(/^"/);
  expect(printableName("a\ud800")).toBe('"a\\ud800"');
});

test("a head cut by bytes never splits a character", () => {
  expect(cutBytes("aé😀b", 8)).toBe("aé😀b");
  expect([1, 2, 3, 6, 7].map((limit) => cutBytes("aé😀b", limit))).toEqual(["a", "a", "aé", "aé", "aé😀"]);
});

/** One of each kind that could steer a terminal or reorder what it shows. */
const controls = [
  ..."\u0000\u0007\u001b\r\u007f\u0085\u009b\u009d\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069",
  "\ud800",
];

test.each(controls)("a name with control character %j is printed as a JSON string without it", (character) => {
  const name = `a${character}b`;
  const printed = printableName(name);
  expect(printed).toMatch(/^"[\x20-\x7e]+"$/);
  expect(JSON.parse(printed)).toBe(name);
});

test.each(controls)(
  "%j is removed from text for a terminal; line breaks, tabs and letters of any script stay",
  (character) => {
    expect(withoutControls(`é\t${character}שלום\n${character}😀`)).toBe("é\tשלום\n😀");
  },
);

test("invisible characters are written as their code; visible ones stay", () => {
  const unseen = "\u0000\t\n\u001b\u009b\u00a0\u00ad\u034f\u115f\u200b\u202e\u2060\u2800\u3000\u3164\ufe0f\ufeff\uffa0";
  for (const character of [...unseen, "\u{e0041}", "\u{e0100}", "\u{1d173}", "\ud800"]) {
    expect(showInvisible(`a${character}b`)).toMatch(/^a<U\+[0-9A-F]{4,6}>b$/);
  }
  expect(showInvisible("rm -r ./ä 😀 日本 שלום")).toBe("rm -r ./ä 😀 日本 שלום");
  expect(showInvisible("\u{e0041}")).toBe("<U+E0041>");
});

test("a text is limited by bytes of UTF-8, whole lines first; a notice at its end is not counted", () => {
  expect(limitBytes("one\ntwo\nthree\n", 14)).toBe("one\ntwo\nthree\n");
  expect(limitBytes("one\ntwo\nthree\n", 10)).toBe("one\ntwo\n\n[truncated: shown 8 of 14 bytes]");
  const page = "one\ntwo\n\n[truncated: shown 2 of 9 lines; pass offset=3 to continue]";
  expect(limitBytes(page, 8)).toBe(page);
  expect(limitBytes(page, 6)).toBe("one\n\n[truncated: shown 4 of 7 bytes]");
  expect(limitBytes(`a\n${"é".repeat(20)}`, 11)).toBe(`a\n${"é".repeat(4)}\n\n[truncated: shown 10 of 42 bytes]`);
  const padded = `x\n\n[truncated: ${"y".repeat(2000)}]`;
  expect(limitBytes(padded, 20)).toMatch(/shown 20 of \d+ bytes\]$/);
  expect(limitBytes("😀", 3)).toBe("\n\n[truncated: shown 0 of 4 bytes]");
  const kept = `${"x".repeat(20)}\n\n[truncated: shown 20 of 900 bytes; all of it is in /a/b]c d]`;
  expect(limitBytes(kept, 20)).toBe(kept);
  expect(limitBytes(kept, 5)).toBe("xxxxx\n\n[truncated: shown 5 of 900 bytes; all of it is in /a/b]c d]");
});
