import { type Stats, statSync } from "node:fs";
import { dirname, normalize, sep } from "node:path";
import { invalidArgument, ToolError } from "@toolcrib/core";
import { clip, printableName } from "@toolcrib/core/text";
import { isInside, LookAlikes, missingPathHint, type PathScope, plainSystemError } from "@toolcrib/kit/files";
import type { SearchJob, SearchStart } from "./engine/job.ts";

export interface StartOptions {
  /** The argument that the path is in. */
  readonly argument: string;
  /** Share it between the paths of one call. */
  readonly alike?: LookAlikes;
  /** Gets the notice if another name that looks the same was used. */
  readonly onAlike?: (notice: string) => void;
}

/** Follows `path` through links, inside the roots. Throws a ToolError that says what is wrong with it. */
export async function resolveStart(
  scope: PathScope,
  path: string,
  { argument, alike = new LookAlikes(scope), onAlike }: StartOptions,
): Promise<SearchStart> {
  const { path: canonical, notice } = await alike.resolve(path, "read", argument);
  if (notice !== undefined) onAlike?.(notice);
  const quoted = printableName(clip(path));
  let stats: Stats | undefined;
  try {
    stats = statSync(canonical, { throwIfNoEntry: false });
  } catch (error) {
    throw plainSystemError(error, quoted);
  }
  if (stats === undefined) {
    const next = isGlob(argument, path) ? "pass the glob as include" : missingPathHint(canonical, scope);
    throw failure(`Path not found: ${quoted}; ${next || "check the path"}`);
  }
  const isDirectory = stats.isDirectory();
  if (!isDirectory && !stats.isFile()) throw failure(`Not a regular file or directory: ${quoted}; pass one of those`);
  const shown = scope.shorten(canonical);
  return {
    path: slashed(canonical),
    shown: isDirectory ? prefixOf(shown) : shown,
    isDirectory,
    isNamed: canonical !== scope.cwd,
  };
}

/** Returns where a search may read, and what it leaves out. */
export function limitsOf({ roots, readable, denied }: PathScope): Pick<SearchJob, "roots" | "deny"> {
  return { roots: roots && [...roots, ...readable], deny: denied?.rules };
}

/** Returns the root or readable folder that the first start lies in, else its own folder: what is remembered of files belongs to it. */
export function treeOf({ roots, readable, cwd }: PathScope, [start]: readonly SearchStart[]): string {
  if (start === undefined) return cwd;
  const path = normalize(start.path);
  const folder = start.isDirectory ? path : dirname(path);
  return [...(roots ?? [cwd]), ...readable].find((root) => isInside(root, folder)) ?? folder;
}

/** The longest query: a longer pattern takes long to read, and a line that holds a longer text is no line of a model's. */
export const longestQuery = 10_000;
/** The longest glob: its cost grows with the number of `**` in it. */
export const longestGlob = 1000;

/** Throws for a text that is longer than the limit. */
export function checkLength(argument: string, text: string, most: number): void {
  if (text.length <= most) return;
  throw invalidArgument(argument, `is longer than ${most} characters; pass a shorter one`);
}

/** The most globs that the braces of one may stand for: each is compiled, and `{a,b}` twenty times stands for a million. */
export const mostAlternatives = 1000;

/**
 * Throws for braces that stand for too many globs, and for one that is never closed, such as `*.{md,json`: fast-glob would look
 * for the brace in names.
 */
export function checkBraces(argument: string, glob: string): void {
  // Escapes and sets hold neither braces nor ranges.
  let rest = glob.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\/])+\]/g, "x");
  // Read from the inside out: each pair leaves the number of its count.
  const counts: number[] = [];
  const countOf = (text: string): number =>
    [...text.matchAll(/\0(\d+)/g)].reduce((product, [, number]) => product * (counts[Number(number)] ?? 1), 1);
  const readPair = (_: string, inside: string): string => {
    const listed = inside.split(",").reduce((sum, one) => sum + countOf(one), 0);
    return `\0${counts.push(Math.max(listed, rangeLength(inside))) - 1};`;
  };
  while (/\{[^{}]*\}/.test(rest)) rest = rest.replace(/\{([^{}]*)\}/g, readPair);
  if (rest.includes("{"))
    throw invalidArgument(argument, "a { is never closed; write {a,b}, or \\{ for the character itself");
  if (countOf(rest) > mostAlternatives)
    throw invalidArgument(
      argument,
      `its braces stand for more than ${mostAlternatives} globs; pass fewer alternatives`,
    );
}

/** Returns a glob without braces around one thing alone, `*.ts` for `*.{ts}`; undefined where there are none. */
export function withoutNeedlessBraces(glob: string): string | undefined {
  const part = /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\/])+\]|\{([^{},]+)\}/g;
  const plain = glob.replace(part, (whole, inside: string | undefined) =>
    inside === undefined || inside.includes("..") ? whole : inside,
  );
  return plain === glob ? undefined : (withoutNeedlessBraces(plain) ?? plain);
}

/**
 * Returns the braces that several globs in a row should be, `*.{ts,tsx}` for `*.ts,*.tsx`; undefined where a glob is one. Blanks, `;` and `|`
 * stand in names too, so that each part must have a star there.
 */
export function asBraces(glob: string): string | undefined {
  if (/[\\{}[\]()!]/.test(glob)) return undefined;
  const parts = glob.split(/\s*[,;|]\s*|\s+/).filter((part) => part !== "");
  const starred = parts.filter((part) => part.includes("*")).length;
  if (parts.length < 2 || starred === 0 || (starred < parts.length && !glob.includes(","))) return undefined;
  if (parts.every((part) => /^\*\.[^*?/]+$/.test(part))) return `*.{${parts.map((part) => part.slice(2)).join(",")}}`;
  const isDeep = parts.some((part) => part.includes("/"));
  return `{${parts.map((part) => (isDeep && !part.includes("/") ? `**/${part}` : part)).join(",")}}`;
}

/** Returns how many numbers `1..9` or `1..9..2` between braces stands for; 1 for anything else. */
function rangeLength(inside: string): number {
  const [, first, last, step = "1"] = /^(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?$/.exec(inside) ?? [];
  if (first === undefined || last === undefined) return 1;
  return Math.floor(Math.abs(Number(last) - Number(first)) / Math.max(1, Math.abs(Number(step)))) + 1;
}

/** Returns whether a path is a glob: `search_text` alone takes paths, and takes a glob in another argument. */
function isGlob(argument: string, path: string): boolean {
  return argument === "paths" && /[*?{]/.test(path);
}

function failure(message: string): ToolError {
  return new ToolError({ code: "execution_failed", message });
}

function slashed(path: string): string {
  return sep === "\\" ? path.replaceAll("\\", "/") : path;
}

/** Returns the prefix of the shown paths below a directory. */
function prefixOf(shown: string): string {
  if (shown === ".") return "";
  return shown.endsWith("/") ? shown : `${shown}/`;
}
