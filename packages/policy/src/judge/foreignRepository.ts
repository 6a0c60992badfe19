import { lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { canonicalOrUndefined, isInside } from "@toolcrib/core/files";
import type { Settings } from "../settings.ts";

/**
 * Whether git may take another repository than the user's own, one that came with the files or that the line itself makes: a `.git`
 * below the root, or a bare repository, which is any folder with a `HEAD` (also a link to nothing) and some folders. Git looks from the
 * directory upwards, in each for `.git` first, so the root's own comes before anything that is made there.
 */
export function mayHoldForeignRepository(directory: string, changes: boolean, settings: Settings): boolean {
  const { roots } = settings;
  if (roots.includes(directory) && repositoryOf(directory, settings) === "own") return false;
  if (changes) return true;
  for (let at = directory; ; at = dirname(at)) {
    const isRoot = roots.includes(at);
    if (isRoot && repositoryOf(at, settings) === "own") return false;
    if (isThere(join(at, "HEAD")) || (!isRoot && isThere(join(at, ".git")))) return true;
    if (isRoot) return repositoryOf(at, settings) === "foreign";
    if (!roots.some((root) => isInside(root, at)) || dirname(at) === at) return true;
  }
}

/**
 * Whose repository the `.git` of a root is. It is the user's own where it is a repository itself, or leads to one: a file in a worktree
 * or a submodule, or a link. One that leads to a place where calls may write unasked is foreign.
 */
function repositoryOf(root: string, { roots, protectedPaths }: Settings): "own" | "foreign" | "none" {
  const path = join(root, ".git");
  if (!isThere(path)) return "none";
  const isSafe = (place: string): boolean =>
    !roots.some((one) => isInside(one, place)) || protectedPaths.match(place) !== undefined;
  const real = canonicalOrUndefined(path);
  if (real === undefined || !isSafe(real)) return "foreign";
  const folder = isFile(real) ? target(root, real) : real;
  if (folder === undefined || !isSafe(folder)) return "foreign";
  if (isThere(join(folder, "HEAD"))) return "own";
  return folder === real ? "none" : "foreign";
}

/** As much as a path takes. */
const longestFile = 5000;

/** Where a `.git` that is a file leads: it holds `gitdir: PATH`. */
function target(root: string, file: string): string | undefined {
  try {
    if (statSync(file).size > longestFile) return undefined;
    const path = /^gitdir: ([^\n\r\0]+)[\n\r]*$/.exec(readFileSync(file, "utf8"))?.[1];
    return path === undefined ? undefined : canonicalOrUndefined(resolve(root, path));
  } catch {
    return undefined;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Also a link that leads nowhere, and a `.git` that is a file. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
