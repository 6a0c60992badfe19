import { expect, test } from "vitest";
import { parseToolArguments } from "./toolsCall.ts";

const parameters = {
  type: "object",
  properties: {
    path: { type: "string" },
    paths: { type: "array", items: { type: "string" } },
    limit: { type: "integer" },
    regex: { type: "boolean" },
    case_sensitive: { type: "boolean" },
    "dash-ed": { type: "string" },
  },
};

test.each([
  [[], {}],
  [["--path", "a b"], { path: "a b" }],
  [["--path=a=b"], { path: "a=b" }],
  [["--path", ""], { path: "" }],
  [["--path=--odd"], { path: "--odd" }],
  [["--limit", "-5"], { limit: "-5" }],
  [["--regex", "--path", "a"], { regex: "true", path: "a" }],
  [["--regex", "false", "--path", "a"], { regex: "false", path: "a" }],
  [["--case-sensitive=FALSE"], { case_sensitive: "FALSE" }],
  [["--dash-ed", "x"], { "dash-ed": "x" }],
  [["--paths", "a"], { paths: ["a"] }],
  [["--paths", "a", "b", "--path", "c"], { paths: ["a", "b"], path: "c" }],
  [["--paths", "a", "--paths", "b", "c"], { paths: ["a", "b", "c"] }],
  [["--paths=a", "--paths=b"], { paths: ["a", "b"] }],
  [["--paths", '["a","b"]'], { paths: '["a","b"]' }],
  [["--unknown", "x"], { unknown: "x" }],
  [["--unknown"], { unknown: "true" }],
  [["--constructor", "x"], { constructor: "x" }],
])("%j", (words, args) => {
  expect(parseToolArguments(words, "t", parameters)).toEqual(args);
});

test("an argument named __proto__ is an argument", () => {
  const args = parseToolArguments(["--__proto__", "x"], "t", parameters);
  expect(Object.keys(args)).toEqual(["__proto__"]);
  expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
});

test.each([
  [["a"], /unexpected "a": pass arguments of t as --name value \(--path, --paths/],
  [["--path"], /--path needs a value/],
  [["--limit", "--path", "a"], /--limit needs a value; write --limit=VALUE/],
  [["--path", "a", "b"], /unexpected "b"/],
  [["--path", "a", "--path=b"], /--path is given twice/],
])("%j is refused", (words, says) => {
  expect(() => parseToolArguments(words, "t", parameters)).toThrow(says);
});
