import { expect, test } from "vitest";
import { showDiff } from "./question.ts";
import { createStyle } from "./style.ts";

test("a diff shows a blank line of the context as blank, and spaces that the file has as codes", () => {
  const diff = "--- a\n+++ a\n@@ -1,3 +1,3 @@\n \n-old \n+new\n+  \n";
  const { whole } = showDiff(diff, { columns: 80, rows: 24 }, createStyle(false));
  expect(whole.slice(3).map((row) => row.trimEnd())).toEqual(["", "  -old<U+0020>", "  +new", "  +<U+0020><U+0020>"]);
});
