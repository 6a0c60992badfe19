import { statSync } from "node:fs";
import { attempt } from "@toolcrib/core/internal";
import { compilePathPatterns } from "./pathPatterns.ts";
import type { PathStyle } from "./pathStyle.ts";
import { readPatternList, refuseChoices } from "./patternList.ts";

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
