import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { canonicalOrUndefined, isInside } from "@toolcrib/kit/files";
import type { Settings } from "../settings.ts";
import { holdsForeignSubmodule, isThere, repositoryAt } from "./foreignSubmodules.ts";

/**
 * Returns whether git may take another repository than the user's own, one that came with the files or that the line itself makes: a `.git`
 * below the root, or a bare repository, which is any folder with a `HEAD` (also a link to nothing) and some folders. Git looks from the
 * directory upwards, in each for `.git` first, so the root's own comes before anything that is made there. Its submodules count too.
 */
export function mayHoldForeignRepository(directory: string, changes: boolean, settings: Settings): boolean {
  const { roots } = settings;
  const isSubmoduleForeign = (root: string): boolean =>
    holdsForeignSubmodule(root, changes, {
      isInRoots: (path) => roots.some((one) => isInside(one, path)),
      gitFolder: (folder) => gitFolder(folder, settings),
    });
  if (roots.includes(directory) && repositoryOf(directory, settings) === "own") return isSubmoduleForeign(directory);
  if (changes) return true;
  for (let at = directory; ; at = dirname(at)) {
    const isRoot = roots.includes(at);
    const of = isRoot ? repositoryOf(at, settings) : undefined;
    if (of === "own") return isSubmoduleForeign(at);
    if (isThere(join(at, "HEAD")) || (!isRoot && isThere(join(at, ".git")))) return true;
    if (isRoot) return of === "foreign" || isSubmoduleForeign(at);
    if (!roots.some((root) => isInside(root, at)) || dirname(at) === at) return true;
  }
}

/**
 * Whose repository the `.git` of a root is. It is the user's own where it is a repository itself, or leads to one: a file in a worktree
 * or a submodule, or a link. One that leads to a place where calls may write unasked is foreign.
 */
function repositoryOf(root: string, settings: Settings): "own" | "foreign" | "none" {
  if (!isThere(join(root, ".git"))) return "none";
  const folder = gitFolder(root, settings);
  if (folder === undefined) return "foreign";
  if (isThere(join(folder, "HEAD"))) return "own";
  return folder === canonicalOrUndefined(join(root, ".git")) ? "none" : "foreign";
}

/** Where the `.git` of a folder leads; undefined where that cannot be told, or where calls may write unasked. */
function gitFolder(top: string, { roots, protectedPaths }: Settings): string | undefined {
  const isSafe = (place: string): boolean =>
    !roots.some((one) => isInside(one, place)) || protectedPaths.match(place) !== undefined;
  const real = canonicalOrUndefined(join(top, ".git"));
  if (real === undefined || !isSafe(real)) return undefined;
  const folder = isFile(real) ? target(top, real) : real;
  return folder !== undefined && isSafe(folder) ? folder : undefined;
}

/** The usual names of remotes, which stand for a folder of that name where no such remote is configured. */
const remotes = ["origin", "upstream"];
const transfers = /^(?:fetch|ls-remote|pull|push)$/;

/**
 * Returns the folder that a git command would take for the remote it names, or that a transfer takes without a name. What git finds there it
 * runs, as it would in any repository.
 */
export function folderAsRemote(
  words: readonly string[],
  directory: string,
  changes: boolean,
  settings: Settings,
): string | undefined {
  const named = remotes.filter((name) => words.includes(name) || (name === "origin" && words.some(isTransfer)));
  const place = named.map((name) => join(directory, name)).find((path) => changes || isThere(path));
  if (place === undefined) return undefined;
  const top = repositoryAt(directory);
  const folder = top === undefined ? undefined : gitFolder(top, settings);
  const configured = folder === undefined ? "" : configurationOf(folder);
  return named.every((name) => configured.includes(`[remote "${name}"]`)) ? undefined : place;
}

function isTransfer(word: string): boolean {
  return transfers.test(word);
}

/** The configuration of a repository, that of the main one for a worktree; empty where it cannot be read. */
function configurationOf(folder: string): string {
  try {
    const common = join(folder, "commondir");
    const main = isThere(common) ? resolve(folder, readFileSync(common, "utf8").trim()) : folder;
    return readFileSync(join(main, "config"), "utf8");
  } catch {
    return "";
  }
}

/** As much as a path takes. */
const longestFile = 5000;

/** Reads where a `.git` that is a file leads: it holds `gitdir: PATH`. */
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
