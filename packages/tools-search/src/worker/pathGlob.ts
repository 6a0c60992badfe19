import { compileWildmatch } from "@toolcrib/core/files";

/** Alternatives that the braces of a pattern may stand for. */
const mostAlternatives = 100;

/**
 * Compiles globs of `*`, `**`, `?`, `[…]`, `\` and `{a,b}`, without a library and with a bounded time to match. Undefined for a
 * pattern with anything else: extended globs, ranges in braces, too many braces.
 */
export function compilePathGlob(
  patterns: readonly string[],
  anyDepth: boolean,
): ((path: string) => boolean) | undefined {
  const taken: string[] = [];
  const left: string[] = [];
  for (const pattern of patterns) {
    const negated = anyDepth && pattern.startsWith("!");
    const expanded = expandBraces(deepen(negated ? pattern.slice(1) : pattern, anyDepth));
    if (expanded === undefined) return undefined;
    (negated ? left : taken).push(...expanded);
  }
  const anyOf = (globs: readonly string[]): ((path: string) => boolean) => {
    const compiled = globs.map((glob) => compileWildmatch(glob)).filter((glob) => typeof glob !== "string");
    return (path) => compiled.some((glob) => glob.matches(path));
  };
  const isTaken = taken.length > 0 ? anyOf(taken) : () => true;
  if (left.length === 0) return isTaken;
  const isLeft = anyOf(left);
  // To fast-glob, a folder left out by its plain name (`!docs`) takes all below it along.
  const isLeftFolder = anyOf(left.filter((glob) => !/[*?[\\]/.test(glob.slice(glob.lastIndexOf("/") + 1))));
  return (path) => isTaken(path) && !isLeft(path) && !foldersOf(path).some(isLeftFolder);
}

/** `a` and `a/b` of `a/b/c`. */
function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) folders.push(path.slice(0, at));
  return folders;
}

/**
 * As `compilePathGlob`, for globs that begin anywhere (`**` first), of letters, digits, `*` and braces alone: fast-glob finds the same
 * files, more slowly. Undefined for any other.
 */
export function compileWalkGlob(
  patterns: readonly string[],
  anyDepth: boolean,
): ((path: string) => boolean) | undefined {
  const isPlain = (pattern: string): boolean => {
    const segments = deepen(anyDepth ? pattern.replace(/^!/, "") : pattern, anyDepth).split("/");
    // To fast-glob, `a/**` also finds a file called `a`.
    const last = segments.length === 1 ? "" : segments.at(-1);
    return segments[0] === "**" && last !== "**" && segments.every((one) => one === "**" || plainSegment.test(one));
  };
  return patterns.every(isPlain) ? compilePathGlob(patterns, anyDepth) : undefined;
}

/** No `**`, no `.` or `..`. */
const plainSegment = /^(?!\.{1,2}$)(?!.*\*\*)[\w.\-*{},]+$/;

/** The pattern relative to the start directory. */
export function deepen(pattern: string, anyDepth: boolean): string {
  if (pattern.startsWith("/")) return pattern.slice(1);
  return anyDepth && !pattern.includes("/") ? `**/${pattern}` : pattern;
}

/** The first pair of braces without braces in it. */
const innermost = /\{([^{}]*)\}/;

function expandBraces(pattern: string): string[] | undefined {
  if (/[@!?+*]\(|\\[{},]/.test(pattern)) return undefined;
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const braces = innermost.exec(next);
    if (braces === null) {
      if (/[{}]/.test(next)) return undefined;
      done.push(next);
      continue;
    }
    const [whole, inside = ""] = braces;
    if (!inside.includes(",")) return undefined;
    const [before, after] = [next.slice(0, braces.index), next.slice(braces.index + whole.length)];
    open.push(...inside.split(",").map((one) => before + one + after));
    if (open.length + done.length > mostAlternatives) return undefined;
  }
  return done;
}
