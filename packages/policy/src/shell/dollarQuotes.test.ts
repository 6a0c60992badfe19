import { expect, test } from "vitest";
import { linesOf } from "../../../../testing/shell/corpora.ts";
import { escapes, readAnswers } from "../../../../testing/shell/shellAnswers.ts";
import { readDollarQuoted } from "./text.ts";

test("$'…' is read as bash reads it in each locale, or not at all", () => {
  const { answers } = readAnswers("dollarQuotes");
  const read = Object.entries(answers).map(([text, real]) => ({ text, real, value: readDollarQuoted(text) }));
  expect(read.filter(({ real, value }) => value !== undefined && real.some((one) => one !== value))).toEqual([]);
  expect(read.filter(({ value }) => value !== undefined).length).toBeGreaterThan(200);
  expect(escapes.filter((text) => answers[text] === undefined)).toEqual([]);
});

test.each(linesOf("dollarQuotes"))("%s is not read", (text) => expect(readDollarQuoted(text)).toBeUndefined());
