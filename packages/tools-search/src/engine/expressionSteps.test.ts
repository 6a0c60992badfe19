import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { expressionSteps, takesLong } from "./expressionSteps.ts";

type Item = { atom: string; least: number; most: number } | { group: Item[][]; isOptional: boolean };

/** Writes an expression as its source. */
function sourceOf(items: Item[]): string {
  return items
    .map((item) => {
      if ("group" in item) return `(?:${item.group.map(sourceOf).join("|")})${item.isOptional ? "?" : ""}`;
      const { atom, least, most } = item;
      if (least === 1 && most === 1) return atom;
      return `${atom}{${least},${most === Infinity ? "" : most}}`;
    })
    .join("");
}

/** A matcher that goes back as engines do, and counts each look at a character. */
function countSteps(items: Item[], line: string, flags: string): number {
  let steps = 0;
  const compiled = new Map<string, RegExp>();
  const holds = (atom: string, at: number): boolean => {
    steps += 1;
    if (atom === "$") return at === line.length;
    const one = compiled.get(atom) ?? new RegExp(`^(?:${atom})$`, flags);
    compiled.set(atom, one);
    return at < line.length && one.test(line.charAt(at));
  };
  const go = (rest: Item[], at: number, then: (end: number) => boolean): boolean => {
    const [first, ...others] = rest;
    if (first === undefined) return then(at);
    const next = (end: number): boolean => go(others, end, then);
    if ("group" in first) return first.group.some((one) => go(one, at, next)) || (first.isOptional && next(at));
    if (first.atom === "$") return holds("$", at) && next(at);
    let end = at;
    while (end - at < first.most && holds(first.atom, end)) end += 1;
    for (; end - at >= first.least; end -= 1) if (next(end)) return true;
    return false;
  };
  for (let start = 0; start <= line.length; start += 1) if (go(items, start, () => true)) break;
  return steps;
}

const atoms = ["a", "b", "\\w", "\\s", "\\d", ".", "[ab]", "[^a]", "\\(", "1", "k", "\\W", "[^\\s(]", "\\S"];
const atom = fc.record({ atom: fc.constantFrom(...atoms) });
const range = fc.constantFrom([1, 1], [1, 1], [1, 1], [0, 1], [0, Infinity], [1, Infinity], [2, 5], [0, 3], [3, 3]);
const single = fc.tuple(atom, range).map(([one, [least = 1, most = 1]]) => ({ ...one, least, most }));
const end = fc.constant({ atom: "$", least: 1, most: 1 });
const items = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: single as fc.Arbitrary<Item> },
    { weight: 1, arbitrary: end },
    {
      weight: 1,
      arbitrary: fc.record({
        group: fc.array(fc.array(single, { maxLength: 3 }), { minLength: 1, maxLength: 2 }),
        isOptional: fc.boolean(),
      }),
    },
  ),
  { minLength: 1, maxLength: 6 },
);
/** Lines of few different characters, long runs of one among them: those that take longest. */
const line = fc
  .array(
    fc.tuple(fc.constantFrom("a", "b", "ab", " ", "(", "1", "k", "\u212a", "é"), fc.integer({ min: 1, max: 12 })),
    {
      maxLength: 5,
    },
  )
  .map((runs) => runs.map(([text, times]) => text.repeat(times)).join(""));

test("no expression takes more steps on any line than are foretold", () => {
  fc.assert(
    fc.property(items, line, fc.boolean(), (expression, text, caseSensitive) => {
      const foretold = expressionSteps(sourceOf(expression), caseSensitive);
      const steps = countSteps(expression, text, caseSensitive ? "u" : "iu");
      expect(foretold?.on(text.length)).toBeGreaterThanOrEqual(steps);
      const prefix = String(foretold?.prefix ?? "");
      if (foretold && prefix !== "") {
        const [match = prefix] = new RegExp(sourceOf(expression), "u").exec(text) ?? [];
        expect(match.slice(0, prefix.length)).toBe(prefix);
        const starts = text.split("").filter((_, at) => text.startsWith(prefix, at)).length;
        expect(foretold.on(text.length, starts)).toBeGreaterThanOrEqual(steps);
      }
    }),
    { numRuns: 3000 },
  );
});

/** Each form that the caller's thread takes, and a piece of the line that is worst for it. */
const allowed: [string, string][] = [
  ["needle", "needl"],
  ["\\w+x", "w"],
  [".*x", "a"],
  ["a{20,}x", "a"],
  ["a*?x", "a"],
  ["[^)]+;", "a"],
  ["(?:foo|fo|f)o*x", "fo"],
  ["foo.*bar.*x", "bar"],
  ["function\\s+\\w+Check\\w*\\(", "Check"],
  ["a{0,400}x", "a"],
];

describe("on the line that is worst for it", () => {
  test.each(allowed)("%s is tried only as far as its steps are few", (source, piece) => {
    const steps = expressionSteps(source, true);
    if (steps === undefined) throw new Error("it is not bounded");
    const prefix = String(steps.prefix);
    const head = prefix === "" || prefix === "needle" ? "" : `${prefix} `;
    const worst = (length: number): Buffer =>
      Buffer.from(`${head}${piece.repeat(length)}`.slice(0, length).replace(/^(.*)(.{6})$/, "$1needle"));
    expect(takesLong(worst(60), { ...steps, literal: undefined })).toBe(false);
    expect(takesLong(worst(2001), { ...steps, literal: undefined })).toBe(true);
  });

  test("a long line is found wherever it stands, also for an expression of few steps", () => {
    const steps = expressionSteps("\\b(?:add|sub)Days\\b", true);
    if (steps === undefined) throw new Error("it is not bounded");
    const file = (...lengths: number[]): Buffer => Buffer.from(lengths.map((length) => "-".repeat(length)).join("\n"));
    for (const before of [[], [0], [2000], [1999, 1, 0]])
      for (const after of [[], [0], [2000]]) {
        expect(takesLong(file(...before, 2000, ...after), { ...steps, literal: undefined })).toBe(false);
        expect(takesLong(file(...before, 2001, ...after), { ...steps, literal: undefined })).toBe(true);
      }
  });

  test("a file is looked through a few times at most, however many of its lines hold a part of the expression", () => {
    const steps = expressionSteps("export (?:async )?function \\w+\\(", true);
    if (steps === undefined) throw new Error("it is not bounded");
    for (const line of ["function a() {}\n", "export const a = 1;\n", "export function a() {}\n"]) {
      const bytes = Buffer.from(line.repeat(2000));
      const search = vi.spyOn(bytes, "indexOf");
      expect(takesLong(bytes, steps)).toBe(false);
      const read = search.mock.results.map(({ value }, at) => {
        const from = Number(search.mock.calls[at]?.[1] ?? 0);
        return (value === -1 ? bytes.length : value) - from;
      });
      expect(read.reduce((sum, one) => sum + one, 0)).toBeLessThan(4 * bytes.length);
    }
  });

  test("many lines of some steps count together", () => {
    const steps = expressionSteps("\\w+\\d", true);
    if (steps === undefined) throw new Error("it is not bounded");
    const lines = (count: number): Buffer => Buffer.from(`${"a".repeat(500)}\n`.repeat(count));
    expect(takesLong(lines(1), steps)).toBe(false);
    expect(takesLong(lines(130), steps)).toBe(true);
  });
});

test.each([
  "(a+)+",
  "(?:a|b)*",
  "(a)\\1",
  "(?=a)b",
  "(?<!a)b",
  "(?<n>a)\\k<n>",
  "(ab){2}",
  "(?:a?){1,9}",
  "x".repeat(301),
])("%s is left to a thread", (source) => expect(expressionSteps(source, true)).toBeUndefined());

test.each([
  ["nothing can end it within", "\\s+\\w+\\(", 2],
  ["what may be missing stands behind it", "\\s+x?\\(", 2],
  ["what follows what may be missing can stand within it", "\\s+x?\\s+y", 3],
  ["what follows can stand within it", "\\w+a\\w+b", 3],
  ["letters of another case can", "[a-z]+K\\w*!", 3],
  ["characters beyond ASCII can", "[é]+[éa]*é", 3],
  ["a group follows", "\\w+(?:\\()\\w+b", 3],
])("the steps grow by a power of the line's length if %s", (_, source, power) => {
  const steps = expressionSteps(source, false);
  if (steps === undefined) throw new Error("it is not bounded");
  const growth = Math.log2(steps.on(16_000) / steps.on(8000));
  expect(Math.round(growth)).toBe(power);
});
