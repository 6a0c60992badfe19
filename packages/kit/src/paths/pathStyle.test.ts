import { posix, win32 } from "node:path";
import { expect, test } from "vitest";
import { absoluteFrom, isOnOtherShare, takeApart, withSlashes } from "./pathStyle.ts";

test.each([
  ["posix", "a/b", "/here/a/b"],
  ["posix", "link/../a", "/here/link/../a"],
  ["posix", "a/", "/here/a/"],
  ["posix", "/x/./y", "/x/./y"],
  ["posix", "a\\b", "/here/a\\b"],
  ["win32", "a/b", "C:\\here\\a\\b"],
  ["win32", "..\\a", "C:\\a"],
  ["win32", "D:/x", "D:\\x"],
  ["win32", "a.b", "C:\\here\\a.b"],
  ["win32", "a/.b", "C:\\here\\a\\.b"],
  ["win32", "a\\", "C:\\here\\a\\"],
  ["win32", "a/", "C:\\here\\a\\"],
  ["win32", "a/.", "C:\\here\\a\\"],
])("%s: %s becomes absolute and keeps an end that asks for the directory", (style, given, expected) => {
  const here = style === "posix" ? "/here" : "C:\\here";
  expect(absoluteFrom(() => here, given, style === "posix" ? posix : win32)).toBe(expected);
});

test("names are joined by slashes; on POSIX a backslash is a letter", () => {
  expect(withSlashes("a\\b\\c", win32)).toBe("a/b/c");
  expect(withSlashes("a/b\\c", posix)).toBe("a/b\\c");
});

test("a path is taken apart into its root and its names, the last first", () => {
  expect(takeApart("/a/../b/", posix)).toEqual({ root: "/", names: ["", "b", "..", "a"] });
  expect(takeApart("a/b", posix)).toEqual({ root: "", names: ["b", "a"] });
  expect(takeApart("C:\\a\\b", win32)).toEqual({ root: "C:\\", names: ["b", "a"] });
});

test("a target of a link on Windows is taken apart at both slashes", () => {
  expect(takeApart("a/..\\b", win32)).toEqual({ root: "", names: ["b", "..", "a"] });
  expect(takeApart("\\a/b", win32)).toEqual({ root: "\\", names: ["b", "a"] });
});

test.each([
  ["\\\\other\\share\\x", true],
  ["//other/share/x", true],
  ["\\\\server\\other\\x", true],
  ["\\\\?\\UNC\\server\\share\\x", true],
  ["//SERVER/share/x", false],
  ["C:\\x", false],
  ["D:\\x", false],
  ["", false],
])("%s is on another share: %s", (given, expected) => {
  expect(isOnOtherShare(given, ["C:\\work", "\\\\server\\share\\work"], win32)).toBe(expected);
  expect(isOnOtherShare(given, ["C:\\work"], posix)).toBe(false);
});
