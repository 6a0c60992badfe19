import { expect, test } from "vitest";
import { withoutComments } from "./parseJson.ts";

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
