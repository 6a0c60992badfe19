import { type Stats, statSync } from "node:fs";
import { sep } from "node:path";
import { invalidArgument, ToolError } from "@toolcrib/core";
import { isInside, type PathScope, plainSystemError } from "@toolcrib/core/files";
import { clip, printableName } from "@toolcrib/core/text";
import type { SearchStart } from "./shared/jobs.ts";

/** Follows `path` through links, inside the roots. Throws a ToolError that says what is wrong with it. */
export async function resolveStart(scope: PathScope, path: string, argument: string): Promise<SearchStart> {
  const canonical = await scope.resolve(path, argument);
  const quoted = printableName(clip(path));
  let stats: Stats | undefined;
  try {
    stats = statSync(canonical, { throwIfNoEntry: false });
  } catch (error) {
    throw plainSystemError(error, quoted);
  }
  if (stats === undefined)
    throw failure(
      `Path not found: ${quoted}; ${isGlob(argument, path) ? "pass the glob as include" : "check the path"}`,
    );
  if (stats.isDirectory()) return { path: slashed(canonical), shown: shownPrefix(scope, canonical), isDirectory: true };
  if (!stats.isFile()) throw failure(`Not a regular file or directory: ${quoted}; pass one of those`);
  return { path: slashed(canonical), shown: relativeTo(scope, canonical), isDirectory: false };
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

/** Throws for a glob with a brace that is never closed, such as `*.{md,json`. fast-glob would look for the brace in names. */
export function checkBraces(argument: string, glob: string): void {
  let open = 0;
  // An escape, a set or a brace.
  for (const [part] of glob.matchAll(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\/])+\]|[{}]/g)) {
    if (part === "{") open += 1;
    else if (part === "}" && open > 0) open -= 1;
  }
  if (open > 0) throw invalidArgument(argument, "a { is never closed; write {a,b}, or \\{ for the character itself");
}

/** Only `search_text` takes paths, and it takes a glob in another argument. */
function isGlob(argument: string, path: string): boolean {
  return argument === "paths" && /[*?{]/.test(path);
}

function failure(message: string): ToolError {
  return new ToolError({ code: "execution_failed", message });
}

function slashed(path: string): string {
  return sep === "\\" ? path.replaceAll("\\", "/") : path;
}

function shownPrefix(scope: PathScope, canonical: string): string {
  const relative = relativeTo(scope, canonical);
  return relative === "" || relative.endsWith("/") ? relative : `${relative}/`;
}

function relativeTo(scope: PathScope, canonical: string): string {
  const { cwd } = scope;
  if (canonical === cwd) return "";
  return slashed(
    isInside(cwd, canonical) ? canonical.slice(cwd.endsWith(sep) ? cwd.length : cwd.length + 1) : canonical,
  );
}
