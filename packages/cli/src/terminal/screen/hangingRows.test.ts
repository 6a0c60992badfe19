import { expect, test } from "vitest";
import { hangingRows } from "./hangingRows.ts";

test.each([
  ["  /undo      put the files back", ["  /undo      put the files", "             back"], 27],
  ["fd641d41  2026-11-26 change: exactly", ["fd641d41  2026-11-26", "          change:", "          exactly"], 24],
  ["    indented words that go on", ["    indented words", "    that go on"], 20],
  ["Two sentences.  The gap is no column.", ["Two sentences.  The", "gap is no column."], 20],
  ["  a label that is too wide  text", ["  a label that is", "  too wide  text"], 20],
  ["fits", ["fits"], 4],
])("%j is wrapped below its text", (row, rows, columns) => {
  expect(hangingRows(row, columns)).toEqual(rows);
});

test("a wrapped row keeps its colour, and code goes on further to the right", () => {
  expect(hangingRows("\u001b[2m  one two three\u001b[22m", 10, 2)).toEqual([
    "\u001b[2m  \u001b[2mone",
    "    \u001b[2mtwo",
    "    \u001b[2mthree\u001b[22m",
  ]);
});
