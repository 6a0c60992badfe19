import { expect, test } from "vitest";
import { rowsOf } from "../../../../testing/shell/corpora.ts";
import { longestLine, textProblem } from "./text.ts";

test.each(["", "ls -la\t'ä ß 漢 🙂'\nls", "e\u0301", "a".repeat(longestLine), `ä${"a".repeat(longestLine - 1)}`])(
  "a line of visible characters is read (%#)",
  (line) => {
    expect(textProblem(line)).toBeUndefined();
  },
);

test.each(rowsOf<[string, string]>("checkText", "characters by number"))(
  "%j is named by its number",
  (character, code) => {
    const problem = `It contains the invisible or control character U+${code}.`;
    expect(textProblem(`ls ${character} x`)).toBe(problem);
    expect(textProblem(`ä${character}\u200b`)).toBe(problem);
  },
);

test("a line that is too long is not read", () => {
  expect(longestLine).toBe(10_000);
  expect(textProblem("a".repeat(10_001))).toBe("It is longer than 10,000 characters.");
});
