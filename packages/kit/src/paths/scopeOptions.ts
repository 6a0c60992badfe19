import { kindOf, type OptionSpec, option } from "@toolcrib/core/internal";
import { type PathSystem, thisSystem } from "./pathSystem.ts";

export interface PathScopeOptions {
  /**
   * The directory that relative paths start from. Default: the process's, read at each call; the first root if that lies outside every
   * root.
   */
  cwd?: string | undefined;
  /** One directory or several that no path may leave. Left out: no limit. `undefined` is refused, as is anything else that is not the path of a directory. */
  root?: string | readonly string[] | undefined;
  /** Patterns of paths that are neither read, listed, written nor entered; as in a .gitignore, without `!` (`compilePathPatterns`). `undefined` is refused. */
  deny?: readonly string[] | undefined;
  /** One directory or several for reading alone, inside the roots or beside them. `undefined` is refused. */
  readable?: string | readonly string[] | undefined;
}

const urlStart = /^[a-z][a-z0-9+.-]+:\/\//i;

/** A spec for the path of a directory. It need not exist. */
export const directoryOption: OptionSpec = {
  expected: "the path of a directory",
  fits: (value) => typeof value === "string" && value !== "" && !value.includes("\0") && !urlStart.test(value),
  remedy: urlRemedy,
  isShown: true,
};

const directories: OptionSpec = {
  ...directoryOption,
  expected: "the path of a directory, or an array of such, none of them empty",
  fits: (value) =>
    Array.isArray(value) ? value.length > 0 && value.every(directoryOption.fits) : directoryOption.fits(value),
  needed: "if written",
};

/** A spec for patterns of paths (`compilePathPatterns`). */
export const patternsOption: OptionSpec = { ...option.texts, expected: "an array of path patterns" };

/** Specs for the options of a scope. A limit that is `undefined` was meant, and is missing. */
export const scopeOptions: Readonly<Record<keyof PathScopeOptions, OptionSpec>> = {
  cwd: { ...directoryOption, otherwise: "the process's directory" },
  root: { ...directories, otherwise: "no limit" },
  deny: { ...patternsOption, needed: "if written" },
  // A list may be empty: nobody means more by it than by leaving it out.
  readable: {
    ...directories,
    fits: (value) => (Array.isArray(value) && value.length === 0) || directories.fits(value),
    otherwise: "none",
  },
};

/** Returns the canonical directories that a checked `root` or `readable` names. */
export function canonicalDirectories(
  given: string | readonly string[],
  { style, canonical }: PathSystem = thisSystem,
): readonly string[] {
  return Object.freeze([given].flat().map((one) => canonical(style.resolve(one))));
}

function urlRemedy(value: unknown): string | undefined {
  const isUrl = [value]
    .flat()
    .some((one) => (typeof one === "string" && urlStart.test(one)) || kindOf(one) === "an instance of URL");
  return isUrl ? "fileURLToPath of node:url makes a path of a file URL" : undefined;
}
