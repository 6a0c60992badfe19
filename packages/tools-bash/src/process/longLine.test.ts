import { expect, test } from "vitest";
import { OutputCleaner } from "./outputCleaner.ts";

function cleaned(chunks: readonly Uint8Array[]): string {
  let text = "";
  const cleaner = new OutputCleaner((piece) => {
    text += Buffer.from(piece as string).toString();
  });
  for (const chunk of chunks) cleaner.push(chunk);
  cleaner.flush();
  return text;
}

test.each([
  ["", 5000],
  ["\u00e9", 5000],
  ["\u00e9".repeat(1023), 4000],
  ["ab\b", 3000],
  ["\x1b]0;", 3000],
  ["\x1b[3", 3000],
  ["😀".repeat(600), 2049],
])("a long line behind %j is the same in one piece, in several and byte by byte", (before, length) => {
  const line = Array.from({ length }, (_, at) => String.fromCharCode(97 + (at % 26))).join("");
  const all = Buffer.from(`${before}${line}\rXY\n${before}`);
  const start = Buffer.byteLength(before);
  const each = cleaned([...all].map((byte) => Uint8Array.of(byte)));
  expect(cleaned([all])).toBe(each);
  for (const cut of [start - 1, start, start + length]) {
    if (cut < 0) continue;
    expect(cleaned([all.subarray(0, cut), all.subarray(cut, start + length), all.subarray(start + length)])).toBe(each);
  }
});
