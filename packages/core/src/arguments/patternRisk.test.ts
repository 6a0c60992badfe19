import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { patternSteps } from "./patternRisk.ts";

/** What the calling thread takes on; see `validationCost.ts`. */
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
