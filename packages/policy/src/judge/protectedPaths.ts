import { statSync } from "node:fs";
import nodePath, { sep } from "node:path";
import { compilePathPatterns, isInside, namedByRepository, type ProtectedPath } from "@toolcrib/kit/files";
import type { PathBases } from "../rules/compileRules.ts";

/** What is used of `path.posix` or `path.win32`: the name of Node's type in a signature would ask users for the types of Node. */
interface PathStyle {
  readonly sep: string;
  isAbsolute(path: string): boolean;
  join(...parts: string[]): string;
}

/** The pattern of exactly this path, for a rule or as a protected path: a parenthesis is written as any character. */
export function exactPattern(path: string): string {
  return patternIn(nodePath, path);
}

function patternIn({ sep }: PathStyle, given: string): string {
  return given
    .replaceAll(sep, "/")
    .replace(/[*?[\\]/g, "\\$&")
    .replace(/[()]/g, "?");
}

/** The tool's own configuration and state, wherever the environment puts them. */
export function ownFolders(
  env: Readonly<Record<string, string | undefined>>,
  style: PathStyle = nodePath,
): ProtectedPath[] {
  const ofWindows = style.sep === "\\" ? [env.APPDATA, env.LOCALAPPDATA] : [];
  const folders = [env.XDG_CONFIG_HOME, env.XDG_STATE_HOME, ...ofWindows].flatMap((base) =>
    base && style.isAbsolute(base) ? [style.join(base, "toolcrib")] : [],
  );
  const patterns = ["~/.local/state/toolcrib/", ...folders.map((folder) => `${patternIn(style, folder)}/`)];
  return patterns.map((pattern) => ({ pattern, why: "it decides what an agent may do" }));
}

/** A protected path; `never`: no rule and no answer lets a call change it. */
export interface ProtectedEntry extends ProtectedPath {
  readonly never?: true;
}

/**
 * What the configuration of git in the roots names and git runs: included files, folders of hooks, programs. It is read once, as no call
 * changes it unasked.
 */
export function namedByGit(roots: readonly string[]): ProtectedPath[] {
  const inRoots = roots.flatMap(namedByRepository).filter(({ path, mayBeFolder }) => {
    const isBelow = roots.some((root) => isInside(root, path)) && !roots.some((root) => isInside(path, root));
    return isBelow && !path.includes("\0") && (mayBeFolder || !isFolder(path));
  });
  return [...new Set(inRoots.map(({ path }) => path))].map((path) => ({
    pattern: exactPattern(path),
    why: "the configuration of git names it, and git runs it",
  }));
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** The list, compiled. */
export interface ProtectedMatcher {
  match(path: string): ProtectedEntry | undefined;
  mayMatchBelow(folder: string): boolean;
}

export function compileProtected(list: readonly ProtectedEntry[], { roots, home }: PathBases): ProtectedMatcher {
  const byPattern = new Map(list.map((one) => [one.pattern, one]));
  const paths = compilePathPatterns([...byPattern.keys()], {
    roots,
    home,
    ignoreCase: true,
    missingMatches: true,
    followLinks: true,
  });
  return {
    match(path) {
      const found = paths.match(plainNames(path));
      return found === undefined ? undefined : byPattern.get(found);
    },
    mayMatchBelow: (folder) => paths.mayMatchBelow(plainNames(folder)),
  };
}

const unusual = /[^\u0020-\u007e]|:|[. ](?:[/\\]|$)/;

/**
 * The path with each name as Windows would open it: compatible letters are one, a stream (`.git:x`) and dots and spaces at the end
 * do not count.
 */
export function plainNames(path: string): string {
  if (!unusual.test(path)) return path;
  const names = path.split(sep).map((name, at) => {
    const shown = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
    // Not the colon of a drive.
    const plain = at === 0 && /^[A-Za-z]:$/.test(shown) ? shown : shown.replace(/:.*$/s, "");
    return plain.replace(/[. ]+$/, "") || name;
  });
  return names.join(sep);
}
