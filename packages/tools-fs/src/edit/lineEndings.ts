import type { Match } from "./findMatches.ts";

/** Lines that an edit adds and removes, up to which its lines are compared one by one. */
const mostChanges = 1000;

/**
 * Returns a function that gives the new text for a match, with the line endings of the file: where it has both, those of the lines that the
 * edit keeps or replaces, and for a further line that of the line before. Matches must be given in order.
 */
export async function lineEndingsOf(text: string, oldText: string, newText: string): Promise<(match: Match) => string> {
  if (!newText.includes("\n")) return () => newText;
  const lines = newText.split(/\r?\n/);
  const hasCrlf = text.includes("\r\n");
  if (!hasCrlf || !/(?<!\r)\n/.test(text)) {
    const ending = hasCrlf ? "\r\n" : "\n";
    const adapted = text.includes("\n") ? lines.join(ending) : newText;
    return () => adapted;
  }
  const sources = await sourcesOf(oldText.split(/\r?\n/), lines);
  const last = text.lastIndexOf("\n");
  let next = -1;
  return ({ start, end }) => {
    const endings: string[] = text.slice(start, end).match(/\r?\n/g) ?? [];
    // The last line ends behind the match; the last of the text as the one before.
    if (next < end && next < last) next = text.indexOf("\n", end);
    if (next < 0) next = last;
    endings.push(text[next - 1] === "\r" ? "\r\n" : "\n");
    return lines.map((line, index) => line + (index < lines.length - 1 ? endings[sources[index] ?? 0] : "")).join("");
  };
}

/** Returns for each new line the old line whose ending it takes. */
async function sourcesOf(oldLines: readonly string[], newLines: readonly string[]): Promise<number[]> {
  const { diffArrays } = await import("diff");
  const changes = Math.min(oldLines.length + newLines.length, mostChanges);
  const parts = diffArrays([...oldLines], [...newLines], { maxEditLength: changes }) ?? [
    { removed: true, added: false, count: oldLines.length },
    { removed: false, added: true, count: newLines.length },
  ];
  const sources: number[] = [];
  let done = 0;
  let firstRemoved = 0;
  for (const { added, removed, count: length } of parts) {
    if (removed) done += length;
    else {
      for (let at = 0; at < length; at += 1)
        sources.push(added ? Math.max(Math.min(firstRemoved + at, done - 1), 0) : done + at);
      if (!added) done += length;
      firstRemoved = done;
    }
  }
  return sources;
}
