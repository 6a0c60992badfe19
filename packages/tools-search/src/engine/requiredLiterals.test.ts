import { describe, expect, test } from "vitest";
import { requiredLiterals } from "./requiredLiterals.ts";

describe("the literals that a regular expression requires", () => {
  test.each([
    ["foo", ["foo"]],
    ["foo.bar_long", ["bar_long"]],
    ["\\bfoo\\b", ["foo"]],
    ["^foo$", ["foo"]],
    ["fo+x", ["fo"]],
    ["foo?", ["fo"]],
    ["fo*", ["f"]],
    ["fo{0,3}", ["f"]],
    ["fo{2}bar", ["bar"]],
    ["(?:foo|bar)x", ["foo", "bar"]],
    ["(foo|b)x", ["foo", "b"]],
    ["(foo)?x", ["x"]],
    ["foo|bar", ["foo", "bar"]],
    ["a\\.b", ["a.b"]],
    ["[abc]", undefined],
    ["\\w+", undefined],
    ["foo|\\d", undefined],
    ["(?<name>foo)", ["foo"]],
    ["😀?x", ["x"]],
    ["a\\\\b", ["a\\b"]],
  ])("%s", (source, expected) => {
    expect(requiredLiterals(source)).toEqual(expected);
  });

  test.each([
    "(?=foo)x",
    "(?!foo)",
    "(?i:foo)",
    "\\x41foo",
    "\\u{41}foo",
    "\\1foo",
    "\\9foo",
    "\\060foo",
    "foo)",
    "\\p{L}foo",
  ])("an expression that cannot be parsed requires no literal: %s", (source) => {
    expect(requiredLiterals(source)).toBeUndefined();
  });
});
