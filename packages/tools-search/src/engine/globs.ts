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

/** A pattern cut at the slashes that end a segment. */
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

/** Whether a path matches. */
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

/** Segments between slashes; undefined for `**`. */
function compilePattern(pattern: string | undefined): PathMatcher | undefined {
  if (pattern === undefined) return undefined;
  const segments: (PathMatcher | "**")[] = [];
  let tail = "";
  for (const segment of segmentsOf(pattern)) {
    if (segment === ".") continue;
    const compiled = segment === "**" ? segment : compileSegment(segment);
    if (compiled === undefined) return undefined;
    if (compiled !== "**" || segments.at(-1) !== "**") segments.push(compiled);
    tail = /[^*?[\]\\{}]*$/.exec(segment)?.[0] ?? "";
  }
  const last = segments.at(-1);
  const [first] = segments;
  // Most globs are of this form.
  if (segments.length === 2 && first === "**" && typeof last === "function") {
    return (path) => path.endsWith(tail) && last(path.slice(path.lastIndexOf("/") + 1));
  }
  return (path) => path.endsWith(tail) && matchSegments(segments, path.split("/"));
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
  return (folder) => {
    const names = folder.split("/");
    if (taken.some((pattern) => pattern.startsWith(`${folder}/`))) return true;
    return compiled.some((segments) => {
      for (const [at, name] of names.entries()) {
        const segment = segments[at];
        if (segment === "**") return true;
        if (!segment?.(name)) return false;
      }
      return segments.length > names.length;
    });
  };
}

/** Follows the segments, and goes back to the last `**` where one does not match. A `**` at the end stands for a name at least. */
function matchSegments(segments: readonly (PathMatcher | "**")[], names: readonly string[]): boolean {
  let at = 0;
  let [wide, resume] = [-1, 0];
  for (let name = 0; name < names.length; ) {
    const segment = segments[at];
    if (segment === "**") {
      if (at === segments.length - 1) return true;
      [wide, resume] = [at, name];
      at += 1;
    } else if (segment?.(names[name] as string)) {
      at += 1;
      name += 1;
    } else if (wide !== -1) {
      resume += 1;
      [at, name] = [wide + 1, resume];
    } else {
      return false;
    }
  }
  return at === segments.length && at > 0;
}

/** A unit, a set of units, any unit (`?`), or any number of them (`*`). */
type Token = string | RegExp | typeof one | typeof many;
const one = Symbol("?");
const many = Symbol("*");

/** Alternatives that the braces of a pattern may stand for. */
const mostAlternatives = 100;

function compileSegment(segment: string): PathMatcher | undefined {
  if (/[@!?+*]\(|\([^)]*\||\*\*/.test(segment)) return undefined;
  // Most segments are a name, or `*` and an ending.
  const [, star, ending = ""] = /^(\*?)([^*?[\]\\{}]*)$/.exec(segment) ?? [];
  if (star === "") return (name) => name === ending;
  if (star === "*") return (name) => name.endsWith(ending);
  const alternatives = expandBraces(segment)?.map(tokensOf);
  if (alternatives === undefined || alternatives.includes(undefined)) return undefined;
  return (name) => name === segment || alternatives.some((tokens) => matchTokens(tokens as Token[], name));
}

const token = /\\([\s\S])|(\[)([!^]?)((?:[\w. ](?:-[\w. ])?|[$@#%&=~+])+-?\])?|[\s\S]/gy;

function tokensOf(pattern: string): Token[] | undefined {
  const tokens: Token[] = [];
  for (const [whole, escaped, bracket, negated, set] of pattern.matchAll(token)) {
    if (bracket !== undefined && set === undefined) return undefined;
    if (whole === "\\" || whole === "{" || whole === "}") return undefined;
    if (set !== undefined) {
      // The ends of a range may be in the wrong order.
      if (/(\w)-(\w)/.test(set) && [...set.matchAll(/([\w. ])-([\w. ])/g)].some(([, a = "", b = ""]) => a > b))
        return undefined;
      tokens.push(new RegExp(`[${negated === "" ? "" : "^"}${set}`));
    } else if (whole === "*") tokens.push(many);
    else tokens.push(escaped ?? (whole === "?" ? one : whole));
  }
  return tokens;
}

/** Goes back to the last `*` where a token does not match: steps grow with the tokens times the name. */
function matchTokens(tokens: readonly Token[], name: string): boolean {
  let at = 0;
  let [star, resume] = [-1, 0];
  for (let unit = 0; unit < name.length; ) {
    const next = tokens[at];
    if (next === many) {
      [star, resume] = [at, unit];
      at += 1;
    } else if (next === one || next === name[unit] || (next instanceof RegExp && next.test(name[unit] as string))) {
      at += 1;
      unit += 1;
    } else if (star !== -1) {
      resume += 1;
      [at, unit] = [star + 1, resume];
    } else {
      return false;
    }
  }
  while (tokens[at] === many) at += 1;
  return at === tokens.length;
}

/** The patterns that braces with a slash within stand for. */
function expandSlashes(pattern: string): string[] | undefined {
  return segmentsOf(pattern).some((segment) => segment.includes("/")) ? expandBraces(pattern) : [pattern];
}

/** The first pair of braces without braces in it. */
const innermost = /\{([^{}]*)\}/;

function expandBraces(pattern: string): string[] | undefined {
  if (/\\[{},]/.test(pattern)) return pattern.replace(/\\[\s\S]/g, "").includes("{") ? undefined : [pattern];
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const braces = innermost.exec(next);
    if (braces === null) {
      done.push(next);
      continue;
    }
    const [whole, inside = ""] = braces;
    if (!inside.includes(",")) return undefined;
    const [before, after] = [next.slice(0, braces.index), next.slice(braces.index + whole.length)];
    open.push(...inside.split(",").map((part) => before + part + after));
    if (open.length + done.length > mostAlternatives) return undefined;
  }
  return done;
}
