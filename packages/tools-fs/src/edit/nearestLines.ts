import { clip, showInvisible } from "@toolcrib/core/text";
import type { Yield } from "../yieldToEventLoop.ts";
import { describeDifference } from "./describeDifference.ts";

/** Of a longer text only the head is looked at, in characters. */
const longestSearched = 8 * 1024 * 1024;
/** Lines of the wanted text that are looked for, and lines that are shown. */
const mostWanted = 200;
const mostShown = 8;
/** Places of one wanted line that are looked at: a line that comes again and again tells little. */
const mostSame = 3;
/** Characters of a line that are compared and shown. */
const longestLine = 200;
/** How alike a line must be, from 0 to 1, to be shown where no line is the same but for white space. */
const leastLikeness = 0.4;

/**
 * Words on the lines of a text that come nearest to a wanted text which is not in it: their numbers, their text and where the first
 * of them differs. Undefined where nothing is alike. `whose` says where the wanted text comes from.
 */
export async function describeNearest(
  text: string,
  wanted: string,
  pause: Yield,
  whose = "old_text",
): Promise<string | undefined> {
  const lines = linesOf(text.slice(0, longestSearched));
  const sought = linesOf(wanted).slice(0, mostWanted);
  const start = (await startByLines(lines, sought, pause)) ?? (await startByLikeness(lines, sought, pause));
  if (start === undefined) return undefined;
  const from = Math.max(start, 0);
  const to = Math.min(start + sought.length, lines.length);
  const shown = lines.slice(from, Math.min(to, from + mostShown));
  const heading = to - from > 1 ? `Nearest are lines ${from + 1} to ${to}:` : `Nearest is line ${from + 1}:`;
  const numbered = shown.map((line, at) => `${from + at + 1}: ${clip(line, longestLine)}`);
  const difference = firstDifference(lines, sought, start, whose);
  return [heading, ...numbered, ...(to - from > shown.length ? ["…"] : []), ...difference].join("\n");
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  // What follows the last line break is no line.
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines;
}

function firstDifference(lines: readonly string[], sought: readonly string[], start: number, whose: string): string[] {
  for (const [at, wanted] of sought.entries()) {
    const found = lines[start + at];
    if (found === undefined) return [`There is no line ${start + at + 1} for ${quoted(wanted)}.`];
    const difference = describeDifference(wanted, found, whose);
    if (difference !== undefined) return [`Line ${start + at + 1} differs: ${difference}`];
  }
  return [];
}

/** Where most of the wanted lines are, in their places, the same but for white space. */
async function startByLines(
  lines: readonly string[],
  sought: readonly string[],
  pause: Yield,
): Promise<number | undefined> {
  const places = new Map<string, number[]>();
  for (const [at, line] of sought.entries()) {
    const key = withoutSpace(line);
    const known = places.get(key) ?? [];
    if (key !== "" && known.length < mostSame) places.set(key, [...known, at]);
  }
  const votes = new Map<number, number>();
  for (const [at, line] of lines.entries()) {
    for (const place of places.get(withoutSpace(line)) ?? []) {
      votes.set(at - place, (votes.get(at - place) ?? 0) + 1);
    }
    const waiting = pause();
    if (waiting !== undefined) await waiting;
  }
  return best(votes);
}

/** Where the line is that is most like the longest wanted one. */
async function startByLikeness(
  lines: readonly string[],
  sought: readonly string[],
  pause: Yield,
): Promise<number | undefined> {
  const longest = sought.reduce((most, line, at) => (line.length > (sought[most] ?? "").length ? at : most), 0);
  const wanted = pairsOf(sought[longest] ?? "");
  if (wanted.size === 0) return undefined;
  const scores = new Map<number, number>();
  for (const [at, line] of lines.entries()) {
    const score = likeness(wanted, pairsOf(line));
    if (score >= leastLikeness) scores.set(at - longest, score);
    const waiting = pause();
    if (waiting !== undefined) await waiting;
  }
  return best(scores);
}

/** The key with the highest value, the first of several. */
function best(scores: ReadonlyMap<number, number>): number | undefined {
  let found: number | undefined;
  for (const [key, score] of scores) if (score > (scores.get(found ?? Number.NaN) ?? 0)) found = key;
  return found;
}

function withoutSpace(line: string): string {
  return line.replace(/\s+/g, "");
}

/** The pairs of neighbouring characters in the head of a line, white space aside. */
function pairsOf(line: string): ReadonlySet<string> {
  const plain = withoutSpace(line.slice(0, longestLine)).toLowerCase();
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < plain.length; at += 1) pairs.add(plain.slice(at, at + 2));
  return pairs;
}

/** 1 where both have the same pairs, 0 where none is common (Dice's coefficient). */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size + b.size === 0) return 0;
  let common = 0;
  for (const pair of a) if (b.has(pair)) common += 1;
  return (2 * common) / (a.size + b.size);
}

function quoted(text: string): string {
  return JSON.stringify(showInvisible(clip(text, 40)));
}
