import path from "node:path";
import { ToolError } from "@toolcrib/core";
import { kindOf, type OptionSpec, option, shownName } from "@toolcrib/core/internal";
import { printableName } from "@toolcrib/core/text";
import { type PathSystem, thisSystem } from "./canonicalPath.ts";
import { compileDenyOption, type DeniedPaths } from "./deniedPaths.ts";
import { isOnOtherShare, type PathStyle } from "./pathStyle.ts";

/** The intended use of a path. */
export type PathUse = "read" | "write";

/** The limits of a scope, as canonical paths. Errors give a path as `shown` does. */
export interface PathLimits {
  readonly roots: readonly string[] | undefined;
  readonly readable: readonly string[];
  readonly denied: DeniedPaths | undefined;
  /** False where nothing is limited. */
  readonly bind: boolean;
  contains(path: string): boolean;
  /** Throws `permission_denied` outside the roots, and for a write where only reading is allowed. */
  refuseOutside(path: string, use: PathUse, shown: () => string): void;
  /**
   * Throws `permission_denied` for a path on a network share where nothing is allowed: to look at it would send the user's login to
   * its server.
   */
  refuseOtherShare(path: string, shown: () => string): void;
  /** Throws `permission_denied` for a denied path. */
  refuseDenied(path: string, shown: () => string): void;
}

/** Makes the limits. `cwd` is the working directory if it is fixed. The options are checked. */
export function createPathLimits(
  options: PathScopeOptions,
  cwd: string | undefined,
  system: PathSystem = thisSystem,
): PathLimits {
  const { root, readable: given = [], deny: patterns = [] } = options;
  const { style } = system;
  const roots = root === undefined ? undefined : canonicalDirectories(root, system);
  const readable = canonicalDirectories(given, system);
  // Fixed now, as the roots are: what is denied must not change with the process's directory.
  const denied =
    patterns.length === 0
      ? undefined
      : compileDenyOption("deny", { patterns, roots: roots ?? [cwd ?? process.cwd()] }, style);
  const contains = (path: string): boolean => roots === undefined || roots.some((root) => isInside(root, path, style));
  const outside = (path: string): ToolError =>
    refuse(path, `is outside ${list([...(roots ?? []), ...readable])}; use a path inside`);
  const refuse = (path: string, why: string, pattern?: string): ToolError =>
    new ToolError({
      code: "permission_denied",
      message: `Permission denied: ${shownName(path)} ${why}`,
      details: {
        by: pattern === undefined ? "root" : "deny",
        path,
        ...(roots && { roots }),
        ...(pattern !== undefined && { pattern }),
      },
    });

  return {
    roots,
    readable,
    denied,
    bind: roots !== undefined || readable.length > 0 || denied !== undefined,
    contains,
    refuseOutside(path, use, shown) {
      if (use === "read") {
        if (contains(path) || deepest(readable, path, style) >= 0) return;
        throw outside(shown());
      }
      if (!contains(path)) throw refuse(shown(), `is outside ${list(roots ?? [])}; use a path inside`);
      const within = deepest(readable, path, style);
      // If a root and a read-only directory lie in one another, the nearest to the path decides.
      if (within < 0 || within < deepest(roots ?? [], path, style)) return;
      const nearest = readable.find((one) => one.length === within && isInside(one, path, style)) ?? "";
      throw refuse(shown(), `is in ${printableName(nearest)}, which is read-only; write elsewhere`);
    },
    refuseOtherShare(path, shown) {
      if (roots && isOnOtherShare(path, [...roots, ...readable], style)) throw outside(shown());
    },
    refuseDenied(path, shown) {
      const pattern = denied?.match(path);
      if (pattern !== undefined) throw refuse(shown(), "is on the list of denied paths; use another path", pattern);
    },
  };
}

/** Most directories that an error names: skills alone may be hundreds. */
const mostNamed = 5;

function list(directories: readonly string[]): string {
  const more = directories.length > mostNamed ? ` and ${directories.length - mostNamed} more` : "";
  return directories.slice(0, mostNamed).map(printableName).join(", ") + more;
}

/** Returns true for `directory` itself and everything below it, compared by whole names. */
export function isInside(directory: string, given: string, { sep }: Pick<PathStyle, "sep"> = path): boolean {
  return given === directory || given.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** Returns the length of the longest of the directories that contain a path; -1 where none does. */
function deepest(directories: readonly string[], path: string, style: PathStyle): number {
  return Math.max(-1, ...directories.filter((one) => isInside(one, path, style)).map((one) => one.length));
}

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
