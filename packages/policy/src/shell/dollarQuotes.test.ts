import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readDollarQuoted } from "./text.ts";

/** Returns what bash makes of each, which ends each value by a NUL. */
function readByBash(quoted: readonly string[], locale: string): string[] {
  const script = quoted.map((text) => `printf '%s\\0' ${text}`).join("\n");
  return execFileSync("bash", ["-c", script], {
    encoding: "latin1",
    env: { LC_ALL: locale },
    stdio: ["ignore", "pipe", "pipe"],
  })
    .split("\0")
    .slice(0, -1);
}

const characters = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).filter((one) => one !== "'");
const afterBackslash = [...characters, "'"].flatMap((one) =>
  ["", "0", "7", "2d", "{2d}", "41", "x", "12345678"].map((more) => `\\${one}${more}`),
);

test.each(["C", "C.UTF-8"])("$'…' is read as bash reads it in the locale %s, or not at all", (locale) => {
  const parts = fc.array(fc.oneof(fc.constantFrom(...characters), fc.constantFrom(...afterBackslash)), {
    maxLength: 4,
  });
  const random = fc.sample(parts, 3000).map((each) => each.join(""));
  // A backslash at the end would take the quote.
  const quoted = [...afterBackslash, ...random]
    .filter((text) => !/(?:^|[^\\])(?:\\\\)*\\$/.test(text))
    .map((text) => `$'${text}'`);
  const real = readByBash(quoted, locale);
  const read = quoted.map((text) => readDollarQuoted(text));
  expect(quoted.filter((_, at) => read[at] !== undefined && read[at] !== real[at])).toEqual([]);
  expect(read.filter((value) => value !== undefined).length).toBeGreaterThan(1500);
});

test.each([
  "$'a",
  "'a'",
  "$'a\\'",
  "$'a'b'",
  "$'\\x{2d}'",
  "$'\\u002d'",
  "$'\\cM'",
  "$'\\0'",
  "$'\\x80'",
  "$'\\200'",
  "$'\\x'",
  "$'\\z'",
])("%s is not read", (text) => expect(readDollarQuoted(text)).toBeUndefined());
