import { expect, test } from "vitest";
import { linesOf, rowsOf } from "../../../../testing/shell/corpora.ts";
import { readShellLine } from "../shell/readCommand.ts";

const last = (line: string) => {
  const { commands } = readShellLine(line);
  const { uncovered, words } = commands.find((command) => command.uncovered !== undefined) ?? { words: [] };
  return uncovered === undefined ? undefined : words.slice(0, uncovered.at + 1).join(" ");
};

test.each(rowsOf<[string, string]>("uncovered", "words to spell out"))(
  "in %j a rule must spell out %j",
  (line, spelt) => {
    expect(last(line)).toBe(spelt);
  },
);

test.each(linesOf("uncovered", "does not show what it runs"))(
  "even all words of %j do not show what it runs",
  (line) => {
    const command = readShellLine(line).commands.at(-1);
    expect(command?.uncovered?.at).toBe(command?.words.length);
  },
);

test.each([
  ["vim a", "vim runs what its words or its input say."],
  ["perf record x", "perf runs what its words say."],
  ["python3", "python runs its input."],
  ["node script.js", "node runs script.js."],
  ["sudo -X ls", "sudo runs another program."],
  [
    `rg ${"-".repeat(3)}${"a".repeat(37)}`,
    `${"-".repeat(3)}${"a".repeat(37)} of rg may run a program or a file, or write one.`,
  ],
  [`rg --${"a".repeat(39)}`, `--${"a".repeat(38)}… of rg may run a program or a file, or write one.`],
])("%j: %j", (line, why) => {
  expect(readShellLine(line).commands[0]?.uncovered?.why).toBe(why);
});

test.each(linesOf("uncovered", "hides nothing"))("%j hides nothing", (line) => {
  expect(last(line)).toBeUndefined();
});
