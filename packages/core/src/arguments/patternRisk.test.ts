import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countUniqueSteps, findRunaway, patternSteps } from "./patternRisk.ts";

/** Steps that the calling thread takes on; see `validationCost.ts`. */
const limit = 2_000_000;

describe("patterns that may run for long are recognised by their source", () => {
  test.each<[string, number]>([
    ["^(a+)+$", 60],
    ["^(a|aa)+$", 60],
    ["^(\\w+\\s?)*$", 60],
    ["^(?=(a+)+b)", 60],
    ["(a)\\1*", 60],
    ["a?".repeat(28) + "a".repeat(28), 28],
    [`^${"(?:a|a)".repeat(30)}b`, 30],
    ["x{0,1000}x{0,1000}x{0,1000}y", 1900],
    ["(?:a{1,30}){1,30}b", 40],
    ["a*a*a*b", 1000],
    ["a+b", 10_000],
  ])("%s on %i characters", (source, length) => {
    expect(patternSteps(source, length)).toBeGreaterThan(limit);
  });
});

describe("patterns that cannot are matched at once", () => {
  test.each<[string, number]>([
    ["^[a-z]+$", 500_000],
    ["^-?\\d+(?:\\.\\d+)?$", 100],
    ["^\\d{4}-\\d\\d-\\d\\d$", 100_000],
    ["^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", 1000],
    ["^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$", 1000],
    ["^(read|write|append)$", 1000],
    ["\\.(?:js|ts)$", 2000],
    ["needle", 100_000],
    ["[)*+]{3}", 1000],
  ])("%s on %i characters", (source, length) => {
    expect(patternSteps(source, length)).toBeLessThanOrEqual(limit);
  });
});

test("every text gets a number of steps, also one that is not a pattern", () => {
  const source = fc.string({
    unit: fc.constantFrom("a", "(", ")", "|", "?", "*", "+", "{", "}", "1", ",", "[", "]", "\\", "^"),
  });
  fc.assert(fc.property(source, fc.nat(5000), (text, length) => patternSteps(text, length) >= 0));
});

describe("common patterns with repeated groups are accepted", () => {
  const label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
  const identifier = "(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)";
  test.each([
    ["a slug", "^[a-z0-9]+(?:-[a-z0-9]+)*$"],
    ["numbers between commas", "^(\\d+,)*\\d+$"],
    ["a version", "^\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$"],
    [
      "a version by the rules of semver",
      `^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-(${identifier}(?:\\.${identifier})*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$`,
    ],
    ["a dotted name", "^[A-Za-z_]\\w*(\\.[A-Za-z_]\\w*)*$"],
    ["a host name", `^(?:${label}\\.)+[a-zA-Z]{2,}$`],
    ["an ISO date", "^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?:Z|[+-]\\d{2}:?\\d{2})?)?$"],
    ["a UUID", "^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$"],
    ["a simple e-mail", "^[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+$"],
    ["an e-mail as in HTML", `^[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]+@${label}(?:\\.${label})*$`],
    ["Base64", "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"],
    ["pairs of hex digits", "^(?:[0-9a-fA-F]{2})+$"],
    ["a quoted text", '^"(?:[^"\\\\]|\\\\.)*"$'],
    ["words", "^(?:\\S+\\s+)*\\S+$"],
    ["a name", "^\\p{L}+(?:[-' ]\\p{L}+)*$"],
    ["an absolute path", "^(?:/[^/]+)+/?$"],
    ["a relative path", "^(?:[\\w-]+/)*[\\w-]+\\.[a-z]+$"],
    ["a duration", "^P(?:\\d+D)?(?:T(?:\\d+[HMS])+)?$"],
    ["digits in groups of three", "^-?\\d{1,3}(?:,\\d{3})*(?:\\.\\d+)?$"],
    ["a query string", "^\\?(?:[^=&]+=[^&]*(?:&[^=&]+=[^&]*)*)?$"],
    ["snake case", "^[a-z]+(?:_[a-z0-9]+)*$"],
    ["a scoped package", "^(?:@[a-z0-9-~][a-z0-9-._~]*/)?[a-z0-9-~][a-z0-9-._~]*$"],
  ])("%s", (_, pattern) => {
    expect(findRunaway({ type: "string", pattern })).toBeUndefined();
  });
});

describe("repeated groups that can read a text in many ways are refused", () => {
  test.each([
    "(a+)+",
    "^(a|a)*$",
    "^(a|ab|b)*$",
    "(a*)*",
    "(?:a?)+",
    "(?:a?){2,}",
    "(?:a?|b?)*c",
    "(\\w+\\s?)*",
    "(.*,)*",
    "^(?:a|A)*$",
    "^(?:s|\u017f)*$",
    "^(?:k|\\u212A)*$",
    "^(?:\\p{L}|\u00e9)*$",
    "^(?:\\ud83d\\ude00|.)*$",
    "^(?:a*a*,)*$",
    "^(?:(?:a|b)+,?)+$",
    "^([a-z]+-?)*$",
    "^(?:\\d{2,20}-?)*$",
    "(?:(?:ab)*)*",
    "^(?:a|\\b)*$",
    "(a)(?:b\\1)*",
    "^(?:a(?=b))*$",
    "^(?:(?:){8}){8}(?:a|a)*$",
    "^(?:a\\@|b)*$",
  ])("%s", (source) => {
    expect(patternSteps(source, 32)).toBe(Number.POSITIVE_INFINITY);
  });

  test("several unbounded parts that overlap stay refused", () => {
    expect(findRunaway({ pattern: "^a*a*a*a*a*b" })).toBeDefined();
    expect(findRunaway({ pattern: "^.*,.*,.*,.*,(?:x,)*$" })).toBeDefined();
  });
});

/** A regular expression that can be written as a source and matched step by step. */
type Node =
  | { readonly kind: "set"; readonly source: string; readonly characters: string }
  | { readonly kind: "sequence"; readonly parts: readonly Node[] }
  | { readonly kind: "choice"; readonly parts: readonly Node[] }
  | { readonly kind: "repeat"; readonly part: Node; readonly least: number; readonly most: number };

function sourceOf(node: Node): string {
  if (node.kind === "set") return node.source;
  if (node.kind === "sequence") return `(?:${node.parts.map(sourceOf).join("")})`;
  if (node.kind === "choice") return `(?:${node.parts.map(sourceOf).join("|")})`;
  return `(?:${sourceOf(node.part)}){${node.least},${Number.isFinite(node.most) ? node.most : ""}}`;
}

/** Counts the steps of a backtracking search for a match of the whole text at its start, up to `limit`. */
function countSteps(node: Node, text: string, limit: number): number {
  let steps = 0;
  function match(part: Node, at: number, then: (at: number) => boolean): boolean {
    if (part.kind === "set") {
      steps += 1;
      if (steps > limit) return true;
      return at < text.length && part.characters.includes(text.charAt(at)) && then(at + 1);
    }
    if (part.kind === "choice") return part.parts.some((one) => match(one, at, then));
    if (part.kind === "sequence") {
      const follow = part.parts.reduceRight((rest, one) => (place: number) => match(one, place, rest), then);
      return follow(at);
    }
    const { least, most, part: inner } = part;
    const again = (count: number, place: number): boolean =>
      (count < most && match(inner, place, (end) => (end > place || count < least) && again(count + 1, end))) ||
      (count >= least && then(place));
    return again(0, at);
  }
  match(node, 0, (at) => at === text.length);
  return steps;
}

const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<Node>(
      { kind: "set", source: "a", characters: "a" },
      { kind: "set", source: "b", characters: "b" },
      { kind: "set", source: ",", characters: "," },
      { kind: "set", source: "\\w", characters: "ab" },
      { kind: "set", source: "[^a]", characters: "b," },
    ),
    fc.record({ kind: fc.constant("sequence"), parts: fc.array(tie("node"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ kind: fc.constant("choice"), parts: fc.array(tie("node"), { minLength: 2, maxLength: 3 }) }),
    fc
      .record({
        part: tie("node"),
        bounds: fc.constantFrom([0, 1], [1, 3], [2, 2], [0, 9], [0, Infinity], [1, Infinity]),
      })
      .map(({ part, bounds: [least = 0, most = 0] }): Node => ({ kind: "repeat", part, least, most })),
  ) as fc.Arbitrary<Node>,
}));

test("a matcher never takes more steps than were counted", () => {
  let accepted = 0;
  const text = fc.string({ unit: fc.constantFrom("a", "b", ","), maxLength: 4, minLength: 1 });
  const texts = fc
    .tuple(text, fc.constantFrom(8, 16, 24))
    .map(([unit, length]) => unit.repeat(length).slice(0, length));
  fc.assert(
    fc.property(node, fc.array(texts, { minLength: 4, maxLength: 8 }), (expression, samples) => {
      const perCharacter = countUniqueSteps(`^${sourceOf(expression)}$`);
      if (perCharacter === undefined) return;
      if (sourceOf(expression).includes(",}")) accepted += 1;
      for (const sample of samples) {
        for (const each of [sample, `${sample}!`]) {
          const most = perCharacter * (each.length + 1);
          expect(countSteps(expression, each, most + 1)).toBeLessThanOrEqual(most);
        }
      }
    }),
    { numRuns: 400, seed: 20 },
  );
  expect(accepted).toBeGreaterThan(20);
});
