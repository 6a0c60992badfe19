import { lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { opendir } from "node:fs/promises";
import nodePath, { isAbsolute, join } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import {
  canonicalOrUndefined,
  compileWildmatch,
  isOnOtherShare,
  type PathStyle,
  systemErrorCode,
} from "@toolcrib/kit/files";

/** Limits the work that a decision may still take, in steps. */
export interface Budget {
  /** Takes steps from the budget. Returns false once all is used up. */
  take(steps: number): boolean;
  /** What a look through folders passes: a path with all below it (`skip`), or that alone (`descend`). */
  readonly passes?: ((path: string) => "skip" | "descend" | undefined) | undefined;
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

/** Returns whether what an effect is about can be looked at from here: not on a remote, nor on a share that holds no folder of the user. */
export function isSeen(
  { path = "", remote }: ToolEffect,
  { roots, readable }: { readonly roots: readonly string[]; readonly readable: readonly string[] },
): boolean {
  return remote === undefined && !isOnOtherShare(path, [...roots, ...readable]);
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
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
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
        const passed = budget.passes?.(path);
        if (passed === "skip") continue;
        if (passed === undefined && test(path, entry)) return { found: path, complete: true };
        if (entry.isDirectory()) folders.push(path);
      }
    } catch (error) {
      if (!["ENOENT", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) return { complete: false };
    }
  }
  return { complete: true };
}

/** As many paths as are judged one by one. */
const mostListed = 20;

/** Lists the paths below a folder that pass the test, as `findBelow` finds them. Too many are not complete either. */
export async function listBelow(
  folder: string,
  test: (path: string, entry: EntryKind) => boolean,
  budget: Budget,
): Promise<{ readonly paths: readonly string[]; readonly complete: boolean }> {
  const paths: string[] = [];
  const isLast = (path: string, entry: EntryKind): boolean => {
    if (test(path, entry)) paths.push(path);
    return paths.length >= mostListed;
  };
  const { found, complete } = await findBelow(folder, isLast, budget);
  return { paths, complete: complete && found === undefined };
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
  if (isOnOtherShare(shellPath(directory, word), [directory])) {
    // Not looked at, so that all that it could stand for is left over.
    if (hasPattern(word)) budget.take(Number.POSITIVE_INFINITY);
    return [word];
  }
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

/** Compiles a pattern of one name as `expandPattern` reads it: on the wide side. */
export function compilePart(part: string): (name: string) => boolean {
  // A range that ends with the word is read in more than one way by shells.
  const stars = part.replace(/\[.*(?:\]|-$)|\?/gs, "*").replace(/[\\[]/g, "\\$&");
  const compiled = compileWildmatch(stars);
  const dotted = part.startsWith(".");
  return (name) => dotted === name.startsWith(".") && (typeof compiled === "string" || compiled.matches(name));
}

/** Lists the names; none if the directory cannot be read, since the shell cannot read it either. */
function namesIn(directory: string): readonly string[] {
  try {
    return [".", "..", ...readdirSync(directory)];
  } catch {
    return [];
  }
}

/**
 * Returns a path of a shell line as the system would open it from a canonical directory: links followed, missing names kept. If that fails,
 * the path by its names alone.
 */
export function pathFrom(directory: string, word: string): string {
  const lexical = shellPath(directory, word);
  if (nodePath.sep === "\\") {
    return isOnOtherShare(lexical, [directory]) ? lexical : (canonicalOrUndefined(lexical) ?? lexical);
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

/** Lists the folders whose content gets other names when `path` is put at other places: itself, or where it leads to, as a link, there and here. */
export function foldersOf(path: string, places: readonly string[]): string[] {
  const text = linkStatsOf(path)?.isSymbolicLink() ? attempt(() => readlinkSync(path)) : undefined;
  return text === undefined ? foldersAt(path, [path]) : foldersAt(text, [path, ...places]);
}

/** Lists the folders that a link with this text leads to from one of the places. */
export function foldersAt(text: string, places: readonly string[]): string[] {
  const next = places.map((place) => nodePath.resolve(nodePath.dirname(place), text));
  const ends = next.filter((one) => !isOnOtherShare(one, places)).map((one) => canonicalOrUndefined(one) ?? one);
  return [...new Set(ends)].filter((one) => statsOf(one)?.isDirectory());
}

/** A folder or file of a process: to a command it is its own, not that of this process. */
const ofProcess = /^\/proc\/(?:self|thread-self|\d+)\/(?:task\/\d+\/)?(?:cwd|root|fd)(?:\/|$)/;

/** The streams that a command has anyway. What the line redirects them to is judged by itself. */
const standardStream = /^\/(?:dev\/(?:stdin|stdout|stderr|fd\/[012])|proc\/self\/fd\/[012])$/;

/** Linux follows as many. */
const mostLinks = 40;

/**
 * Returns whether a path, as it is written (`given`) or by a link in it, leads through a folder of a process, so that a command would open
 * another file than `opened`. `writesInput`: it may be written, and the line has an input, which `/dev/stdin` would then overwrite.
 */
export function leadsThroughProcess(given: string, opened: string, writesInput = false): boolean {
  if (!writesInput && standardStream.test(given)) return false;
  if (ofProcess.test(given) || given === opened) return ofProcess.test(given);
  let at = "";
  let links = 0;
  for (let names = given.split("/"); names.length > 0 && links <= mostLinks; ) {
    const [name = "", ...rest] = names;
    names = rest;
    if (name === "") continue;
    at = `${at}/${name}`;
    if (ofProcess.test(at)) return true;
    const place = at;
    const target = linkStatsOf(place)?.isSymbolicLink() ? attempt(() => readlinkSync(place)) : undefined;
    if (target === undefined) continue;
    links += 1;
    names = [...nodePath.resolve(nodePath.dirname(place), target).split("/"), ...rest];
    at = "";
  }
  return links > mostLinks;
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
