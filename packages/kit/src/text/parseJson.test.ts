import { expect, test } from "vitest";
import { parseJson, withoutComments } from "./parseJson.ts";

const toError = (message: string): Error => new TypeError(message);

test("JSON is parsed", () => {
  expect(parseJson(' { "a": [1] } ', "it", toError)).toEqual({ a: [1] });
});

test.each([
  ['{"a" 1}', 'unexpected "1" at character 6, after {"a"'],
  ["{'a': 1}", 'unexpected "\'" at character 2, after {'],
  ['{"a": 1,}', 'unexpected "}" at character 9, after {"a": 1,'],
  ['{"a": tru}', 'unexpected "}" at character 10, after {"a": tru'],
  ['{"a": 1} x', 'unexpected "x" at character 10, after {"a": 1}'],
  ['{"a": "\n"}', 'unexpected "\\n" at character 8, after {"a": "'],
  ["x", 'unexpected "x" at character 1'],
  ["at position 99", 'unexpected "a" at character 1'],
  ['["at position 99", x]', 'unexpected "x" at character 20, after ["at position 99",'],
  ['{"a": 1', 'it ends too early, after {"a": 1'],
  ['{"a": "b', 'it ends too early, after {"a": "b'],
  ['{"end of JSON": x}', 'unexpected "x" at character 17, after {"end of JSON":'],
  ['{"a":', 'it ends too early, after {"a":'],
  [`{"a": "${"x".repeat(100_000)}" ?}`, 'unexpected "?" at character 100010, after …'],
  [`["😀${"x".repeat(39)}`, `it ends too early, after …${"x".repeat(39)}`],
])("%.20s… is refused with the place of the first error", (text, says) => {
  expect(() => parseJson(text, "it", toError)).toThrow(`it is not valid JSON: ${says}`);
});

test.each([
  ['{ // "a"\r\n "a": 1 }', '{       \r\n "a": 1 }'],
  ['{ /* "\n */ "a": "/* // \\" */" }', '{     \n    "a": "/* // \\" */" }'],
  ["[1] /* x", "[1] /* x"],
  ["[1] /*/ x", "[1] /*/ x"],
  ["[1] / x", "[1] / x"],
  ['["open // x\n]', '["open     \n]'],
])("of %j only whole comments outside of strings become blanks", (text, plain) => {
  expect(withoutComments(text)).toBe(plain);
});

test("a string and a comment of a megabyte are no trouble", () => {
  const long = "x\\\\".repeat(350_000);
  expect(withoutComments(`["${long}"]`)).toBe(`["${long}"]`);
  expect(withoutComments(`["${long}`)).toBe(`["${long}`);
  expect(withoutComments(`[/*${long}*/]`).trim()).toBe(`[${" ".repeat(long.length + 4)}]`);
});
