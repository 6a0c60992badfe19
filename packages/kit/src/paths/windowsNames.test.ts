import { describe, expect, test } from "vitest";
import { windowsTrap } from "./windowsNames.ts";

describe("what Windows takes for something else is told in words", () => {
  test.each([
    [
      "a device",
      /names a device of Windows/,
      "con|CON|nul|NUL.txt|aux.tar.gz|prn|com1|com0|COM9.log|lpt1|LPT9|com\u00b9|lpt\u00b2.txt|conin$|CONOUT$|clock$|nul |nul .txt|a/con|a\\b\\nul.c|C:\\x\\aux|con:|nul::$DATA",
    ],
    [
      "a stream",
      /names a stream inside a file/,
      "a.txt:ads|a.txt::$DATA|:x|sub/.git::$INDEX_ALLOCATION|C:\\x\\a:b|.env::$DATA",
    ],
    [
      "an end that is left out",
      /ends a name in a dot or space/,
      "a.|a |a. .|.env.|.env |sub./x|sub \\x|...|C:\\x.\\y|.git /config",
    ],
    ["a forbidden character", /allows in no name/, 'a<b|a>b|a"b|a?b|a*b|a\u0001b|sub*/x'],
    [
      "a device path",
      /\\\\\?\\/,
      "\\\\?\\C:\\x|\\\\.\\pipe\\x|\\??\\C:\\x|//?/C:/x|//./PhysicalDrive0|\\\\.\\|\\\\?|\\\\?\\UNC\\server\\share\\x",
    ],
    ["a path relative to a drive", /relative to a directory of the drive/, "C:|C:x|c:sub\\x|Z:..\\x|C:.|d:con"],
  ])("%s", (_, words, paths) => {
    for (const path of paths.split("|")) expect(windowsTrap(path), path).toMatch(words);
  });

  test("a bar is a forbidden character too", () => {
    expect(windowsTrap("a|b")).toMatch(/allows in no name/);
  });
});

test("what Windows takes as it is written is let through", () => {
  const paths =
    "a|a.txt|.env|..|.|../x|sub/..|sub/|sub\\|sub/.|console|con1|com|com10|lpt|null|auxiliary.c|C:\\|C:\\x\\y.txt|c:/x|\\x|/x|\\\\server\\share\\x|PROGRA~1|a b|a.b.c|#x|é|日本|a'b|[x]|{a,b}|~|a~|$x|%TEMP%|x$";
  for (const path of paths.split("|")) expect(windowsTrap(path), path).toBeUndefined();
});
