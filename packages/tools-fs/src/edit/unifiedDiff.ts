import { withNotice } from "@toolcrib/core/text";

/** A diff that takes longer is left out, in milliseconds: its cost grows with the square of what changed. */
const longestDiff = 500;

/** The changed lines with three around them, cut after `maxBytes`; line endings are shown as `\n`. */
export async function unifiedDiff(
  printedPath: string,
  before: string,
  after: string,
  maxBytes: number,
): Promise<string> {
  // Only edits need it.
  const { createTwoFilesPatch, OMIT_HEADERS } = await import("diff");
  const options = { context: 3, timeout: longestDiff, headerOptions: OMIT_HEADERS };
  const plain = (text: string): string => text.replaceAll("\r\n", "\n");
  const hunks = createTwoFilesPatch("", "", plain(before), plain(after), undefined, undefined, options);
  if (hunks === undefined) return `Edited ${printedPath} (too many changes to show)`;
  // The library would quote a name that is printed as JSON once more.
  const patch = `--- ${printedPath}\n+++ ${printedPath}\n${hunks}`;
  const bytes = Buffer.from(patch);
  if (bytes.length <= maxBytes) return patch;
  const shown = bytes.toString("utf8", 0, bytes.lastIndexOf(10, maxBytes - 1) + 1);
  const count = (lines: string): number => lines.split("\n").length - 1;
  return withNotice(shown, { shown: count(shown), total: count(patch), unit: "lines" });
}
