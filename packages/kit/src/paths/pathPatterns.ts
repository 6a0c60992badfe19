import path from "node:path";
import { quote } from "@toolcrib/core/internal";
import { clip } from "@toolcrib/core/text";
import { canonicalOrUndefined } from "./canonicalPath.ts";
import { foldCase, foldPattern, isAscii } from "./foldCase.ts";
import { asBytes, compileWildmatch, type Glob } from "./globs.ts";
import { homeFolder } from "./homeFolder.ts";
import { type PathStyle, withSlashes } from "./pathStyle.ts";
import { malformed, readPattern } from "./readPattern.ts";

export interface PathPatternOptions {
  /** Absolute directories that `a/b` and `./x` start from. */
  roots: readonly string[];
  /** The directory that `~/` stands for. Default: the user's home. */
  home?: string | undefined;
  /** `.ENV` is `.env` then, also where accents are composed otherwise or characters without a shape are in between. */
  ignoreCase?: boolean | undefined;
  /** A pattern with `/` at its end, which is for directories, then also matches what does not exist or is not known. */
  missingMatches?: boolean | undefined;
  /** Also match the targets to which the plain names at the head of `a/b` or `/x` lead through links when this is compiled. */
  followLinks?: boolean | undefined;
  /** `path.posix` or `path.win32`. Default: that of the running system. */
  style?: PathStyle | undefined;
}

/** Patterns of paths, compiled. Paths to match are absolute; `..` in them is taken off by name. */
export interface PathPatterns {
  /**
   * Returns the first pattern that matches a path or a directory above it: a directory that matches covers all that is below it.
   * `isDirectory` is left out where it is not known.
   */
  match(path: string, isDirectory?: boolean): string | undefined;
  /** Returns false if nothing below the directory can match. */
  mayMatchBelow(directory: string): boolean;
}

/** One pattern from one place: `glob` is tested against what follows `base`, which ends in `/`; without one, `base` itself matches. */
interface PlacedPattern {
  readonly order: number;
  readonly directoryOnly: boolean;
  readonly base: string;
  /** `base` with `/` at its end. */
  readonly inside: string;
  readonly glob: Glob | undefined;
}

/** A pattern for a single name, at any depth. */
interface NamePattern {
  readonly order: number;
  readonly directoryOnly: boolean;
}

/** One with wildcards. */
type NameGlob = NamePattern & { readonly glob: Glob };

/**
 * Compiles patterns as in a .gitignore, without `!`: `NAME` matches at any depth (in a root: below it), `a/b` and `./x` from each
 * root, `/x` and `//x` from the file system's root, `~/x` from the home. `{a,b}` is no alternative. On Windows `C:/x` is from a drive,
 * `//server/share/x` from a share and `/x` from the drive of each root. Matching takes time in proportion to the pattern times the
 * path. Each name matches the name that is written so, too: a path is its own pattern. Throws a TypeError that names a malformed
 * pattern, and what is wrong with it.
 */
export function compilePathPatterns(patterns: readonly string[], options: PathPatternOptions): PathPatterns {
  const { ignoreCase = false, missingMatches = false, style = path } = options;
  const folded = (text: string): string => (ignoreCase ? foldCase(text) : text);
  const rootPaths = withTargets(options.roots, style);
  const roots = rootPaths
    .map((root) => folded(slashed(root, style)))
    .toSorted((one, other) => one.length - other.length);
  const names = new Map<string, NamePattern[]>();
  const globs: NameGlob[] = [];
  const placed: PlacedPattern[] = [];
  for (const [order, pattern] of patterns.entries()) {
    const { glob, directoryOnly, anchor, top } = readPattern(pattern, style);
    const refuse = (reason: string): TypeError => malformed(pattern, reason);
    if (ignoreCase && glob !== "" && glob.split("/").some((name) => foldPattern(name) === "")) {
      throw refuse("a name in it has only invisible characters, which are ignored here");
    }
    if (anchor === undefined) {
      const name = ignoreCase ? foldPattern(glob) : glob;
      const rule = { order, directoryOnly };
      if (isPlain(name)) names.set(folded(name), [...(names.get(folded(name)) ?? []), rule]);
      else globs.push({ ...rule, glob: compileOrThrow(name, ignoreCase, refuse) });
      continue;
    }
    const starts =
      anchor === "root"
        ? rootPaths
        : anchor === "home"
          ? homes(options.home, style, refuse)
          : topsOf(top, rootPaths, style);
    for (const place of placesOf(glob, starts, options.followLinks === true, style)) {
      const rest = ignoreCase ? foldPattern(place.glob) : place.glob;
      const compiled = rest === "" ? undefined : compileOrThrow(rest, ignoreCase, refuse);
      const base = folded(place.base);
      placed.push({ order, directoryOnly, base, inside: withSlash(base), glob: compiled });
    }
  }

  const none: readonly NamePattern[] = [];
  const matchText = (text: string, isDirectory: boolean): number => {
    let first = Infinity;
    const add = ({ order, directoryOnly }: NamePattern, whole: boolean): void => {
      if (order < first && !(directoryOnly && whole && !isDirectory)) first = order;
    };
    for (const rule of placed) {
      if (rule.order >= first) continue;
      const head = matchPlaced(rule, text);
      if (head !== undefined) add(rule, head === "whole");
    }
    if (names.size === 0 && globs.length === 0) return first;
    const below = text.slice(lengthOfRoot(text, roots)).split("/");
    for (const [at, name] of below.entries()) {
      if (name === "") continue;
      const whole = at === below.length - 1;
      for (const rule of names.get(name) ?? none) add(rule, whole);
      const bytes = globs.length > 0 ? asBytes(name) : "";
      for (const rule of globs)
        if (rule.order < first && (rule.glob.ofName?.(bytes) ?? rule.glob.matches(name))) add(rule, whole);
    }
    return first;
  };

  // A character that the case leaves out of a set, or that folds to more or fewer bytes, matches as it is written, too.
  const byBytes = ignoreCase ? patterns.filter((pattern) => /[?[]/.test(pattern)) : [];
  const unfolded = byBytes.length > 0 ? compilePathPatterns(byBytes, { ...options, ignoreCase: false }) : undefined;

  return {
    match(given, isDirectory) {
      const text = plainPath(given, style);
      const asDirectory = isDirectory ?? (missingMatches || /[\\/]$/.test(given));
      let first = Infinity;
      for (const form of formsOf(text, ignoreCase)) first = Math.min(first, matchText(form, asDirectory));
      return patterns[first] ?? unfolded?.match(given, isDirectory);
    },
    mayMatchBelow(directory) {
      if (names.size > 0 || globs.length > 0 || unfolded?.mayMatchBelow(directory)) return true;
      return formsOf(plainPath(directory, style), ignoreCase).some((form) => {
        const inside = form.endsWith("/") ? form : `${form}/`;
        return placed.some((rule) => mayMatchPlaced(rule, inside));
      });
    },
  };
}

interface Place {
  /** Ends in `/`, but where the glob is empty. */
  base: string;
  glob: string;
}

/** Returns the places of a glob below its starts; with `followLinks` also below what the plain names at its head lead to. */
function placesOf(glob: string, starts: readonly string[], followLinks: boolean, style: PathStyle): Place[] {
  const names = glob === "" ? [] : glob.split("/");
  const firstGlob = names.findIndex((name) => !isPlain(name));
  const plain = names.slice(0, firstGlob < 0 ? names.length : firstGlob);
  const rest = names.slice(plain.length).join("/");
  const placeAt = (base: string, glob: string): Place => ({
    base: glob === "" ? slashed(base, style) : withSlash(slashed(base, style)),
    glob,
  });
  return starts.flatMap((start) => {
    const head = style.join(start, ...plain);
    const heads = followLinks ? withTargets([head], style) : [head];
    const linked = followLinks ? linkedPlaces(start, names, plain.length, style) : [];
    return [...heads.map((one) => placeAt(one, rest)), ...linked.map(({ base, glob }) => placeAt(base, glob))];
  });
}

/** Returns where a glob goes on behind links whose names have brackets or escapes, and so may be written exactly. */
function linkedPlaces(start: string, names: readonly string[], plain: number, style: PathStyle): Place[] {
  const firstGlob = names.findIndex((name) => /(?<!\\)(?:\\\\)*[*?]/.test(name));
  const exact = names.slice(0, firstGlob < 0 ? names.length : firstGlob);
  if (exact.length === plain) return [];
  const written = exact.map((name) => name.replace(/\\(.)/gs, "$1"));
  const heads = style.sep === "/" ? [exact, written] : [written];
  const found = heads.map((head) => canonicalOrUndefined(style.join(start, ...head)));
  const glob = names.slice(exact.length).join("/");
  return [...new Set(found)].flatMap((base) => (base === undefined ? [] : [{ base, glob }]));
}

/** Lists where a pattern from the top starts. On Windows one without a drive is about the drive or share of each root. */
function topsOf(top: string, roots: readonly string[], style: PathStyle): string[] {
  if (style.sep === "/") return ["/"];
  if (top !== "") return [style.join(top, "/")];
  return [...new Set([...roots, style.resolve("/")].map((one) => style.parse(one).root))];
}

function homes(home: string | undefined, style: PathStyle, refuse: (reason: string) => TypeError): string[] {
  const found = home ?? homeFolder();
  if (found === undefined || !style.isAbsolute(found))
    throw refuse("the home directory is not known; write the path from /");
  return withTargets([found], style);
}

/** Lists directories, and those to which they lead through links. */
function withTargets(directories: readonly string[], style: PathStyle): string[] {
  const all = directories.map((one) => style.resolve(one));
  return [...new Set(all.flatMap((one) => [one, canonicalOrUndefined(one) ?? one]))];
}

function isPlain(name: string): boolean {
  return !/[*?[\\]/.test(name);
}

function compileOrThrow(glob: string, ignoreCase: boolean, refuse: (reason: string) => TypeError): Glob {
  const compiled = compileWildmatch(glob, ignoreCase, true);
  if (typeof compiled === "string") throw refuse(compiled);
  return compiled;
}

function matchPlaced({ base, inside, glob }: PlacedPattern, text: string): "parent" | "whole" | undefined {
  if (glob !== undefined) return text.startsWith(base) ? glob.matchHead(text.slice(base.length)) : undefined;
  if (text === base) return "whole";
  return text.startsWith(inside) ? "parent" : undefined;
}

/** Returns whether a path below `inside`, which ends in `/`, may match. */
function mayMatchPlaced(rule: PlacedPattern, inside: string): boolean {
  if (rule.inside.startsWith(inside) || matchPlaced(rule, inside) !== undefined) return true;
  return (
    rule.glob !== undefined && inside.startsWith(rule.base) && rule.glob.mayMatchBelow(inside.slice(rule.base.length))
  );
}

/** Returns how much of a path is the outermost root around it, whose own names are not looked at. The shortest root comes first. */
function lengthOfRoot(text: string, roots: readonly string[]): number {
  const isAround = (root: string): boolean =>
    text.startsWith(root) && (text.length === root.length || root.endsWith("/") || text[root.length] === "/");
  return roots.find(isAround)?.length ?? 0;
}

/** Matches an empty name, `.` and `..`, and a slash at the end. */
const notPlain = /\/(?:\.{0,2}(?:\/|$))/;

/** Writes a path with `/`, without `..`, and without a slash at its end. Throws for a path that is not absolute. */
function plainPath(given: string, style: PathStyle): string {
  if (style.sep === "/" && given.startsWith("/") && !notPlain.test(given)) return given;
  if (!style.isAbsolute(given)) throw new TypeError(`A path to match must be absolute, got ${quote(clip(given))}`);
  return slashed(style.resolve(given), style);
}

/** Returns the forms in which a path is compared. Composed and decomposed: a wildcard may stand for a letter without its accent. */
function formsOf(text: string, ignoreCase: boolean): readonly string[] {
  if (!ignoreCase) return [text];
  const composed = foldCase(text);
  if (isAscii(composed)) return [composed];
  const decomposed = composed.normalize("NFD");
  return composed === decomposed ? [composed] : [composed, decomposed];
}

/** Writes a path with `/`, and the letter of a drive in capitals, as the system gives it. */
function slashed(text: string, style: PathStyle): string {
  const plain = withSlashes(text, style);
  return style.sep === "/" ? plain : plain.replace(/^[a-z]:/, (drive) => drive.toUpperCase());
}

function withSlash(text: string): string {
  return text.endsWith("/") ? text : `${text}/`;
}
