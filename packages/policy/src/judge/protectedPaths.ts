import { readdirSync } from "node:fs";
import nodePath, { basename, join } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import {
  canonicalOrUndefined,
  compilePathPatterns,
  GitConfigs,
  isInside,
  type PathScope,
  type PathStyle,
  type ProtectedPath,
} from "@toolcrib/kit/files";
import { describeEffect } from "../describe.ts";
import type { PathBases, RuleGroup } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import type { Verdict } from "../verdict.ts";
import { type EntryStats, isSeen } from "./folders.ts";
import { Looks } from "./looks.ts";

/** Writes the pattern of exactly this path, for a rule or as a protected path: a parenthesis and a line end are written as any character. */
export function exactPattern(path: string): string {
  return patternIn(nodePath, path);
}

function patternIn({ sep }: PathStyle, given: string): string {
  return given
    .replaceAll(sep, "/")
    .replace(/[*?[\\{]| $/g, "\\$&")
    .replace(/[()\r\n\t]/g, "?");
}

/** Lists the tool's own configuration and state, wherever the environment puts them. */
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
 * Lists what the configuration of git names in the roots and git runs: included files, folders of hooks, programs. It is read once, as no
 * call changes it unasked.
 */
export function namedByGit(roots: readonly string[]): ProtectedPath[] {
  const looks = new Looks();
  const configs = new GitConfigs();
  for (const root of roots) configs.addRepository(root);
  const inRoots = configs.named().filter(({ path, mayBeFolder }) => {
    const isBelow = roots.some((root) => isInside(root, path)) && !roots.some((root) => isInside(path, root));
    return isBelow && !path.includes("\0") && (mayBeFolder || !looks.stats(path)?.isDirectory());
  });
  return [...new Set(inRoots.map(({ path }) => path))].map((path) => ({
    pattern: exactPattern(path),
    why: "the configuration of git names it, and git runs it",
  }));
}

/** The list, compiled. */
export interface ProtectedMatcher {
  match(path: string): ProtectedEntry | undefined;
  mayMatchBelow(folder: string): boolean;
}

export function compileProtected(
  list: readonly ProtectedEntry[],
  { roots, home }: PathBases,
  style: PathStyle = nodePath,
): ProtectedMatcher {
  const byPattern = new Map(list.map((one) => [one.pattern, one]));
  const paths = compilePathPatterns([...byPattern.keys()], {
    roots,
    home,
    ignoreCase: true,
    missingMatches: true,
    followLinks: true,
    style,
  });
  // By the names that Windows would open, and as it is: a pattern may hold a blank at its end.
  return {
    match(path) {
      const plain = plainNames(path, style);
      const found = paths.match(plain) ?? (plain === path ? undefined : paths.match(path));
      return found === undefined ? undefined : byPattern.get(found);
    },
    mayMatchBelow: (folder) => paths.mayMatchBelow(plainNames(folder, style)) || paths.mayMatchBelow(folder),
  };
}

const unusual = /[^\u0020-\u007e]|:|[. ](?:[/\\]|$)/;

/**
 * Returns the path with each name as Windows would open it: compatible letters are one, a stream (`.git:x`) and dots and spaces at the end
 * do not count.
 */
export function plainNames(path: string, { sep }: Pick<PathStyle, "sep"> = nodePath): string {
  if (!unusual.test(path)) return path;
  const names = path.split(sep === "/" ? "/" : /[\\/]/).map((name, at) => {
    const shown = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
    // Not the colon of a drive.
    const plain = at === 0 && /^[A-Za-z]:$/.test(shown) ? shown : shown.replace(/:.*$/s, "");
    return plain.replace(/[. ]+$/, "") || name;
  });
  return names.join(sep);
}

/** Names the places of the program that uses a policy, where it keeps what decides about calls. */
export interface OwnState {
  /** Absolute paths of folders that no call changes, whatever allows it. */
  readonly folders: readonly string[];
  /** The reason for a refusal: `it is where … keeps what the user has allowed, so no tool changes it`. */
  readonly why: string;
  /**
   * Protected names of files in a root, which are asked about by any other name too: a link to one, a folder around it. What each decides:
   * `says what may run here`.
   */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** Hold these files. Default: the roots of the policy. */
  readonly roots?: readonly string[] | undefined;
}

/** Lists the folders by their names and where these lead now: a link may have come since the last look. */
export function stateFolders({ folders }: OwnState): string[] {
  return [...new Set(folders.flatMap((folder) => [folder, canonicalOf(folder)]))];
}

/**
 * Judges a change of the program's own state: denied by any name of what lies in its folders, also a hard link, which no pattern of paths
 * knows. Of a remote only paths are compared: it may be this disk, but what lies there cannot be looked up here.
 */
export function judgeOwnState(
  effect: ToolEffect,
  settings: { ownState: OwnState | undefined; roots: readonly string[]; readable: readonly string[]; scope: PathScope },
  looks: Looks,
): Verdict | undefined {
  const { ownState, roots, scope } = settings;
  const { kind, path, givenPath = path, tree } = effect;
  if (ownState === undefined || path === undefined) return undefined;
  const folders = stateFolders(ownState);
  const patterns = compilePathPatterns(folders.map(exactPattern), {
    roots: [],
    ignoreCase: true,
    missingMatches: true,
  });
  const subject = { what: describeEffect(effect, scope), effect };
  const denied: Verdict = {
    decision: "deny",
    cause: { by: "protected", pattern: "" },
    why: ownState.why,
    ...subject,
  };
  const pattern = patterns.match(path) ?? patterns.match(givenPath ?? path);
  if (pattern !== undefined || (tree && patterns.mayMatchBelow(path))) return denied;
  if (!isSeen(effect, settings)) return undefined;
  const stats = kind === "write" ? looks.stats(path) : undefined;
  const linked = stats?.isFile() && stats.nlink > 1 ? stats : undefined;
  if (linked && folders.some((folder) => holds(folder, linked, looks))) return denied;
  for (const [name, decides] of Object.entries(ownState.files ?? {})) {
    // By its own name it is a protected path.
    if (name === basename(path)) return undefined;
    const isIt = (ownState.roots ?? roots).some((root) => {
      const file = canonicalOf(join(root, name));
      return file === path || (tree && isInside(path, file)) || (linked && isSame(looks.stats(file), linked));
    });
    const why = `it is another name of ${name}, or a folder around it, and that ${decides}`;
    if (isIt) return { decision: "ask", cause: { by: "protected", pattern: name }, why, ...subject };
  }
  return undefined;
}

function canonicalOf(path: string): string {
  return canonicalOrUndefined(path) ?? path;
}

/** Returns whether a folder holds the file, by whatever name. */
function holds(folder: string, file: EntryStats, looks: Looks): boolean {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).some((entry) => {
      return entry.isFile() && isSame(looks.stats(join(entry.parentPath, entry.name)), file);
    });
  } catch {
    // There is no such folder yet.
    return false;
  }
}

function isSame(one: EntryStats | undefined, other: EntryStats): boolean {
  return one?.ino === other.ino && one.dev === other.dev;
}

/**
 * Finds the rule of allow that covers a protected path and names it outright: its pattern holds the protected name itself, not a folder
 * above it or a wildcard in its place.
 */
export function outrightRule(
  groups: readonly RuleGroup[],
  path: string,
  entry: ProtectedEntry,
  matcher: ProtectedMatcher,
  { roots, home }: PathBases,
): Rule | undefined {
  const names = (pattern: string): boolean =>
    candidatePaths(pattern, roots, home ?? "").some((candidate) => matcher.match(candidate)?.pattern === entry.pattern);
  for (const group of groups) {
    for (const [pattern, rule] of group.byPattern) {
      if (!names(pattern)) continue;
      const alone = compilePathPatterns([pattern], { roots, home });
      if (alone.match(path) !== undefined) return rule;
    }
  }
  return undefined;
}

/** Lists the pattern itself as a path, and each of its names. */
function candidatePaths(pattern: string, roots: readonly string[], home: string): string[] {
  const names = pattern.split("/").filter((name) => name !== "" && name !== "." && name !== "~");
  const whole = pattern.startsWith("/")
    ? [pattern]
    : pattern.startsWith("~/")
      ? [join(home, pattern.slice(2))]
      : roots.map((root) => join(root, pattern));
  return [...whole, ...names.flatMap((name) => roots.map((root) => join(root, name)))];
}
