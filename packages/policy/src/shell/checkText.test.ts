import { expect, test } from "vitest";
import { longestLine, textProblem } from "./text.ts";

test.each(["", "ls -la\t'ä ß 漢 🙂'\nls", "e\u0301", "a".repeat(longestLine), `ä${"a".repeat(longestLine - 1)}`])(
  "a line of visible characters is read (%#)",
  (line) => {
    expect(textProblem(line)).toBeUndefined();
  },
);

test.each([
  ["\0", "0000"],
  ["\x1f", "001F"],
  ["\v", "000B"],
  ["\f", "000C"],
  ["\r", "000D"],
  ["\x1b", "001B"],
  ["\x7f", "007F"],
  ["\x85", "0085"],
  ["\u00a0", "00A0"],
  ["\u00ad", "00AD"],
  ["\u034f", "034F"],
  ["\u115f", "115F"],
  ["\u2000", "2000"],
  ["\u200d", "200D"],
  ["\u2028", "2028"],
  ["\u2029", "2029"],
  ["\u202e", "202E"],
  ["\u3000", "3000"],
  ["\u3164", "3164"],
  ["\ufe0f", "FE0F"],
  ["\ufeff", "FEFF"],
  ["\ue000", "E000"],
  ["\u0378", "0378"],
  ["\ud800", "D800"],
  ["\u{e0041}", "E0041"],
])("%j is named by its number", (character, code) => {
  const problem = `It contains the invisible or control character U+${code}.`;
  expect(textProblem(`ls ${character} x`)).toBe(problem);
  expect(textProblem(`ä${character}\u200b`)).toBe(problem);
});

test("a line that is too long is not read", () => {
  expect(longestLine).toBe(10_000);
  expect(textProblem("a".repeat(10_001))).toBe("It is longer than 10,000 characters.");
});
