import { isAscii } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Query } from "./job.ts";
import { createMatcher, createNewlineCounter, scanBytes, scanText } from "./matchLines.ts";

function linesFound(text: string, query: Query): string[] {
  const found: string[] = [];
  const matcher = createMatcher(query);
  const file = Buffer.from(text);
  if (!matcher.couldMatch(file)) return found;
  if (matcher.bytes) {
    scanBytes(file, matcher.bytes, (line, start, end) => {
      found.push(`${line}:${file.toString("utf8", start, end)}`);
      return true;
    });
  } else {
    const { ascii, unicode } = matcher.expressions;
    scanText(text, isAscii(file) ? ascii : unicode, (line, start, end) => {
      found.push(`${line}:${text.slice(start, end)}`);
      return true;
    });
  }
  return found;
}

/** The plain meaning: split into lines, test each alone. */
function linesExpected(text: string, test: (line: string) => boolean): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => line.replace(/\r$/, "")).flatMap((line, i) => (test(line) ? [`${i + 1}:${line}`] : []));
}

const text = fc
  .array(fc.constantFrom("a", "b", "ab", " ", "\n", "\n", "\r\n", "\r", "\u2028", "é", "😀", "x", "K"), {
    maxLength: 40,
  })
  .map((parts) => parts.join(""));

describe("lines that match", () => {
  test("a literal is found in each line that holds it, whatever the line endings", () => {
    fc.assert(
      fc.property(text, fc.constantFrom("a", "ab", "é", "b x", "😀", " "), (content, literal) => {
        const query = { text: literal, regex: false, caseSensitive: true };
        expect(linesFound(content, query)).toEqual(linesExpected(content, (line) => line.includes(literal)));
      }),
      { numRuns: 100 },
    );
  });

  test("a search that ignores case finds a literal in any case, also where letters beyond ASCII equal ASCII ones", () => {
    const letters = fc.constantFrom(..."a B k K \u212a s \u017f i \u0130 \u0131 1 _ é É".split(" "));
    const word = fc.array(letters, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
    const content = fc.array(fc.oneof(letters, fc.constant("\n")), { maxLength: 40 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(content, word, (lines, literal) => {
        const query = { text: literal, regex: false, caseSensitive: false };
        const meant = new RegExp(literal, "iu");
        expect(linesFound(lines, query)).toEqual(linesExpected(lines, (line) => meant.test(line)));
      }),
      { numRuns: 200 },
    );
    for (const [line, literal] of [
      ["a\u212a", "AK"],
      ["\u017fa", "sa"],
      ["x\u0130", "x\u0130"],
      ["x-Y", "X-y"],
    ] as const) {
      expect(linesFound(line, { text: literal, regex: false, caseSensitive: false })).toEqual([`1:${line}`]);
    }
  });

  test("a regular expression matches each line alone, never across lines", () => {
    const piece = fc.constantFrom(
      ..."a b . \\s \\s+ [^x] [^x]* a? (a|b) ^ $ \\b \\B (?!a) (?<!b) (?=\\s) a{2} (a)\\1 [^] .* é \\W".split(" "),
    );
    fc.assert(
      fc.property(text, fc.array(piece, { minLength: 1, maxLength: 4 }), (content, pieces) => {
        const source = pieces.join("");
        let plain: RegExp;
        try {
          plain = new RegExp(source, "su");
        } catch {
          return;
        }
        const query = { text: source, regex: true, caseSensitive: true };
        expect(linesFound(content, query)).toEqual(linesExpected(content, (line) => plain.test(line)));
      }),
      { numRuns: 300 },
    );
  });

  test("case-insensitive search follows Unicode and does not change the query", () => {
    const query = { text: "É.x", regex: false, caseSensitive: false };
    expect(linesFound("é.X\néyx\n", query)).toEqual(["1:é.X"]);
  });
});

test("every line feed is counted, whatever the bytes and their alignment", () => {
  const byte = fc.constantFrom(10, 10, 0, 9, 11, 0x8a, 0x0b, 0xff, 0x7f, 0x80, 65);
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 60 }), fc.nat(4), fc.nat(60), fc.nat(60), (bytes, shift, a, b) => {
      const whole = Buffer.from([...new Array(shift).fill(10), ...bytes]);
      const part = Buffer.from(new Uint8Array(whole).buffer).subarray(shift);
      const [from, to] = [Math.min(a, b, part.length), Math.min(Math.max(a, b), part.length)];
      const expected = bytes.slice(from, to).filter((one) => one === 10).length;
      expect(createNewlineCounter(part)(from, to)).toBe(expected);
    }),
    { numRuns: 200 },
  );
});

test("a long run of line feeds is counted to the last", () => {
  expect(createNewlineCounter(Buffer.alloc(100_003, "\n"))(1, 100_002)).toBe(100_001);
});
