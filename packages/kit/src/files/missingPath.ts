import { type Dirent, lstatSync, opendirSync, statSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { ToolError } from "@toolcrib/core";
import { attempt, editDistance } from "@toolcrib/core/internal";
import { canonicalOrUndefined } from "../paths/canonicalPath.ts";
import type { PathUse } from "../paths/pathLimits.ts";
import type { PathScope } from "../paths/pathScope.ts";
import { openInside } from "./directories.ts";
import { plainSystemError, systemErrorCode } from "./systemErrors.ts";

type FolderEntry = Pick<Dirent, "name" | "isDirectory" | "isFile" | "isSymbolicLink">;

/** Entries of a folder that are looked at. */
const mostEntries = 2000;
const mostNames = 3;

/** Does the same as `plainSystemError` and also says what is there, where a canonical path is missing. */
export function plainPathError(error: unknown, path: string, scope: PathScope): unknown {
  const plain = plainSystemError(error, scope.print(path));
  if (systemErrorCode(error) !== "ENOENT" || !(plain instanceof ToolError)) return plain;
  const similar = findSimilar(path, scope);
  const hint = hintOf(path, similar, scope);
  if (hint === "") return plain;
  const { code, details } = plain;
  const shown = similar.missing === path ? shownName(path, similar.names, scope) : scope.print(path);
  const message = `No such file or directory: ${shown} (ENOENT); ${hint}`;
  return new ToolError({ code, message, ...(details && { details }), cause: error });
}

/**
 * Says what is there in place of a missing canonical path, such as `there is src/config.ts`: at most three names of its folder that are
 * like it, or the first folder that is missing and its like. Nothing denied or outside of the roots is named. "" if there is nothing to
 * say.
 */
export function missingPathHint(path: string, scope: PathScope): string {
  return hintOf(path, findSimilar(path, scope), scope);
}

/** The first part of a path that is missing, and the names in its folder that are like it. */
interface Similar {
  readonly missing: string;
  readonly names: readonly string[];
}

function hintOf(path: string, { missing, names }: Similar, scope: PathScope): string {
  const shown = names.map((name) => shownName(join(dirname(missing), name), [missing, ...names], scope));
  const last = shown.pop();
  const list = shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
  if (missing === path) return last === undefined ? "" : `there is ${list}`;
  return `there is no ${scope.print(missing)}${last === undefined ? "" : `, but ${list}`}`;
}

function shownName(path: string, others: readonly string[], scope: PathScope): string {
  const isAmbiguous = others.some((other) => looksAlike(basename(path), basename(other)));
  return isAmbiguous ? asciiName(path, scope) : scope.print(path);
}

function findSimilar(path: string, scope: PathScope): Similar {
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
function entriesOf(folder: string, scope: PathScope, most: number): FolderEntry[] {
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
function mayBeNamed(entry: FolderEntry, folder: string, { denied, contains, readable }: PathScope): boolean {
  const path = join(folder, entry.name);
  if (denied?.match(path, entry.isFile() ? false : undefined) !== undefined) return false;
  if (!entry.isSymbolicLink()) return true;
  const target = canonicalOrUndefined(path);
  if (target === undefined || denied?.match(target) !== undefined) return false;
  return contains(target) || readable.some((one) => target === one || target.startsWith(join(one, "/")));
}

/** Most changed letters between names that are taken for a slip. */
const mostLetters = 2;

/** Makes a function that ranks how like an entry's name is to a missing one: lower is more alike, undefined is not alike. */
function similarityTo(missing: string): (name: string) => number | undefined {
  const one = folded(missing);
  return (name) => {
    const other = folded(name);
    if (one === other) return 0;
    if (stemOf(one) === stemOf(other)) return 1;
    const letters = editDistance(one, other, mostLetters);
    return letters < Math.min(mostLetters + 1, Math.min(one.length, other.length) / 2) ? 1 + letters : undefined;
  };
}

/** Returns whether two names could be taken for each other on a screen: ligatures and raised digits count as what they stand for. */
function looksAlike(one: string, other: string): boolean {
  return one !== other && wideShape(one) === wideShape(other);
}

/** Makes a test for names that a person would type as `name`: they differ in spaces, quotes, dashes, accents or invisible marks alone. */
function typedAs(name: string): (other: string) => boolean {
  const wanted = shape(name);
  return (other) => other !== name && shape(other) === wanted;
}

/** Writes a name as JSON with nothing but ASCII, so that names that look alike can be told apart and passed back. */
function escapedName(name: string): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return /[^\x20-\x7e]/.test(name) ? JSON.stringify(name).replace(/[^\x20-\x7e]/g, escaped) : name;
}

/** Gives quotes, dashes and spaces that look alike one form, composes accents, and drops invisible marks. */
function shape(name: string): string {
  if (/^[\0-_a-\x7f]*$/.test(name)) return name;
  return name
    .replace(/[\u2018-\u201b\u2032\u02bc`´]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\p{Pd}\u2212]/gu, "-")
    .replace(/\p{Zs}/gu, " ")
    .replace(/\p{Cf}/gu, "")
    .normalize("NFC");
}

/** Does the same, and takes characters for those that they stand for (`ﬁ`, `²`). For hints alone: they mean something else. */
function wideShape(name: string): string {
  return shape(shape(name).normalize("NFKC"));
}

function folded(name: string): string {
  return wideShape(name).toLowerCase();
}

function stemOf(name: string): string {
  return name.replace(/(?<=.)\.[^.]+$/, "");
}

/** Entries of a folder that are compared; in one of more no name is known to be the only one that looks like another. */
const mostCompared = 10_000;

/** The path that a call means. `notice` says, in brackets, that another name was used than the one given, which looks the same. */
export interface MeantPath {
  readonly path: string;
  readonly notice: string | undefined;
}

/** The end of a path that asks for a directory. */
const directoryEnd = sep === "/" ? /\/\.?$/ : /[\\/]\.?$/;

/** Finds names that look like a missing one. Make one for each call of a tool: it lists no folder twice. */
export class LookAlikes {
  readonly #scope: PathScope;
  readonly #listings = new Map<string, readonly FolderEntry[]>();

  constructor(scope: PathScope) {
    this.#scope = scope;
  }

  /**
   * Resolves the path of something that exists, as `PathScope.resolve` does. If nothing exists, but exactly one name looks the same (the
   * spaces in the names of screenshots, composed and decomposed accents, curly quotes), that one is meant: models cannot type it. Not for
   * tools that remove or move: a call that is repeated must not take the next file.
   */
  async resolve(given: string, use: PathUse = "write", argument = "path"): Promise<MeantPath> {
    const path = await this.#scope.resolve(given, argument, use);
    const [like, ...others] = isThere(path) ? [] : this.#pathsAlike(path);
    if (like === undefined || others.length > 0) return { path, notice: undefined };
    const [end = ""] = directoryEnd.exec(given) ?? [];
    const notice = `[the name given is not there; ${asciiName(like, this.#scope)} looks the same, so it was used]`;
    return { path: await this.#scope.resolve(like + end, argument, use), notice };
  }

  /**
   * Returns the ASCII name of an entry, other than `except`, that looks like the one of a canonical path, if that is missing; undefined if
   * there is none.
   */
  beside(path: string, except?: string): string | undefined {
    if (isThere(path)) return undefined;
    const like = this.#entriesAlike(dirname(path), basename(path)).find((one) => one !== except);
    return like === undefined ? undefined : asciiName(like, this.#scope);
  }

  /** Lists the ASCII names, at most three, of what looks like a missing canonical path: passed back, they mean exactly that. */
  namesOf(path: string): string[] {
    const alike = isThere(path) ? [] : this.#pathsAlike(path);
    return alike.slice(0, 3).map((one) => asciiName(one, this.#scope));
  }

  /** Lists the paths that look like a missing one. Each of its missing folders must have exactly one that looks like it. */
  #pathsAlike(missing: string): string[] {
    if (isThere(missing)) return [missing];
    if (dirname(missing) === missing) return [];
    const [folder, other] = this.#pathsAlike(dirname(missing));
    if (folder === undefined || other !== undefined) return [];
    const path = join(folder, basename(missing));
    return isThere(path) ? [path] : this.#entriesAlike(folder, basename(missing));
  }

  /** Lists the paths in a folder whose name looks like another one. */
  #entriesAlike(folder: string, name: string): string[] {
    const entries = this.#listings.get(folder) ?? attempt(() => entriesOf(folder, this.#scope, mostCompared)) ?? [];
    this.#listings.set(folder, entries);
    if (entries.length >= mostCompared) return [];
    const isAlike = typedAs(name);
    return entries
      .filter((entry) => isAlike(entry.name) && mayBeNamed(entry, folder, this.#scope))
      .map((entry) => join(folder, entry.name));
  }
}

function isThere(path: string): boolean {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false })) !== undefined;
}

function asciiName(path: string, scope: PathScope): string {
  return escapedName(scope.shorten(path));
}
