import { readdirSync } from "node:fs";
import path from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { clip } from "@toolcrib/core/text";
import { homeFolder } from "./homeFolder.ts";
import { compilePathPatterns, type PathPatternOptions } from "./pathPatterns.ts";
import { malformed } from "./readPattern.ts";

/**
 * Reads the entries of an option as the lines of a .gitignore, of which they were often made: blanks and line ends after a pattern do not
 * count, unless a `\` stands before a space, and entries without a pattern are left out. The name that is written so goes on binding, as
 * does one that begins with `#`. Throws a TypeError if no pattern is left.
 */
export function readPatternList(option: string, entries: readonly string[]): readonly string[] {
  const patterns = entries.flatMap(readEntry);
  if (patterns.length === 0 && entries.length > 0)
    throw new TypeError(
      `${option} has entries, but none of them is a pattern; leave ${option} out if nothing is meant`,
    );
  return [...new Set(patterns)];
}

function readEntry(entry: string): string[] {
  const plain = entry.replace(/[ \t\r\n]+$/, "");
  if (plain === "") return [];
  const backslashes = /\\*$/.exec(plain)?.[0].length ?? 0;
  const kept = backslashes % 2 === 1 ? /^[ \t]?/.exec(entry.slice(plain.length))?.[0] : "";
  const pattern = `${plain}${kept}`;
  return pattern === entry || entry.includes("\n") ? [pattern] : [pattern, entry];
}

/** As many patterns are written out for one with choices. */
const mostChoices = 8;
/** As many entries are looked through for a name with braces. */
const mostEntries = 5000;

/**
 * Throws a TypeError for a pattern such as `*.{pem,key}`, which other tools read as a choice and which here would bind only that name, unless
 * something has such a name. Only for these patterns the disk is looked at.
 */
export function refuseChoices(patterns: readonly string[], options: PathPatternOptions): void {
  for (const pattern of patterns) {
    const choices = choicesOf(pattern, 0);
    if (choices.next().value === pattern || isNamed(pattern, options)) continue;
    const written: string[] = [];
    for (const one of choicesOf(pattern, 0)) if (written.push(one) > mostChoices) break;
    const shown = written.slice(0, mostChoices).map((one) => clip(one, 80));
    const more = written.length > mostChoices ? " and so on" : "";
    throw malformed(
      pattern,
      `braces are no choice here, and nothing has such a name; write ${shown.join(", ")}${more} as entries of their own, or \\{ for the character itself`,
    );
  }
}

/** Gives the patterns that a pattern with choices (`{a,b}`, `{1..3}`) is meant to stand for, or the pattern itself. */
function* choicesOf(pattern: string, from: number): Generator<string, undefined> {
  for (let at = from; at < pattern.length; at += 1) {
    // What follows a backslash, and what stands in brackets, is itself.
    if (pattern[at] === "\\") at += 1;
    else if (pattern[at] === "[") at = Math.max(at, pattern.indexOf("]", at + 2));
    else if (pattern[at] === "{") {
      const { parts, end } = readBraces(pattern, at);
      if (parts.length < 2) continue;
      for (const part of parts) yield* choicesOf(pattern.slice(0, at) + part + pattern.slice(end), at);
      return;
    }
  }
  yield pattern;
}

/** Splits what stands in braces; fewer than two parts are no choice. */
function readBraces(pattern: string, start: number): { parts: readonly string[]; end: number } {
  const parts = [""];
  let depth = 0;
  for (let at = start; at < pattern.length; at += 1) {
    const char = pattern[at] ?? "";
    if (char === "{") depth += 1;
    if (char === "}") depth -= 1;
    if (depth === 0) return { parts: parts.length > 1 ? parts : rangeOf(parts[0] ?? ""), end: at + 1 };
    if (char === "," && depth === 1) parts.push("");
    else if (at > start) parts.push(`${parts.pop()}${char === "\\" ? pattern.slice(at, at + 2) : char}`);
    if (char === "\\") at += 1;
  }
  return { parts: [], end: start };
}

/** Lists `1..3` or `a..c`; enough of a long one to be shown. */
function rangeOf(text: string): string[] {
  const [, from = "", to = ""] = /^(\d{1,9}|[A-Za-z])\.\.(\d{1,9}|[A-Za-z])$/.exec(text) ?? [];
  const isNumber = /\d/.test(from);
  if (from === "" || isNumber !== /\d/.test(to)) return [];
  const [first, last] = isNumber ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const length = Math.min(Math.abs(last - first) + 1, mostChoices + 1);
  const all = Array.from({ length }, (_, at) => first + at * Math.sign(last - first));
  return all.map((one) => (isNumber ? String(one) : String.fromCharCode(one)));
}

/** Returns whether the pattern matches anything near its places, as it is read here. */
function isNamed(pattern: string, options: PathPatternOptions): boolean {
  const { match, mayMatchBelow } = compilePathPatterns([pattern], options);
  const head = /^(?:\/|[A-Za-z]:\/)(?:[^*?[{\\]*\/)?/.exec(pattern)?.[0];
  const home = pattern.startsWith("~/") ? (options.home ?? homeFolder()) : undefined;
  const folders = [...options.roots, head, home].filter((one) => one !== undefined && mayMatchBelow(one));
  let left = mostEntries;
  for (const folder of folders as string[]) {
    for (const entry of attempt(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
      left -= 1;
      if (left < 0) return false;
      const place = path.join(folder, entry.name);
      if (match(place, entry.isDirectory()) !== undefined) return true;
      if (entry.isDirectory() && mayMatchBelow(place)) folders.push(place);
    }
  }
  return false;
}
