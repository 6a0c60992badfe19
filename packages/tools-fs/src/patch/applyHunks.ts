import { invalidArgument } from "@toolcrib/core";
import { clip } from "@toolcrib/core/text";
import { dominantLineEnding } from "@toolcrib/kit/text";
import { describeNearest, listLines } from "../edit/nearestLines.ts";
import type { Yield } from "../yieldToEventLoop.ts";
import { type Hunk, type HunkLine, patchField } from "./parsePatch.ts";

interface Line {
  readonly text: string;
  readonly ending: string;
}

/** Places of a hunk that an error names. */
const mostPlaces = 10;

/**
 * Returns a text with the hunks of a patch applied, in order. Lines must be exactly as the patch has them, and a hunk's place the only one after
 * the hunk before, or the first after its `@@` lines. What is not changed keeps its line endings. Throws (`invalid_arguments`), naming
 * the hunk by its line in the patch. `printed` names the file.
 */
export async function applyHunks(text: string, hunks: readonly Hunk[], printed: string, pause: Yield): Promise<string> {
  const lines = splitLines(text);
  const usual = lines[0]?.ending === undefined || lines[0].ending === "" ? "\n" : dominantLineEnding(text);
  const result: Line[] = [];
  let done = 0;
  for (const hunk of hunks) {
    const { place, hunkLines } = await findPlace(lines, done, hunk, printed, pause);
    for (const line of lines.slice(done, place)) result.push(line);
    done = place;
    let replaced: string[] = [];
    for (const { kind, text: added } of hunkLines) {
      const near = lines[Math.min(done, lines.length - 1)]?.ending;
      if (kind === "+") {
        // The last one stays, for further lines.
        const ending = replaced.length > 1 ? replaced.shift() : replaced[0];
        result.push({ text: added, ending: ending || near || usual });
        continue;
      }
      const line = lines[done] as Line;
      if (kind === " ") {
        result.push(line);
        replaced = [];
      } else replaced.push(line.ending);
      done += 1;
    }
  }
  for (const line of lines.slice(done)) result.push(line);
  // The last line keeps its ending, or the lack of one.
  const lastEnding = lines.at(-1)?.ending ?? usual;
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

/** Returns the first line from `from` on that fits; -1 for none. */
async function findLine(
  lines: readonly Line[],
  from: number,
  fits: (line: Line) => boolean,
  pause: Yield,
): Promise<number> {
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at];
    if (line && fits(line)) return at;
    const waiting = pause();
    if (waiting !== undefined) await waiting;
  }
  return -1;
}

interface Place {
  readonly place: number;
  /** The lines of the hunk, without those that are only empty in the patch. */
  readonly hunkLines: readonly HunkLine[];
}

async function findPlace(
  lines: readonly Line[],
  from: number,
  hunk: Hunk,
  printed: string,
  pause: Yield,
): Promise<Place> {
  const refuse = (reason: string): Error =>
    invalidArgument(patchField, `the hunk at line ${hunk.line} of the patch ${reason}`);
  const start = await findAnchors(lines, from, hunk, printed, pause, refuse);
  const { lines: all, blanks, atEnd } = hunk;
  const isNew = all.slice(0, all.length - blanks).every(({ kind }) => kind === "+");
  if (isNew) {
    // An empty line alone says nothing about the place.
    if (atEnd) return { place: lines.length, hunkLines: all.slice(0, all.length - blanks) };
    throw refuse("has only new lines; add a line of the file before or after them to say where they go");
  }
  // Empty lines at the end are looked for first: all, one, none.
  for (const kept of new Set([blanks, Math.min(blanks, 1), 0])) {
    const hunkLines = all.slice(0, all.length - blanks + kept);
    const old = oldLines(hunkLines);
    const first = atEnd ? Math.max(lines.length - old.length, start) : start;
    const { places, count } = await findAll(lines, first, old, hunk.anchors.length > 0, pause);
    const [place] = places;
    if (count === 1 && place !== undefined) return { place, hunkLines };
    if (count === 0) continue;
    const where = listLines(
      places.map((place) => place + 1),
      count - places.length,
    );
    throw refuse(`fits ${printed} in ${count} places, at ${where}; add lines around it, or an @@ line before it`);
  }
  const old = oldLines(all.slice(0, all.length - blanks));
  const [elsewhere] = (await findAll(lines, 0, old, true, pause)).places;
  const after = start > 0 ? ` after line ${start}` : "";
  if (elsewhere !== undefined) {
    const advice =
      elsewhere < start
        ? "give hunks in the order of the file"
        : "leave out *** End of File, or give the lines before it";
    throw refuse(
      `does not fit ${printed}${atEnd ? " at its end" : after}: its lines are at line ${elsewhere + 1}; ${advice}`,
    );
  }
  const nearest = await describeNearest(joined(lines), old.join("\n"), pause, "the patch");
  const words = `does not fit ${printed}${after}: give its lines exactly as they are`;
  throw refuse(nearest === undefined ? words : `${words}. ${nearest}`);
}

function joined(lines: readonly Line[]): string {
  return lines.map(({ text }) => text).join("\n");
}

function oldLines(lines: readonly HunkLine[]): string[] {
  return lines.filter(({ kind }) => kind !== "+").map(({ text }) => text);
}

/** Returns where the lines behind the `@@` lines of a hunk begin. */
async function findAnchors(
  lines: readonly Line[],
  from: number,
  { anchors }: Hunk,
  printed: string,
  pause: Yield,
  refuse: (reason: string) => Error,
): Promise<number> {
  let start = from;
  for (const [index, anchor] of anchors.entries()) {
    const nextAnchor = (first: number): Promise<number> =>
      findLine(lines, first, ({ text }) => text.trim() === anchor, pause);
    const found = await nextAnchor(start);
    const shown = clip(anchor, 80);
    if (found < 0) {
      const nearest = await describeNearest(joined(lines), anchor, pause, "the patch");
      const words = `has "@@ ${shown}", a line that ${printed} does not have after line ${start}`;
      throw refuse(nearest === undefined ? words : `${words}. ${nearest}`);
    }
    const second = index === 0 ? await nextAnchor(found + 1) : -1;
    if (second >= 0) {
      throw refuse(
        `has "@@ ${shown}", which is at lines ${found + 1} and ${second + 1} of ${printed}; put the line above it in another @@ before`,
      );
    }
    start = found + 1;
  }
  return start;
}

/** Returns the places from `from` on where the lines are, the first ones, and how many; at most one if only the first counts. */
async function findAll(
  lines: readonly Line[],
  from: number,
  old: readonly string[],
  onlyFirst: boolean,
  pause: Yield,
): Promise<{ places: number[]; count: number }> {
  const places: number[] = [];
  let count = 0;
  for (let at = from; at + old.length <= lines.length; at += 1) {
    if (old.every((text, offset) => lines[at + offset]?.text === text)) {
      count += 1;
      if (places.length < mostPlaces) places.push(at);
      if (onlyFirst) break;
    }
    const waiting = pause();
    if (waiting !== undefined) await waiting;
  }
  return { places, count };
}
