import { expect, test } from "vitest";
import { readBare, readQuoted } from "./text.ts";

const continued = "A word in it is continued on another line.";
const expansion = "An expansion in it could not be read.";
const unread = "A word in it could not be read.";
const tilde = "It has a path from a home folder (~).";
const braces = "It has a list in braces, which sh and bash read differently.";

test.each<[string, string]>([
  ["ls", "ls"],
  ["a\\ b\\;\\$x\\*\\~\\{\\\\", "a b;$x*~{\\"],
  ["a#b", "a#b"],
  ["a~b~", "a~b~"],
  ["a$", "a$"],
  ["a$.b$%c$,", "a$.b$%c$,"],
  ["{}", "{}"],
  ["@{1}", "@{1}"],
  ["a,b", "a,b"],
  ["a..b", "a..b"],
  ["[", "["],
  ["]a[", "]a["],
  ["a=b:c", "a=b:c"],
  ["^!%+@", "^!%+@"],
])("the text %j outside quotes is %j", (text, value) => {
  expect(readBare(text, true, "")).toEqual({ value, pattern: false, problem: undefined });
});

test.each(["*", "a?b", "[a]", "a[", "\\a*"])("%j is a file pattern", (text) => {
  expect(readBare(text, true, text === "a[" ? '"x"]' : "")).toMatchObject({ pattern: true, problem: undefined });
});

test.each<[string, string]>([
  ...[..." \t\n;&|<>()'\"`"].map((character): [string, string] => [`a${character}b`, unread]),
  ["#a", unread],
  ["a\\", continued],
  ["a\\\nb", continued],
  ...[..."aZ0_@*#?$!({['\"\\`-"].map((character): [string, string] => [`$${character}`, expansion]),
  ["~", tilde],
  ["~/a", tilde],
  ["a=~", tilde],
  ["a:~", tilde],
  ["{a,b}", braces],
  ["{1..2}", braces],
])("%j outside quotes is not read: %s", (text, problem) => {
  expect(readBare(text, true, "").problem).toBe(problem);
});

test("what text means depends on where it stands in its word", () => {
  expect(readBare("#a", false, "").problem).toBeUndefined();
  expect(readBare("~", false, "").problem).toBeUndefined();
  expect(readBare("{", true, '"a",b}').problem).toBe(braces);
  expect(readBare("{", true, '"a"..b}').problem).toBe(braces);
  expect(readBare("a,b{", true, "}").problem).toBeUndefined();
  expect(readBare("; $x", true, "").problem).toBe(unread);
  expect(readBare("$x ;", true, "").problem).toBe(expansion);
});

test.each<[string, string]>([
  ["a b;'c'*~{a,b}#", "a b;'c'*~{a,b}#"],
  ['\\$x\\`a\\"\\\\', '$x`a"\\'],
  ["\\a\\'", "\\a\\'"],
  ["a$", "a$"],
  ["a$'b'", "a$'b'"],
  ["a$\\$b", "a$$b"],
  ["a$.b", "a$.b"],
  ["\\", "\\"],
])("the text %j in double quotes is %j", (text, value) => {
  expect(readQuoted(text)).toEqual({ value, pattern: false, problem: undefined });
});

test.each<[string, string]>([
  ["`", expansion],
  ["$x", expansion],
  ["${", expansion],
  ["$(", expansion],
  ["$[", expansion],
  ["$1", expansion],
  ["$?", expansion],
  ['a"b', expansion],
  ["a\\\nb", continued],
])("%j in double quotes is not read: %s", (text, problem) => {
  expect(readQuoted(text).problem).toBe(problem);
});

test("in a here-document a double quote is plain text", () => {
  expect(readQuoted('a"b\\"\\$', true)).toEqual({ value: 'a"b\\"$', pattern: false, problem: undefined });
  expect(readQuoted('a$"b', true)).toEqual({ value: 'a$"b', pattern: false, problem: undefined });
  expect(readQuoted("$x", true).problem).toBe(expansion);
  expect(readQuoted("a\\\nb", true).problem).toBe(continued);
});
