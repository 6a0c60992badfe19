import { expect, test } from "vitest";
import { rowsOf } from "../../../../testing/shell/corpora.ts";
import { readShellLine } from "../shell/readCommand.ts";

const judge = (line: string) => {
  const { unreadable, commands } = readShellLine(line);
  const found = commands.map(({ reads }) => reads);
  const refused = found.find((one) => typeof one === "string");
  return {
    readOnly: unreadable === undefined && refused === undefined,
    paths: found.flatMap((one) => (typeof one === "string" ? [] : one.paths)),
    why: refused,
  };
};

test.each(rowsOf<[string, string[]]>("readOnly", "paths that are read"))("%j only reads", (line, paths) => {
  expect(judge(line)).toEqual({ readOnly: true, paths, why: undefined });
});

test.each(rowsOf<[string, string[]]>("readOnly", "reasons to ask"))(
  "%s is the reason to ask about %j",
  (reason, lines) => {
    expect(lines.map((line) => judge(line).why)).toEqual(lines.map(() => reason));
    expect(lines.filter((line) => judge(line).readOnly)).toEqual([]);
  },
);

test.each(rowsOf<[string, boolean]>("readOnly", "prints what files say"))(
  "%j prints what files say: %j",
  (line, prints) => {
    const [command] = readShellLine(line).commands;
    const reads = command?.reads;
    expect(typeof reads === "object" && reads.contents === true).toBe(prints);
  },
);
