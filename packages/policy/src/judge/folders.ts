import { lstatSync, readdirSync, statSync } from "node:fs";
import { opendir } from "node:fs/promises";
import nodePath, { isAbsolute, join } from "node:path";
import { canonicalOrUndefined, compileWildmatch, type PathStyle, shareOf, systemErrorCode } from "@toolcrib/kit/files";

/** Limits the work that a decision may still take, in steps. */
export interface Budget {
  /** False once all is used up. */
  take(steps: number): boolean;
}

export function newBudget(steps: number): Budget {
  let left = steps;
  return {
    take(taken) {
      left -= taken;
      return left >= 0;
    },
  };
}

/** The kind of an entry, as Node's `Dirent` and `Stats` tell it: published types name none of Node's, which a user may not have. */
export interface EntryKind {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** Tells a file from others, too. */
export interface EntryStats extends EntryKind {
  readonly dev: number;
  readonly ino: number;
  readonly nlink: number;
}

/** Holds what a look through a folder found. */
interface Below {
  /** The first path that passed the test. */
  readonly found?: string | undefined;
  /** False where the folder holds too much, or could not be read, so that more may be in it. */
  readonly complete: boolean;
}

/** A look through more names than this would keep a decision waiting. */
const mostNames = 5000;

/**
 * Looks through a folder, links not followed, for a path that passes the test. A file, or nothing, is complete. Folders and names
 * count against the budget of the call.
 */
export async function findBelow(
  folder: string,
  test: (path: string, entry: EntryKind) => boolean,
  budget: Budget,
): Promise<Below> {
  const folders = [folder];
  let names = 0;
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    if (!budget.take(1)) return { complete: false };
    try {
      for await (const entry of await opendir(at)) {
        names += 1;
        if (names > mostNames || !budget.take(1)) return { complete: false };
        const path = join(at, entry.name);
        if (test(path, entry)) return { found: path, complete: true };
        if (entry.isDirectory()) folders.push(path);
      }
    } catch (error) {
      if (!["ENOENT", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) return { complete: false };
    }
  }
  return { complete: true };
}

export function hasPattern(word: string): boolean {
  return /[*?[]/.test(word);
}

/**
 * Lists the paths that a shell may put in the place of a word in a directory, and some more: `?` and all from the first bracket of a name
 * to its last are read as `*`, because shells and quotes disagree about brackets. A leading dot must be written. A pattern that begins
 * with a dot stands for `.` and `..` too, as in dash and in older versions of bash. The word itself is first: a shell keeps it if nothing fits.
 */
export function expandPattern(directory: string, word: string, budget: Budget): readonly string[] {
  let heads = [word.startsWith("/") ? "/" : ""];
  for (const part of word.split("/").filter((name) => name !== "")) {
    if (!hasPattern(part)) {
      heads = heads.map((head) => `${head}${part}/`);
      continue;
    }
    const fits = compilePart(part);
    const found: string[] = [];
    for (const head of heads) {
      const names = namesIn(head.startsWith("/") ? head : `${directory}/${head}`);
      if (!budget.take(names.length)) return [word];
      for (const name of names) if (fits(name)) found.push(`${head}${name}/`);
    }
    heads = found;
  }
  return [word, ...heads.map((head) => head.slice(0, -1) || "/")];
}

function compilePart(part: string): (name: string) => boolean {
  const stars = part.replace(/\[.*\]|\?/gs, "*").replace(/[\\[]/g, "\\$&");
  const compiled = compileWildmatch(stars);
  const dotted = part.startsWith(".");
  return (name) => dotted === name.startsWith(".") && (typeof compiled === "string" || compiled.matches(name));
}

/** Empty if the directory cannot be read, since the shell cannot read it either. */
function namesIn(directory: string): readonly string[] {
  try {
    return [".", "..", ...readdirSync(directory)];
  } catch {
    return [];
  }
}

/**
 * A path of a shell line as the system would open it from a canonical directory: links followed, missing names kept. The path by its
 * names alone where that fails.
 */
export function pathFrom(directory: string, word: string): string {
  const lexical = shellPath(directory, word);
  if (nodePath.sep === "\\") {
    // To look at another share would send the user's login to its server.
    const isElsewhere = ![undefined, shareOf(directory)].includes(shareOf(lexical));
    return isElsewhere ? lexical : (canonicalOrUndefined(lexical) ?? lexical);
  }
  const names = word.split("/");
  if (names.includes("..")) return canonicalOrUndefined(isAbsolute(word) ? word : `${directory}/${word}`) ?? lexical;
  let at = isAbsolute(word) ? "/" : directory;
  for (const name of names) {
    if (name === "" || name === ".") continue;
    at = at === "/" ? `/${name}` : `${at}/${name}`;
    const stats = linkStatsOf(at);
    // Nothing below a name that is missing can be a link. Most words are no paths, and end here.
    if (stats === undefined) return lexical;
    if (stats.isSymbolicLink()) return canonicalOrUndefined(lexical) ?? lexical;
  }
  return lexical;
}

/** Returns a path of a shell line, by its names alone. The `sh` of Windows writes a drive as a folder: `/c/x` is `C:\x`. */
export function shellPath(directory: string, word: string, style: PathStyle = nodePath): string {
  return style.resolve(directory, style.sep === "/" ? word : word.replace(/^\/([A-Za-z])(?=\/|$)/, "$1:/"));
}

/** Looks at what a path leads to; undefined if that is nothing, or cannot be told. */
export function statsOf(path: string): EntryStats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Looks at what has this name, which may be a link; undefined if that is nothing, or cannot be told. */
export function linkStatsOf(path: string): EntryStats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
