import { invalidArgument } from "@toolcrib/core";
import { clip, dominantLineEnding } from "@toolcrib/core/text";
import { listLines } from "../edit/listLines.ts";
import { describeNearest } from "../edit/nearestLines.ts";
import type { Yield } from "../yieldToEventLoop.ts";
import { type Hunk, patchField } from "./parsePatch.ts";

interface Line {
  readonly text: string;
  readonly ending: string;
}

/** Places of a hunk that an error names. */
const mostPlaces = 10;

/**
 * A text with the hunks of a patch applied, in order. Lines must be exactly as the patch has them, and a hunk's place the only one after
 * the hunk before, or the first after its `@@` lines. What is not changed keeps its line endings. Throws (`invalid_arguments`), naming
 * the hunk by its line in the patch. `printed` names the file.
 */
export async function applyHunks(text: string, hunks: readonly Hunk[], printed: string, pause: Yield): Promise<string> {
  const lines = splitLines(text);
  const usual = lines[0]?.ending === undefined || lines[0].ending === "" ? "\n" : dominantLineEnding(text);
  const result: Line[] = [];
  let done = 0;
  for (const hunk of hunks) {
    const old = hunk.lines.filter(({ kind }) => kind !== "+").map((line) => line.text);
    const place = await findPlace(lines, done, hunk, old, printed, pause);
    for (let at = done; at < place; at += 1) result.push(lines[at] as Line);
    done = place;
    for (const { kind, text: added } of hunk.lines) {
      const near = lines[Math.min(done, lines.length - 1)]?.ending;
      if (kind === "+") result.push({ text: added, ending: near || usual });
      else {
        if (kind === " ") result.push(lines[done] as Line);
        done += 1;
      }
    }
  }
  for (let at = done; at < lines.length; at += 1) result.push(lines[at] as Line);
  // Whether the last line has an ending stays as it was.
  const lastEnding = lines.length === 0 ? usual : (lines.at(-1) as Line).ending;
  return result
    .map(
      (line, at) =>
        line.text + (at === result.length - 1 ? lastEnding && (line.ending || usual) : line.ending || usual),
    )
    .join("");
}

function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    const isCrlf = found > at && text[found - 1] === "\r";
    lines.push({ text: text.slice(at, isCrlf ? end - 1 : end), ending: found < 0 ? "" : isCrlf ? "\r\n" : "\n" });
    at = found < 0 ? text.length : found + 1;
  }
  return lines;
}

/** The first line from `from` on that fits; -1 for none. */
async function findLine(
  lines: readonly Line[],
  from: number,
  fits: (line: Line) => boolean,
  pause: Yield,
): Promise<number> {
  for (let at = from; at < lines.length; at += 1) {
    if (fits(lines[at] as Line)) return at;
    const waiting = pause();
    if (waiting !== undefined) await waiting;
  }
  return -1;
}

async function findPlace(
  lines: readonly Line[],
  from: number,
  hunk: Hunk,
  old: readonly string[],
  printed: string,
  pause: Yield,
): Promise<number> {
  const refuse = (reason: string): Error =>
    invalidArgument(patchField, `the hunk at line ${hunk.line} of the patch ${reason}`);
  let start = from;
  for (const [index, anchor] of hunk.anchors.entries()) {
    const nextAnchor = (first: number): Promise<number> =>
      findLine(lines, first, ({ text }) => text.trim() === anchor, pause);
    const found = await nextAnchor(start);
    const shown = clip(anchor, 80);
    if (found < 0) throw refuse(`has "@@ ${shown}", a line that ${printed} does not have after line ${start}`);
    const second = index === 0 ? await nextAnchor(found + 1) : -1;
    if (second >= 0) {
      throw refuse(
        `has "@@ ${shown}", which is at lines ${found + 1} and ${second + 1} of ${printed}; put the line above it in another @@ before`,
      );
    }
    start = found + 1;
  }
  if (old.length === 0) {
    if (hunk.atEnd) return lines.length;
    throw refuse("has only new lines; add a line of the file before or after them to say where they go");
  }
  const places: number[] = [];
  let count = 0;
  for (
    let at = hunk.atEnd ? Math.max(lines.length - old.length, start) : start;
    at + old.length <= lines.length;
    at += 1
  ) {
    if (old.every((text, offset) => lines[at + offset]?.text === text)) {
      count += 1;
      if (places.length < mostPlaces) places.push(at + 1);
      if (hunk.anchors.length > 0) break;
    }
    const waiting = pause();
    if (waiting !== undefined) await waiting;
  }
  if (count === 1) return (places[0] as number) - 1;
  if (count > 1) {
    const where = listLines(places, count - places.length);
    throw refuse(`fits ${printed} in ${count} places, at ${where}; add lines around it, or an @@ line before it`);
  }
  const after = start > 0 ? ` after line ${start}` : "";
  const rest = lines.map((line) => line.text).join("\n");
  const nearest = await describeNearest(rest, old.join("\n"), pause, "the patch");
  const words = `does not fit ${printed}${after}: give its lines exactly as they are`;
  throw refuse(nearest === undefined ? words : `${words}. ${nearest}`);
}
