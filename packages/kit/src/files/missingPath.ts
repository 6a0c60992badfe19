import { opendirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ToolError } from "@toolcrib/core";
import { canonicalOrUndefined } from "../paths/canonicalPath.ts";
import type { PathScope } from "../paths/pathScope.ts";
import { escapedName, looksAlike, similarityTo } from "../paths/similarNames.ts";
import { openInside } from "./directories.ts";
import { plainSystemError, systemErrorCode } from "./systemErrors.ts";

/** An entry of a folder, as a type that users without Node's types can read. */
export interface FolderEntry {
  readonly name: string;
  isDirectory(): boolean;
  isFile(): boolean;
  isSymbolicLink(): boolean;
}

/** Entries of a folder that are looked at. */
const mostEntries = 2000;
const mostNames = 3;

/** Does the same as `plainSystemError` and also says what is there, where a canonical path is missing. */
export function plainPathError(error: unknown, path: string, scope: PathScope): unknown {
  const plain = plainSystemError(error, scope.print(path));
  if (systemErrorCode(error) !== "ENOENT" || !(plain instanceof ToolError)) return plain;
  const hint = missingPathHint(path, scope);
  if (hint === "") return plain;
  const { code, details } = plain;
  const message = `No such file or directory: ${shownMissing(path, scope)} (ENOENT); ${hint}`;
  return new ToolError({ code, message, ...(details && { details }), cause: error });
}

/**
 * Says what is there in place of a missing canonical path, such as `there is src/config.ts`: at most three names of its folder that are
 * like it, or the first folder that is missing and its like. Nothing denied or outside of the roots is named. "" if there is nothing to
 * say.
 */
export function missingPathHint(path: string, scope: PathScope): string {
  const { missing, names } = findSimilar(path, scope);
  const shown = names.map((name) => shownName(join(dirname(missing), name), [missing, ...names], scope));
  const last = shown.pop();
  const list = shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
  if (missing === path) return last === undefined ? "" : `there is ${list}`;
  return `there is no ${scope.print(missing)}${last === undefined ? "" : `, but ${list}`}`;
}

function shownMissing(path: string, scope: PathScope): string {
  const { missing, names } = findSimilar(path, scope);
  return missing === path ? shownName(path, names, scope) : scope.print(path);
}

function shownName(path: string, others: readonly string[], scope: PathScope): string {
  const isAmbiguous = others.some((other) => looksAlike(basename(path), basename(other)));
  return isAmbiguous ? escapedName(scope.shorten(path)) : scope.print(path);
}

/** Returns the first part of a path that is missing, and the names in its folder that are like it. */
function findSimilar(path: string, scope: PathScope): { missing: string; names: string[] } {
  let missing = path;
  try {
    while (!statSync(dirname(missing), { throwIfNoEntry: false }) && dirname(missing) !== missing)
      missing = dirname(missing);
    const rankOf = similarityTo(basename(missing));
    const names = entriesOf(dirname(missing), scope, mostEntries)
      .filter((entry) => missing === path || entry.isDirectory() || entry.isSymbolicLink())
      .flatMap((entry) => {
        if (entry.name === basename(missing)) return [];
        const rank = rankOf(entry.name);
        return rank !== undefined && mayBeNamed(entry, dirname(missing), scope) ? { name: entry.name, rank } : [];
      })
      .sort((one, other) => one.rank - other.rank || (one.name < other.name ? -1 : 1));
    return { missing, names: names.slice(0, mostNames).map(({ name }) => name) };
  } catch {
    // A folder that may not be read tells nothing.
    return { missing: path, names: [] };
  }
}

/** Returns the first entries of a folder inside the scope. */
export function entriesOf(folder: string, scope: PathScope, most: number): FolderEntry[] {
  const directory = openInside(folder, scope, "read");
  try {
    const listing = opendirSync(directory.at("."), { bufferSize: 256 });
    try {
      const entries: FolderEntry[] = [];
      while (entries.length < most) {
        const entry = listing.readSync();
        if (entry === null) break;
        entries.push(entry);
      }
      return entries;
    } finally {
      listing.closeSync();
    }
  } finally {
    directory.close();
  }
}

/** Returns whether an entry may be told: it is not denied, and no link that leads to something denied or outside. */
export function mayBeNamed(entry: FolderEntry, folder: string, { denied, contains, readable }: PathScope): boolean {
  const path = join(folder, entry.name);
  if (denied?.match(path, entry.isFile() ? false : undefined) !== undefined) return false;
  if (!entry.isSymbolicLink()) return true;
  const target = canonicalOrUndefined(path);
  if (target === undefined || denied?.match(target) !== undefined) return false;
  return contains(target) || readable.some((one) => target === one || target.startsWith(join(one, "/")));
}
