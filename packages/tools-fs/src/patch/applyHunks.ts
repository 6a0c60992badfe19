import { invalidArgument } from "@toolcrib/core";
import { clip } from "@toolcrib/core/text";
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
    const { place, hunkLines } = await findPlace({ lines, hunk, printed, pause }, done);
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

/** A hunk, and the lines in which it is looked for. */
interface Search {
  readonly lines: readonly Line[];
  readonly hunk: Hunk;
  readonly printed: string;
  readonly pause: Yield;
}

interface Place {
  readonly place: number;
  /** The lines of the hunk, without those that are only empty in the patch. */
  readonly hunkLines: readonly HunkLine[];
}

async function findPlace(search: Search, from: number): Promise<Place> {
  const { lines, hunk, printed } = search;
  const { lines: all, blanks, atEnd } = hunk;
  const start = await findAnchors(search, from);
  const withoutBlanks = all.slice(0, all.length - blanks);
  if (withoutBlanks.every(({ kind }) => kind === "+")) {
    // An empty line alone says nothing about the place.
    if (atEnd) return { place: lines.length, hunkLines: withoutBlanks };
    throw refused(hunk, "has only new lines; add a line of the file before or after them to say where they go");
  }
  // Empty lines at the end are looked for first: all, one, none.
  for (const kept of new Set([blanks, Math.min(blanks, 1), 0])) {
    const hunkLines = all.slice(0, withoutBlanks.length + kept);
    const old = oldLines(hunkLines);
    const first = atEnd ? Math.max(lines.length - old.length, start) : start;
    const { places, count } = await findAll(search, first, old, hunk.anchors.length > 0);
    const [place] = places;
    if (count === 1 && place !== undefined) return { place, hunkLines };
    if (count === 0) continue;
    const numbers = places.map((place) => place + 1);
    const where = listLines(numbers, count - places.length);
    throw refused(
      hunk,
      `fits ${printed} in ${count} places, at ${where}; add lines around it, or an @@ line before it`,
    );
  }
  const old = oldLines(withoutBlanks);
  const [elsewhere] = (await findAll(search, 0, old, true)).places;
  const after = start > 0 ? ` after line ${start}` : "";
  if (elsewhere === undefined)
    throw await notFound(search, old.join("\n"), `does not fit ${printed}${after}: give its lines exactly as they are`);
  const advice =
    elsewhere < start
      ? "give hunks in the order of the file"
      : "leave out *** End of File, or give the lines before it";
  const where = `${atEnd ? " at its end" : after}: its lines are at line ${elsewhere + 1}`;
  throw refused(hunk, `does not fit ${printed}${where}; ${advice}`);
}

function refused(hunk: Hunk, reason: string): Error {
  return invalidArgument(patchField, `the hunk at line ${hunk.line} of the patch ${reason}`);
}

async function notFound({ lines, hunk, pause }: Search, wanted: string, words: string): Promise<Error> {
  const text = lines.map((line) => line.text).join("\n");
  const nearest = await describeNearest(text, wanted, pause, "the patch");
  return refused(hunk, nearest === undefined ? words : `${words}. ${nearest}`);
}

function oldLines(lines: readonly HunkLine[]): string[] {
  return lines.filter(({ kind }) => kind !== "+").map(({ text }) => text);
}

/** Returns where the lines behind the `@@` lines of a hunk begin. */
async function findAnchors(search: Search, from: number): Promise<number> {
  const { lines, hunk, printed, pause } = search;
  let start = from;
  for (const [index, anchor] of hunk.anchors.entries()) {
    const fits = (at: number): boolean => lines[at]?.text.trim() === anchor;
    // The first must be the only one.
    const { places } = await findPlaces(start, lines.length, fits, index === 0 ? 2 : 1, pause);
    const [found, second] = places;
    const shown = `has "@@ ${clip(anchor, 80)}"`;
    if (found === undefined)
      throw await notFound(search, anchor, `${shown}, a line that ${printed} does not have after line ${start}`);
    if (second !== undefined) {
      const where = `which is at lines ${found + 1} and ${second + 1} of ${printed}`;
      throw refused(hunk, `${shown}, ${where}; put the line above it in another @@ before`);
    }
    start = found + 1;
  }
  return start;
}

/** Returns the places from `from` on where the lines are, the first ones, and how many; at most one if only the first counts. */
function findAll(
  { lines, pause }: Search,
  from: number,
  old: readonly string[],
  onlyFirst: boolean,
): ReturnType<typeof findPlaces> {
  const fits = (at: number): boolean => old.every((text, offset) => lines[at + offset]?.text === text);
  return findPlaces(from, lines.length - old.length + 1, fits, onlyFirst ? 1 : Infinity, pause);
}

/** Returns the places before `to` that fit, the first ones, and how many, up to `most`. */
async function findPlaces(
  from: number,
  to: number,
  fits: (at: number) => boolean,
  most: number,
  pause: Yield,
): Promise<{ places: number[]; count: number }> {
  const places: number[] = [];
  let count = 0;
  for (let at = from; at < to && count < most; at += 1) {
    if (fits(at)) {
      count += 1;
      if (places.length < mostPlaces) places.push(at);
    }
    const waiting = pause();
    if (waiting !== undefined) await waiting;
  }
  return { places, count };
}

/** Returns the line ending a text uses most: `\r\n` or `\n`. */
function dominantLineEnding(text: string): "\r\n" | "\n" {
  let all = 0;
  let crlf = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    all += 1;
    if (text[at - 1] === "\r") crlf += 1;
  }
  return crlf * 2 > all ? "\r\n" : "\n";
}
