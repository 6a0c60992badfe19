import { clip, showInvisible } from "@toolcrib/core/text";
import type { Yield } from "../yieldToEventLoop.ts";

/** Of a longer text only the head is looked at, in characters. */
const longestSearched = 8 * 1024 * 1024;
/** Lines of the wanted text that are looked for, and lines that are shown. */
const mostWanted = 200;
const mostShown = 8;
/** Places of one wanted line that are looked at: a line that comes again and again tells little. */
const mostSame = 3;
/** Characters of a line that are compared and shown. */
const longestLine = 200;
/** Characters of a wanted text that is looked for as a string of code writes it. */
const longestEscaped = 1000;
/** Characters of each side of a difference that are quoted. */
const longestQuote = 40;
/** Characters of a difference up to which its code points are named. */
const mostPoints = 3;
/** The least likeness of a line, from 0 to 1, that is shown if no line is the same but for white space. */
const leastLikeness = 0.4;

/**
 * Describes the lines of a text that come nearest to a wanted text which is not in it: their numbers, their text and where the first
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
  const escaped = await findEscaped(lines, wanted, pause);
  const start = escaped ?? (await startByLines(lines, sought, pause)) ?? (await startByLikeness(lines, sought, pause));
  if (start === undefined) return undefined;
  const from = Math.max(start, 0);
  const to = escaped === undefined ? Math.min(start + sought.length, lines.length) : escaped + 1;
  const shown = lines.slice(from, Math.min(to, from + mostShown));
  const heading = to - from > 1 ? `Nearest are lines ${from + 1} to ${to}:` : `Nearest is line ${from + 1}:`;
  const numbered = shown.map((line, at) => `${from + at + 1}: ${clip(line, longestLine)}`);
  const hints =
    escaped === undefined
      ? firstDifference(lines, sought, start, whose)
      : [`Line ${escaped + 1} has it with backslashes, as in a string of code; give ${whose} the same way.`];
  if (hints.length === 0 && wanted.endsWith("\n") && !text.endsWith("\n") && to === lines.length)
    hints.push(`The file ends without a line break; leave out the one at the end of ${whose}.`);
  return [heading, ...numbered, ...(to - from > shown.length ? ["…"] : []), ...hints].join("\n");
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  // The text after the last line break is no line.
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines;
}

function firstDifference(lines: readonly string[], sought: readonly string[], start: number, whose: string): string[] {
  for (const [at, wanted] of sought.entries()) {
    const found = lines[start + at];
    if (start + at < 0) return [`There is nothing before line 1 for ${quoted(wanted)}.`];
    if (found === undefined) return [`There is no line ${start + at + 1} for ${quoted(wanted)}.`];
    const difference = describeDifference(wanted, found, whose);
    if (difference !== undefined) return [`Line ${start + at + 1} differs: ${difference}`];
  }
  return [];
}

/** Finds the line that has the wanted text as a string of code writes it, with `\n` for a line break; undefined for none. */
async function findEscaped(lines: readonly string[], wanted: string, pause: Yield): Promise<number | undefined> {
  const escaped = JSON.stringify(wanted).slice(1, -1);
  if (escaped === wanted || escaped.length > longestEscaped) return undefined;
  return startByVotes(lines, pause, (line) => (line.includes(escaped) ? [[0, 1]] : []));
}

/** Finds where most of the wanted lines are, in their places, the same but for white space. */
function startByLines(lines: readonly string[], sought: readonly string[], pause: Yield): Promise<number | undefined> {
  const places = new Map<string, [number, number][]>();
  for (const [at, line] of sought.entries()) {
    const key = withoutSpace(line);
    const known = places.get(key) ?? [];
    if (key !== "" && known.length < mostSame) places.set(key, [...known, [at, 1]]);
  }
  return startByVotes(lines, pause, (line) => places.get(withoutSpace(line)) ?? []);
}

/** Finds the line that is most like the longest wanted one. */
async function startByLikeness(
  lines: readonly string[],
  sought: readonly string[],
  pause: Yield,
): Promise<number | undefined> {
  const longest = sought.reduce((most, line, at) => (line.length > (sought[most] ?? "").length ? at : most), 0);
  const wanted = pairsOf(sought[longest] ?? "");
  if (wanted.size === 0) return undefined;
  return startByVotes(lines, pause, (line) => {
    const score = likeness(wanted, pairsOf(line));
    return score >= leastLikeness ? [[longest, score]] : [];
  });
}

/** Finds the start with the most votes, the first of several: each line votes for where it may be among the wanted ones. */
async function startByVotes(
  lines: readonly string[],
  pause: Yield,
  votesOf: (line: string) => readonly (readonly [place: number, vote: number])[],
): Promise<number | undefined> {
  const votes = new Map<number, number>();
  for (const [at, line] of lines.entries()) {
    for (const [place, vote] of votesOf(line)) votes.set(at - place, (votes.get(at - place) ?? 0) + vote);
    const waiting = pause();
    if (waiting !== undefined) await waiting;
  }
  let found: number | undefined;
  for (const [key, score] of votes) if (score > (votes.get(found ?? Number.NaN) ?? 0)) found = key;
  return found;
}

function withoutSpace(line: string): string {
  return line.replace(/\s+/g, "");
}

/** Returns the pairs of neighbouring characters in the head of a line, white space aside. */
function pairsOf(line: string): ReadonlySet<string> {
  const plain = withoutSpace(line.slice(0, longestLine)).toLowerCase();
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < plain.length; at += 1) pairs.add(plain.slice(at, at + 2));
  return pairs;
}

/** Returns 1 if both have the same pairs, 0 if none is common (Dice's coefficient). */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size + b.size === 0) return 0;
  let common = 0;
  for (const pair of a) if (b.has(pair)) common += 1;
  return (2 * common) / (a.size + b.size);
}

function quoted(text: string): string {
  return JSON.stringify(showInvisible(clip(text, longestQuote)));
}

/** Describes where the first difference of two lines is, and what each has there, white space by name. Undefined where they are the same. */
export function describeDifference(wanted: string, found: string, whose = "old_text"): string | undefined {
  if (wanted === found) return undefined;
  let at = 0;
  while (at < wanted.length && wanted[at] === found[at]) at += 1;
  if (splitsPair(wanted, at) || splitsPair(found, at)) at -= 1;
  // A run of white space is counted whole.
  while (at > 0 && isSpace(wanted[at - 1]) && (isSpace(wanted[at]) || isSpace(found[at]))) at -= 1;
  const [left, right] = [wanted.slice(at), found.slice(at)];
  const spaces: [string, string] = [/^\s*/.exec(left)?.[0] ?? "", /^\s*/.exec(right)?.[0] ?? ""];
  const bySpace = spaces[0] !== spaces[1];
  const [ours, theirs] = bySpace
    ? [nameSpace(spaces[0]), nameSpace(spaces[1])]
    : left.normalize() === right.normalize()
      ? [withCodePoints(firstLetter(left)), withCodePoints(firstLetter(right))]
      : [quoteHead(left, right), quoteHead(right, left)];
  return `at column ${at + 1} ${whose} has ${ours}, the file has ${theirs}`;
}

/** Returns whether both halves of one character lie around a place. */
function splitsPair(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff;
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character);
}

/** Quotes what of a text differs from the other, as far as that ends alike. */
function quoteHead(text: string, other: string): string {
  let end = 0;
  const most = Math.min(text.length, other.length);
  while (end < most && text[text.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  if (splitsPair(text, text.length - end) || splitsPair(other, other.length - end)) end -= 1;
  const different = text.slice(0, text.length - end);
  return different === "" ? "nothing" : withCodePoints(different);
}

/** Returns the first letter with its marks. */
function firstLetter(text: string): string {
  return /^\P{M}?\p{M}*/u.exec(text)?.[0] ?? "";
}

/** Quotes a text; of letters that may look like others, and marks, the code points too. */
function withCodePoints(text: string): string {
  const points = [...text];
  if (points.length > mostPoints || !/(?!\p{ASCII})[\p{L}\p{M}]/u.test(text)) return quoted(text);
  const named = points.map((one) => `U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`);
  return `${quoted(text)} (${named.join(" ")})`;
}

const names: Readonly<Record<string, string>> = {
  " ": "space",
  "\t": "tab",
  "\r": "carriage return",
  "\u00a0": "no-break space (U+00A0)",
};

/** Writes `2 tabs and 3 spaces`. */
function nameSpace(text: string): string {
  const runs = text.match(/(\s)\1*/g) ?? [];
  if (runs.length === 0) return "no white space";
  const words = runs.slice(0, 4).map((run) => {
    const character = run.charAt(0);
    const name = names[character] ?? showInvisible(character);
    // `2 no-break spaces (U+00A0)`
    return run.length === 1 ? `1 ${name}` : `${run.length} ${name.replace(/(?=( \(U.*)?$)/, "s")}`;
  });
  return `${words.join(" and ")}${runs.length > 4 ? " and more" : ""}`;
}

/** Writes `lines 4, 17 and 30`; `others` are counted only. */
export function listLines(lines: readonly number[], others: number): string {
  const words = others > 0 ? [...lines, `${others} more`] : [...lines];
  const last = words.pop();
  return `${lines.length > 1 ? "lines" : "line"} ${words.length > 0 ? `${words.join(", ")} and ` : ""}${last}`;
}
