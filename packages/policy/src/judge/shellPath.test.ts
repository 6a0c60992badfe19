import { posix, win32 } from "node:path";
import { expect, test } from "vitest";
import { shellPath } from "./folders.ts";

test.each([
  ["/c/secret/x", "C:\\secret\\x"],
  ["/C", "C:\\"],
  ["/d/x", "D:\\x"],
  ["src/../a", "C:\\work\\a"],
  ["c:/secret", "C:\\secret"],
  ["/cd/x", "C:\\cd\\x"],
  ["//server/share/x", "\\\\server\\share\\x"],
])("the sh of Windows means %s as %s", (word, path) => {
  expect(shellPath("C:\\work", word, win32).toLowerCase()).toBe(path.toLowerCase());
});

test("elsewhere a folder of one letter is a folder", () => {
  expect(shellPath("/work", "/c/secret", posix)).toBe("/c/secret");
});
