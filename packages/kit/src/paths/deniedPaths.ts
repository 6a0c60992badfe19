import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { clip } from "@toolcrib/core/text";
import { choicesOf } from "./braces.ts";
import { homeFolder } from "./homeFolder.ts";
import { compilePathPatterns, type PathPatternOptions } from "./pathPatterns.ts";
import type { PathStyle } from "./pathStyle.ts";
import { malformed } from "./readPattern.ts";

/**
 * The patterns of `deny`, and the directories that its relative patterns start from: enough to compile it again, in a thread for example.
 */
export interface DenyRules {
  readonly patterns: readonly string[];
  readonly roots: readonly string[];
}

/** The paths that `deny` binds. Paths are absolute. */
export interface DeniedPaths {
  readonly rules: DenyRules;
  /** Returns the pattern that denies a path, or a directory above it. Looks at the disk where the kind of the entry matters and is not told. */
  match(path: string, isDirectory?: boolean): string | undefined;
  /** Returns false if nothing below the directory can be denied. */
  mayMatchBelow(directory: string): boolean;
}

/** Compiles the patterns of an option, read as a list. Throws a TypeError for what cannot be meant. */
export function compileDenyOption(option: string, rules: DenyRules, style?: PathStyle): DeniedPaths {
  const { roots } = rules;
  const patterns = Object.freeze(readPatternList(option, rules.patterns));
  refuseChoices(patterns, { roots, style });
  return compileDenyRules({ patterns, roots }, style);
}

/** Throws a TypeError for a malformed pattern. */
export function compileDenyRules(rules: DenyRules, style?: PathStyle): DeniedPaths {
  const { match, mayMatchBelow } = compilePathPatterns(rules.patterns, {
    roots: rules.roots,
    ignoreCase: true,
    missingMatches: true,
    followLinks: true,
    style,
  });
  return {
    rules,
    match(path, isDirectory) {
      if (isDirectory !== undefined) return match(path, isDirectory);
      const found = match(path);
      // A pattern for directories does not bind a file, but what is not there yet.
      return found !== undefined && match(path, false) === undefined && isNoDirectory(path) ? undefined : found;
    },
    mayMatchBelow,
  };
}

function isNoDirectory(path: string): boolean {
  return attempt(() => !statSync(path).isDirectory()) ?? false;
}

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
    const choices = choicesOf(pattern);
    if (choices.next().value === pattern || isNamed(pattern, options)) continue;
    const written: string[] = [];
    for (const one of choicesOf(pattern)) if (written.push(one) > mostChoices) break;
    const shown = written.slice(0, mostChoices).map((one) => clip(one, 80));
    const more = written.length > mostChoices ? " and so on" : "";
    throw malformed(
      pattern,
      `braces are no choice here, and nothing has such a name; write ${shown.join(", ")}${more} as entries of their own, or \\{ for the character itself`,
    );
  }
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
