import { type Stats, statSync } from "node:fs";
import { sep } from "node:path";
import { ToolError } from "@toolcrib/core";
import { isInside, type PathScope, plainSystemError } from "@toolcrib/core/files";
import { clip, printableName } from "@toolcrib/core/text";
import type { Problem, SearchStart } from "./threads/protocol.ts";

/** Where `path` leads, through links and inside the roots. Throws a ToolError that says what is wrong with it. */
export async function resolveStart(scope: PathScope, path: string, argument: string): Promise<SearchStart> {
  const canonical = await scope.resolve(path, argument);
  const quoted = clip(printableName(path));
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

/** What a search could not read, in words; undefined where it read everything. */
export function problemNotice(scope: PathScope, problems: readonly Problem[], count: number): string | undefined {
  if (count === 0) return undefined;
  const named = problems.map(({ path, code }) => `${scope.print(path)} (${words[code] ?? code})`);
  const more = count > named.length ? `, and ${count - named.length} more` : "";
  return `[could not read ${named.join(", ")}${more}]`;
}

const words: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENAMETOOLONG: "its path is too long",
  ENOENT: "its name is not valid UTF-8",
  ELOOP: "it became a link",
  ERR_ACCESS_DENIED: "refused by Node's permission model",
  binary: "a binary file",
  longLine: "a line too long for a regular expression here",
};

/** Only `search_text` takes paths, and a glob beside them. */
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
