import type { Globs } from "./job.ts";
import { escapeLiteral } from "./requiredLiterals.ts";

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

/** Returns the names of folders that globs spell out, as `vendor` in `vendor/**`. */
export function namedFolders(globs: Globs): ReadonlySet<string> {
  const folders = readGlobs(globs).taken.flatMap((pattern) =>
    (expandBraces(pattern) ?? [pattern]).flatMap((one) => segmentsOf(one).slice(0, -1)),
  );
  return new Set(folders.filter((name) => !/[*?[\]{}\\]|[@!+]\(/.test(name)));
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

/** Alternatives that the braces of a pattern may stand for. */
const mostAlternatives = 100;

function compileSegment(segment: string): PathMatcher | undefined {
  if (/[@!?+*]\(|\([^)]*\||\*\*/.test(segment)) return undefined;
  // Most segments are a name, or `*` and an ending.
  const [, star, ending = ""] = /^(\*?)([^*?[\]\\{}]*)$/.exec(segment) ?? [];
  if (star === "") return (name) => name === ending;
  if (star === "*") return (name) => name.endsWith(ending);
  const sources = expandBraces(segment)?.map(sourceOf);
  if (sources === undefined || sources.includes(undefined)) return undefined;
  try {
    const expressions = sources.map((source) => new RegExp(`^${source}$`));
    return (name) => name === segment || expressions.some((expression) => expression.test(name));
  } catch {
    // The ends of a range are in the wrong order.
    return undefined;
  }
}

const token = /\\([\s\S])|(\[)([!^]?)((?:[\w. ](?:-[\w. ])?|[$@#%&=~+])+-?\])?|[\s\S]/gy;

/**
 * Writes a glob as an expression. The text before each `*` but the first is taken where it is first found, and not looked for again:
 * the steps grow with the glob times the name.
 */
function sourceOf(glob: string): string | undefined {
  const parts = [""];
  for (const [whole, escaped, bracket, negated, set] of glob.matchAll(token)) {
    if (bracket !== undefined && set === undefined) return undefined;
    if (whole === "\\" || whole === "{" || whole === "}") return undefined;
    if (whole === "*") parts.push("");
    else if (set !== undefined) parts[parts.length - 1] += `[${negated === "" ? "" : "^"}${set}`;
    else parts[parts.length - 1] += whole === "?" ? "[^]" : escapeLiteral(escaped ?? whole);
  }
  const [first, last] = [parts.shift(), parts.pop()];
  const between = parts.map((part, number) => `(?=(?<part${number}>[^]*?${part}))\\k<part${number}>`);
  return last === undefined ? first : `${first}${between.join("")}[^]*${last}`;
}

/** Returns the patterns that braces with a slash within stand for. */
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
