import { expect, test } from "vitest";
import { withoutValue, withValue } from "./editText.ts";

test.each([
  [`{ "a": 1 }`, `{  }`],
  [`{ "a": 1, "b": 2 }`, `{  "b": 2 }`],
  [`{ "b": 2, "a": 1 }`, `{ "b": 2  }`],
  [`{\n  // one\n  "a": 1, // two\n  "b": 2\n}\n`, `{\n  // one\n   // two\n  "b": 2\n}\n`],
  [`{\n  "b": 2, // a, b\n  "a": [\n    1\n  ]\n}\n`, `{\n  "b": 2 // a, b\n}\n`],
  [`{\r\n\t"b": 2,\r\n\t"a": 1, /* , */\r\n}`, `{\r\n\t"b": 2,\r\n\t /* , */\r\n}`],
  [`\ufeff{\n\t"a": 1 /* , */ ,\n\t"b": 2\n}`, `\ufeff{\n\t /* , */ \n\t"b": 2\n}`],
  [`{ "b": { "a": 1 } }`, `{ "b": { "a": 1 } }`],
])("a value taken out of %j", (before, after) => {
  expect(withoutValue(before, ["a"])).toBe(after);
});

test.each([
  ["{\n}\n", `{\n  "a": 1\n}\n`],
  [`{}`, `{\n  "a": 1\n}`],
  [`{ "b": 2 }`, `{ "b": 2,\n  "a": 1\n}`],
  [`{\r\n\t"b": 2, // two\r\n\t/* end */\r\n}`, `{\r\n\t"b": 2, // two\r\n\t/* end */\r\n\t"a": 1\r\n}`],
  [`{\n  // nothing yet\n}`, `{\n  // nothing yet\n  "a": 1\n}`],
  [`{ "a": { "x": 2 } /* so */ }`, `{ "a": 1 /* so */ }`],
])("a value set in %j", (before, after) => {
  expect(withValue(before, ["a"], 1)).toBe(after);
});

test("a value inside another is set where it belongs", () => {
  expect(withValue("{}", ["a", "b"], 1)).toBe(`{\n  "a": {"b":1}\n}`);
  expect(withValue(`{\n  "a": {\n    "c": 2\n  }\n}`, ["a", "b"], 1)).toBe(
    `{\n  "a": {\n    "c": 2,\n    "b": 1\n  }\n}`,
  );
});

test("a value that has lines of its own is indented as the text is, also where it replaces another", () => {
  const text = `{\r\n\t"a": {\r\n\t\t"b": 1 // one\r\n\t}\r\n}`;
  const lines = `{\r\n\t\t\t"x": [\r\n\t\t\t\t1\r\n\t\t\t]\r\n\t\t}`;
  expect(withValue(text, ["a", "b"], { x: [1] }, true)).toBe(text.replace("1 //", `${lines} //`));
  expect(withValue(text, ["a", "c"], { x: [1] }, true)).toBe(
    text.replace("1 // one", `1, // one\r\n\t\t"c": ${lines}`),
  );
});
