import { lstatSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import type { PathUse } from "../paths/pathLimits.ts";
import type { PathScope } from "../paths/pathScope.ts";
import { entriesOf, escapedName, type FolderEntry, mayBeNamed, typedAs } from "./missingPath.ts";

/** Entries of a folder that are compared; in one of more no name is known to be the only one that looks like another. */
const mostEntries = 10_000;

/** The path that a call means. `alike` is its name in ASCII if another was given that looks the same. */
export interface MeantPath {
  readonly path: string;
  readonly alike: string | undefined;
}

/** The folders that one call has listed so far. */
export type Listings = Map<string, readonly FolderEntry[]>;

export interface MeantPathOptions {
  /** The name of the argument in errors. */
  argument?: string;
  use?: PathUse;
  /** Share it between the paths of one call, so that no folder is listed twice. */
  listings?: Listings;
}

/** The end of a path that asks for a directory. */
const directoryEnd = sep === "/" ? /\/\.?$/ : /[\\/]\.?$/;

/**
 * Resolves the path of something that exists, as `PathScope.resolve` does. If nothing exists, but exactly one name looks the same (the
 * spaces in the names of screenshots, composed and decomposed accents, curly quotes), that one is meant: models cannot type it. Not for
 * tools that remove or move: a call that is repeated must not take the next file.
 */
export async function resolveExisting(
  scope: PathScope,
  given: string,
  { argument = "path", use = "write", listings = new Map() }: MeantPathOptions = {},
): Promise<MeantPath> {
  const path = await scope.resolve(given, argument, use);
  const [like, ...others] = isThere(path) ? [] : pathsAlike(path, scope, listings);
  if (like === undefined || others.length > 0) return { path, alike: undefined };
  const [end = ""] = directoryEnd.exec(given) ?? [];
  return { path: await scope.resolve(like + end, argument, use), alike: shownName(like, scope) };
}

/**
 * Returns the ASCII name of an entry, other than `except`, that looks like the one of a canonical path, if that is missing; undefined if
 * there is none.
 */
export function nameAlike(
  path: string,
  scope: PathScope,
  { except, listings = new Map() }: { except?: string | undefined; listings?: Listings } = {},
): string | undefined {
  if (isThere(path)) return undefined;
  const like = entriesAlike(dirname(path), basename(path), scope, listings).find((one) => one !== except);
  return like === undefined ? undefined : shownName(like, scope);
}

/** Lists the ASCII names, at most three, of what looks like a missing canonical path: passed back, they mean exactly that. */
export function namesAlike(path: string, scope: PathScope): string[] {
  const alike = isThere(path) ? [] : pathsAlike(path, scope, new Map());
  return alike.slice(0, 3).map((one) => shownName(one, scope));
}

/** Words that another name was used than the one given, in brackets. */
export function alikeNotice({ alike }: MeantPath): string | undefined {
  return alike === undefined ? undefined : `[the name given is not there; ${alike} looks the same, so it was used]`;
}

/** Lists the paths that look like a missing one. Each of its missing folders must have exactly one that looks like it. */
function pathsAlike(missing: string, scope: PathScope, listings: Listings): string[] {
  if (isThere(missing)) return [missing];
  if (dirname(missing) === missing) return [];
  const [folder, other] = pathsAlike(dirname(missing), scope, listings);
  if (folder === undefined || other !== undefined) return [];
  const path = join(folder, basename(missing));
  return isThere(path) ? [path] : entriesAlike(folder, basename(missing), scope, listings);
}

/** Lists the paths in a folder whose name looks like another one. */
function entriesAlike(folder: string, name: string, scope: PathScope, listings: Listings): string[] {
  const entries = listings.get(folder) ?? attempt(() => entriesOf(folder, scope, mostEntries)) ?? [];
  listings.set(folder, entries);
  if (entries.length >= mostEntries) return [];
  const isAlike = typedAs(name);
  return entries
    .filter((entry) => isAlike(entry.name) && mayBeNamed(entry, folder, scope))
    .map((entry) => join(folder, entry.name));
}

function isThere(path: string): boolean {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false })) !== undefined;
}

function shownName(path: string, scope: PathScope): string {
  return escapedName(scope.shorten(path));
}
