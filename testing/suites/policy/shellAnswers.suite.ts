import { join } from "node:path";
import { sharedFolder } from "@toolcrib/testing/temporaryFolder";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { Looks } from "../../../packages/policy/src/judge/looks.ts";
import { readDollarQuoted } from "../../../packages/policy/src/shell/text.ts";
import {
  askPatterns,
  askQuotes,
  cannotAsk,
  makePatternFolder,
  patternWord,
  readAnswers,
  sampleQuotes,
  wordValue,
} from "../../shell/shellAnswers.ts";

/** TOOLCRIB_ROUNDS=1000 is the full size: 200,000 words. */
const count = Number(process.env.TOOLCRIB_ROUNDS ?? 30) * 200;

const folder = join(sharedFolder("policy-patterns"), "in", "folder");
beforeAll(() => makePatternFolder(folder));

describe.skipIf(cannotAsk !== undefined)("what is recorded of real shells is what they answer today", () => {
  test.each([
    ["patternAnswers", (words: readonly string[]) => askPatterns(words, folder)],
    ["dollarQuotes", askQuotes],
  ] as const)("%s", (name, ask) => {
    const { answers } = readAnswers(name);
    const words = Object.keys(answers);
    const today = ask(words);
    expect(Object.fromEntries(words.map((word, at) => [word, today[at]]))).toEqual(answers);
  });
});

describe.skipIf(cannotAsk !== undefined)("words that are not recorded", () => {
  test(`real shells find no name for one of ${count} patterns that was not seen`, () => {
    const plain = (path: string): string => path.replace(/\/+/g, "/").replace(/\/$/, "");
    const words = [...new Set(fc.sample(patternWord, count))];
    for (let at = 0; at < words.length; at += 1000) {
      const batch = words.slice(at, at + 1000);
      const unseen = askPatterns(batch, folder).flatMap((names, index) => {
        const value = wordValue(batch[index] ?? "");
        const seen = new Set(new Looks().expand(folder, value).map(plain));
        return names.filter((name) => !seen.has(plain(name))).map((name) => `${batch[index]} -> ${name}`);
      });
      expect(unseen).toEqual([]);
    }
  });

  test(`$'…' is read as bash reads it, or not at all: ${count} texts`, () => {
    const quoted = sampleQuotes(count);
    const real = askQuotes(quoted);
    const read = quoted.map((text) => readDollarQuoted(text));
    expect(quoted.filter((_, at) => read[at] !== undefined && real[at]?.some((one) => one !== read[at]))).toEqual([]);
  });
});
