import { choicesOf, compileName, compileNames, type NameTest } from "@toolcrib/kit/files";
import type { Globs } from "./job.ts";

/** Globs as they are read: relative to the start, without the `!` of those that leave files out. */
export interface ReadGlobs {
  taken: string[];
  left: string[];
}

/** Returns whether a glob of an `anyDepth` list leaves files out. `!(` begins an extended glob, as in fast-glob and the shells. */
export function leavesOut(pattern: string): boolean {
  return pattern.startsWith("!") && pattern[1] !== "(";
}

/**
 * Reads globs. A name matches a segment of a glob if it equals that segment or matches it; a slash within braces or parentheses ends
 * no segment. What a glob leaves out it leaves out with all below.
 */
export function readGlobs({ patterns, anyDepth }: Globs): ReadGlobs {
  const isLeft = (pattern: string): boolean => anyDepth && leavesOut(pattern);
  const read = (given: string): string => {
    const pattern = given.replace(/\/{2,}/g, "/");
    if (pattern.startsWith("/")) return pattern.slice(1);
    return anyDepth && !pattern.includes("/") ? `**/${pattern}` : pattern;
  };
  const taken = patterns.filter((one) => !isLeft(one)).map(read);
  const left = patterns.filter(isLeft).map((one) => read(one.slice(1).replace(/\/$/, "")));
  return { taken: taken.length > 0 ? taken : ["**"], left: left.flatMap((one) => [one, `${one}/**`]) };
}

/** Returns a pattern cut at the slashes that end a segment. */
export function segmentsOf(pattern: string): string[] {
  const segments = [""];
  let depth = 0;
  for (const [part] of pattern.matchAll(/\\[\s\S]|[@!?+*]\(|[\s\S]/g)) {
    if (part === "{" || (part.length > 1 && part.endsWith("("))) depth += 1;
    if ((part === "}" || part === ")") && depth > 0) depth -= 1;
    if (part === "/" && depth === 0) segments.push("");
    else segments[segments.length - 1] += part;
  }
  return depth > 0 ? pattern.split("/") : segments;
}

export type PathMatcher = (path: string) => boolean;

/**
 * Compiles globs of `*`, `**`, `?`, `[a-z]`, `\` and `{a,b}`, which take a bounded time to match. Undefined where one of them holds
 * anything else: patterns in parentheses, ranges in braces, unusual sets, too many braces.
 */
export function compilePlainGlobs(globs: Globs): PathMatcher | undefined {
  const { taken, left } = readGlobs(globs);
  const anyOf = (patterns: readonly string[]): PathMatcher | undefined => {
    const names = new Set(patterns);
    const compiled = patterns.flatMap((pattern) => expandSlashes(pattern) ?? [undefined]).map(compilePattern);
    if (compiled.includes(undefined)) return undefined;
    return (path) => compiled.some((matches) => matches?.(path)) || names.has(path);
  };
  const isTaken = anyOf(taken);
  const isLeft = anyOf(left);
  if (isTaken === undefined || isLeft === undefined) return undefined;
  return left.length === 0 ? isTaken : (path) => isTaken(path) && !isLeft(path);
}

function compilePattern(pattern: string | undefined): PathMatcher | undefined {
  if (pattern === undefined) return undefined;
  const segments = segmentsOf(pattern).filter((segment) => segment !== ".");
  const names = segments.map((segment) => (segment === "**" ? segment : compileSegment(segment)));
  const isPlain = (name: NameTest | "**" | undefined): name is NameTest | "**" => name !== undefined;
  if (!names.every(isPlain)) return undefined;
  const tail = /[^*?[\]\\{}]*$/.exec(segments.at(-1) ?? "")?.[0] ?? "";
  const { matches } = compileNames(names);
  return (path) => path.endsWith(tail) && matches(path);
}

/** Compiles globs into a test whether a path below a folder may match. */
export function compileFolderMatcher(globs: Globs): PathMatcher {
  const { taken } = readGlobs(globs);
  const patterns = taken.flatMap((pattern) => expandSlashes(pattern) ?? ["**"]);
  const compiled = patterns.map((pattern) =>
    segmentsOf(pattern)
      .filter((segment) => segment !== ".")
      .map((segment) => (segment === "**" ? segment : (compileSegment(segment) ?? "**"))),
  );
  if (compiled.some(([first]) => first === "**")) return () => true;
  const heads = compiled.map(compileNames);
  return (folder) => {
    const inside = `${folder}/`;
    return taken.some((pattern) => pattern.startsWith(inside)) || heads.some((head) => head.mayMatchBelow(inside));
  };
}

/** Returns the names of folders that globs spell out, as `vendor` in `vendor/**`. */
export function namedFolders(globs: Globs): ReadonlySet<string> {
  const folders = readGlobs(globs).taken.flatMap((pattern) =>
    (expandBraces(pattern) ?? [pattern]).flatMap((one) => segmentsOf(one).slice(0, -1)),
  );
  return new Set(folders.filter((name) => !/[*?[\]{}\\]|[@!+]\(/.test(name)));
}

/** Alternatives that the braces of a pattern may stand for. */
const mostAlternatives = 100;

function compileSegment(segment: string): NameTest | undefined {
  if (/[@!?+*]\(|\([^)]*\||\*\*/.test(segment)) return undefined;
  const alternatives = expandBraces(segment);
  if (alternatives === undefined || alternatives.some(isUnusual)) return undefined;
  const tests = alternatives.map(compileName);
  if (tests.includes(undefined)) return undefined;
  const [only] = tests;
  // Most segments are a name, or `*` and an ending.
  if (only !== undefined && /^\*?[^*?[\]\\{}]*$/.test(segment)) return only;
  return (name) => name === segment || tests.some((test) => test?.(name));
}

const token = /\\[\s\S]|\[[!^]?(?:[\w. ](?:-[\w. ])?|[$@#%&=~+])+-?\]|[[{}]/g;

/** Returns whether a glob has a brace, or another set than a simple one. */
function isUnusual(glob: string): boolean {
  return [...glob.matchAll(token)].some(
    ([part]) =>
      part.length === 1 || [...part.matchAll(/([\w. ])-([\w. ])/g)].some(([, from = "", to = ""]) => from > to),
  );
}

/** Returns the patterns that braces with a slash within stand for. */
function expandSlashes(pattern: string): string[] | undefined {
  return segmentsOf(pattern).some((segment) => segment.includes("/")) ? expandBraces(pattern) : [pattern];
}

/** Returns the patterns that lists in braces stand for; undefined for escapes of braces, ranges, and too many. */
function expandBraces(pattern: string): string[] | undefined {
  const hasBraces = pattern.replace(/\\[\s\S]/g, "").includes("{");
  if (!hasBraces) return [pattern];
  if (/\\[{},]|\{[^{},]*\}/.test(pattern)) return undefined;
  const done: string[] = [];
  for (const one of choicesOf(pattern)) if (done.push(one) > mostAlternatives) return undefined;
  return done;
}
