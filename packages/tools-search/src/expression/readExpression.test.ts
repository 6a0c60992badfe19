import { describe, expect, test, vi } from "vitest";
import { readExpression } from "./readExpression.ts";

describe("syntax of another engine is never read as something else in silence", () => {
  test.each([
    ["[[:digit:]]+px", "[0-9]+px"],
    ["[[:alpha:]_]+\\(", "[A-Za-z_]+\\("],
    ["[^[:space:]]", "[^\\t-\\r ]"],
    ["[[:^digit:]]", "[\\u0000-\\/:-\\u{10ffff}]"],
    ["\\<word\\>", "(?:\\b(?=\\w))word(?:\\b(?<=\\w))"],
    ["\\b{start-half}x", "(?:(?<!\\w))x"],
    ["\\Afoo\\Z\\z", "^foo$$"],
    ["\\Qa.b*\\E+", "a\\.b\\*+"],
    ["\\N\\K\\e\\a", ".\\u001b\\u0007"],
    ["(?s:.)", "(?:.)"],
    ["(?i:aB[c-e1])", "(?:[aA][Bb][c-eC-E1])"],
    ["x(?i)y|z", "x[yY]|[zZ]"],
    ["(?i:\u00df\u0131[\u00df]\u00e9)", "(?:\u00df\u0131[\u00df][\u00e9\u00c9])"],
    ["(?U)a+", "a+"],
    ["(?P<q>['\"])x(?P=q)", "(?<q>['\"])x(?:\\k<q>)"],
    ["(a)\\g{-1}\\g1", "(a)(?:\\1)(?:\\1)"],
    ["\\x{41}\\U0001F600\\o{101}\\cI", "A\u{1f600}A\\t"],
    ["\\p{Greek}\\pL\\p{^Lu}", "\\p{Script=Greek}\\p{L}\\P{Lu}"],
    ["(?#why)a(?#x)+", "a+"],
    ["a{,3}", "a{0,3}"],
    ["f {", "f \\{"],
    ["]}{x}", "\\]\\}\\{x\\}"],
    ["\\-\\\"\\'\\@", "-\"'@"],
    ["[]x][^^]", "[\\]x][^\\^]"],
    ["[\\w-.]", "[\\w\\-\\.]"],
    ["[[]()]", "[\\[]()\\]"],
    ["[\\uD83D\\uDE00]", "[\u{1f600}]"],
    ["[^]", "."],
  ])("%s is translated", (given, expected) => {
    expect(readExpression(given, true).source).toBe(expected);
  });

  // What ripgrep 15 finds of these characters, without and with -i.
  test.each([
    ["[[:^upper:]]", "a1z_\u017f\u212a\u00e9g", "1_\u00e9"],
    ["[[:^lower:]]", "A1Z_\u017f\u212a\u00e9", "1_\u00e9"],
    ["[[:^upper:]a]", "a1z_\u017f\u212a\u00e9g", "Aa1_\u00e9"],
    ["[^[:^upper:]]", "AZ", "AaZz\u017f\u212ag"],
    ["(?i:[[:^lower:]])", "1_\u00e9", "1_\u00e9"],
    ["[[:^punct:]]", "Aa1Zz\u017f\u212a\u00e9g", "Aa1Zz\u017f\u212a\u00e9g"],
    ["[[:^xdigit:]]", "Zz_\u017f\u212a\u00e9g", "Zz_\u017f\u212a\u00e9g"],
  ])("%s leaves a class out in each case of its letters", (expression, exactly, inAnyCase) => {
    const found = [true, false].map((isCaseSensitive) => {
      const { source } = readExpression(expression, isCaseSensitive);
      const matcher = new RegExp(source, isCaseSensitive ? "u" : "iu");
      return [..."Aa1Zz_\u017f\u212a\u00e9g"].filter((char) => matcher.test(char)).join("");
    });
    expect(found).toEqual([exactly, inAnyCase]);
  });

  test("(?i) at the start asks for any case, and within is undone by nothing", () => {
    expect(readExpression("(?i)a(?i:b)", true)).toEqual({ source: "a(?:b)", ignoresCase: true });
    expect(() => readExpression("(?-i:a)", false)).toThrow("pass case_sensitive=true");
  });

  test.each([
    ["x++", "possessive"],
    ["x{2}+", "write {2}"],
    ["a**", "repeats a repetition"],
    ["(?>a)", "an atomic group, which is not supported; write (?:…)"],
    ["(?x) a", "spaces are part of the expression"],
    ["(?1)(a)", "a recursion"],
    ["(*UTF)a", "a verb of PCRE"],
    ["(?|(a)|(b))", "numbers its alternatives anew"],
    ["[:digit:]", "write [[:digit:]]"],
    ["[[:foo:]]", "no class of characters"],
    ["[[:constructor:]]", "no class of characters"],
    ["\\b{constructor}", "no place that is known"],
    ["[a-z&&[aeiou]]", "an operation on sets"],
    ["[a--b]", "an operation on sets"],
    ["[[a-c][x]]", "write \\[ for the character"],
    ["[^]x]", "begins a set in other engines"],
    ["[]", "it never matches"],
    ["\\y", "write y for the letter"],
    ["[\\B]", "within [ ]"],
    ["\\012", "an octal number"],
    ["\\x4", "needs the number of a character"],
    ["\\R", "each line is matched alone"],
    ["\\p{foo}", "no property of characters"],
    ["(a)?\\1", "may take no part in a match"],
    ["(?:(a)|b)\\1", "may take no part in a match"],
    ["(a*)+\\1", "may take no part in a match"],
    ["\\1(a)", "stands before the end"],
    ["(?i:(a)\\1)", "around a reference"],
    ["(", "Unterminated group"],
    ["a{2,1}", "numbers out of order"],
  ])("%s is refused in words", (given, words) => {
    expect(() => readExpression(given, true)).toThrow(words);
  });

  test.each(["[", "[a", "[[", "[^[", "[]", "[a]", "[[a]", "[[.", "(?#", "(?<a", "(?'a", "\\Q", "\\p{"])(
    "%s, however often, is read in steps that its length bounds",
    (part) => {
      const steps = vi.spyOn(RegExp.prototype, "exec");
      try {
        readExpression(part.repeat(500), true);
      } catch {}
      expect(steps.mock.calls.length).toBeLessThan(500 * 100);
      steps.mockRestore();
    },
  );

  test.each(["(a|b)\\1", "a|(b)\\1", "((a)b)\\2\\1", "(?=(a))\\1", "(?:(a)x)+\\1"])(
    "a reference to a group that always takes part stays: %s",
    (given) => {
      expect(() => readExpression(given, true)).not.toThrow();
    },
  );
});
