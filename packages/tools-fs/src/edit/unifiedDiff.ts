import { withNotice } from "@toolcrib/core/text";

/** Milliseconds after which the diff is left out: its cost grows with the square of the number of changes. */
const longestDiff = 500;

/** Lines above which the diff is left out: it holds every line of both texts. */
const mostLines = 500_000;

/** Returns a diff with three lines of context, cut to whole lines at `maxBytes`; line endings are shown as `\n`. */
export async function unifiedDiff(
  printedPath: string,
  before: string,
  after: string,
  maxBytes: number,
): Promise<string> {
  if (hasMoreLines(before) || hasMoreLines(after)) return `Edited ${printedPath} (too many lines to show the changes)`;
  // Loaded here because only edits need it.
  const { createTwoFilesPatch, OMIT_HEADERS } = await import("diff");
  const options = { context: 3, timeout: longestDiff, headerOptions: OMIT_HEADERS };
  const plain = (text: string): string => text.replaceAll("\r\n", "\n");
  const hunks = createTwoFilesPatch("", "", plain(before), plain(after), undefined, undefined, options);
  if (hunks === undefined) return `Edited ${printedPath} (too many changes to show)`;
  // Not by the library: it would quote a second time a name that is already printed as a JSON string.
  const patch = `--- ${printedPath}\n+++ ${printedPath}\n${hunks}`;
  const bytes = Buffer.from(patch);
  if (bytes.length <= maxBytes) return patch;
  const shown = bytes.toString("utf8", 0, bytes.lastIndexOf(10, maxBytes - 1) + 1);
  const count = (lines: string): number => lines.split("\n").length - 1;
  return withNotice(shown, { shown: count(shown), total: count(patch), unit: "lines" });
}

function hasMoreLines(text: string): boolean {
  if (text.length <= mostLines) return false;
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0 && lines <= mostLines; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines > mostLines;
}
