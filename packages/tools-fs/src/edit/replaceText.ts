import { invalidArgument } from "@toolcrib/core";
import { createYielder, type Yield } from "../yieldToEventLoop.ts";
import { findMatches } from "./findMatches.ts";
import { lineEndingsOf } from "./lineEndings.ts";
import { describeNearest, listLines } from "./nearestLines.ts";

export interface Edit {
  old_text: string;
  new_text: string;
  replace_all?: boolean | undefined;
}

export interface ReplaceLimits {
  /** The most bytes of the text, after each edit too. */
  maxBytes: number;
  signal?: AbortSignal | undefined;
}

/** Parts of a text that are joined at once, so that a list of a million parts is never held. */
const mostParts = 4096;

/** Matches whose lines an error names. */
const mostPlaces = 10;

/**
 * Applies the edits in order, each to the result of the one before. LF and CRLF match each other; new text gets the line endings
 * of the text around it. Throws (`invalid_arguments`) with the number of matches unless an edit matches exactly once, and for
 * a text that grows past the limit. Lets other work run meanwhile.
 */
export async function replaceText(
  text: string,
  edits: readonly Edit[],
  { maxBytes, signal }: ReplaceLimits,
): Promise<string> {
  const pause = createYielder(signal);
  let result = text;
  for (const [index, edit] of edits.entries()) {
    result = await replaceOne(result, edit, { field: `edits[${index}]`, maxBytes, pause });
    await pause();
  }
  if (result === text)
    throw invalidArgument("edits", "change nothing: the new text equals the old; give another new_text");
  return result;
}

interface Step {
  /** The edit, as errors name it. */
  field: string;
  maxBytes: number;
  pause: Yield;
}

async function replaceOne(
  text: string,
  { old_text, new_text, replace_all = false }: Edit,
  { field, maxBytes, pause }: Step,
): Promise<string> {
  const oldField = `${field}.old_text`;
  if (old_text === "") throw invalidArgument(oldField, "must not be empty; give the exact text to replace");
  const adapt = await lineEndingsOf(text, old_text, new_text);
  const changed = growingText(`${field}.new_text`, maxBytes);
  let matches = 0;
  let done = 0;
  const lineNumbers = countLines(text);
  const places: number[] = [];
  for (const match of findMatches(text, old_text, !replace_all)) {
    const waiting = pause();
    if (waiting !== undefined) await waiting;
    if (match === undefined) continue;
    matches += 1;
    if (!replace_all && matches <= mostPlaces) places.push(lineNumbers(match.start));
    // Without replace_all the others are only counted.
    if (matches > 1 && !replace_all) continue;
    changed.add(text.slice(done, match.start));
    changed.add(adapt(match));
    done = match.end;
  }
  if (matches === 0) {
    const nearest = await describeNearest(text, old_text, pause);
    const words = "was not found (0 matches); give the exact text, with its spaces and line breaks";
    throw invalidArgument(oldField, nearest === undefined ? words : `${words}. ${nearest}`);
  }
  if (matches > 1 && !replace_all) {
    const where = `at ${listLines([...new Set(places)], matches - places.length)}`;
    throw invalidArgument(
      oldField,
      `has ${matches} matches, ${where}; add surrounding lines, or pass replace_all=true`,
    );
  }
  changed.add(text.slice(done));
  return changed.finish();
}

/** Returns a function that gives the number of the line at a place; the places must grow. */
function countLines(text: string): (place: number) => number {
  let line = 1;
  let next = text.indexOf("\n");
  return (place) => {
    for (; next >= 0 && next < place; next = text.indexOf("\n", next + 1)) line += 1;
    return line;
  };
}

/** A text that is built part by part; throws (`invalid_arguments`) as soon as it is longer than the limit. */
function growingText(field: string, maxBytes: number): { add(part: string): void; finish(): string } {
  const joined: string[] = [];
  let parts: string[] = [];
  let length = 0;
  const check = (bytes: number): void => {
    if (bytes <= maxBytes) return;
    const advice = "give a shorter one, or replace fewer matches";
    throw invalidArgument(field, `makes the text longer than ${maxBytes} bytes; ${advice}`);
  };
  return {
    add(part) {
      length += part.length;
      // Each character is at least one byte.
      check(length);
      if (parts.push(part) < mostParts) return;
      joined.push(parts.join(""));
      parts = [];
    },
    finish() {
      const text = [...joined, ...parts].join("");
      if (text.length * 3 > maxBytes) check(Buffer.byteLength(text));
      return text;
    },
  };
}
