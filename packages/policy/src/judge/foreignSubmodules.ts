import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside } from "@toolcrib/kit/files";

/*
 * `git status`, `git diff` and others start a git of their own in each submodule, and that git runs what the submodule's configuration says.
 * A submodule is an entry of the index with a mode of its own, whose folder holds a `.git`.
 */

/** What is asked of places that git comes by. */
export interface Places {
  /** Whether calls may write below it. */
  isInRoots(path: string): boolean;
  /** Where the `.git` of a folder leads; undefined where that cannot be told, or where calls may write unasked. */
  gitFolder(folder: string): string | undefined;
}

/** The mode of a submodule in an index, and how far behind it its name begins for ids of SHA-1 and SHA-256. */
const submoduleMode = Buffer.from([0, 0, 0xe0, 0]);
const nameOffsets = [38, 50];
const extendedFlag = 0x40;
/** A larger index is not read. */
const largestIndex = 2 ** 26;
const mostSubmodules = 200;

/**
 * Returns whether git would enter a submodule that came with the files, of the repository that it takes at `root`. `changes`: the line may
 * put another repository where a submodule is.
 */
export function holdsForeignSubmodule(root: string, changes: boolean, places: Places): boolean {
  const open = [repositoryAt(root)];
  for (let top = open.pop(), seen = 0; top !== undefined; top = open.pop(), seen += 1) {
    const folder = places.gitFolder(top);
    if (folder === undefined) continue;
    const names = submodulesOf(folder);
    if (names === undefined || seen > mostSubmodules) return true;
    for (const name of names) {
      const place = join(top, name);
      if (!places.isInRoots(place)) continue;
      if (changes) return true;
      if (!isThere(join(place, ".git"))) continue;
      const own = places.gitFolder(place);
      if (own === undefined || !isInside(folder, own)) return true;
      open.push(place);
    }
  }
  return false;
}

/** The folder at `root` or above it that holds the `.git` that git takes. */
export function repositoryAt(root: string): string | undefined {
  for (let at = root; ; at = dirname(at)) {
    if (isThere(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** The names of submodules in the index of a repository, and some that are none; undefined where they cannot be told. */
function submodulesOf(folder: string): string[] | undefined {
  try {
    const indexes = readdirSync(folder).filter((name) => name === "index" || name.startsWith("sharedindex."));
    const names: string[] = [];
    for (const index of indexes) {
      const path = join(folder, index);
      if (lstatSync(path).size > largestIndex) return undefined;
      const bytes = readFileSync(path);
      for (let at = bytes.indexOf(submoduleMode); at !== -1; at = bytes.indexOf(submoduleMode, at + 1)) {
        // Version 4 has only the end of each name.
        if (bytes.readUInt32BE(4) > 3) return undefined;
        for (const offset of nameOffsets) {
          const isExtended = ((bytes[at + offset - 2] ?? 0) & extendedFlag) !== 0;
          const start = at + offset + (isExtended ? 2 : 0);
          const end = bytes.indexOf(0, start);
          if (end > start) names.push(bytes.toString("utf8", start, end));
        }
      }
    }
    return names;
  } catch {
    return undefined;
  }
}

/** Also a link that leads nowhere, and a `.git` that is a file. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** Folders looked through for repositories that `git add` would make submodules. */
const mostFolders = 2000;

/** Returns whether a folder holds a repository of its own, or so much that it cannot be told. */
export function holdsRepository(folder: string): boolean {
  const open = [folder];
  for (let seen = 0, at = open.pop(); at !== undefined; at = open.pop(), seen += 1) {
    if (seen > mostFolders) return true;
    let entries: { name: string; isDirectory(): boolean }[];
    try {
      entries = readdirSync(at, { withFileTypes: true });
    } catch {
      continue;
    }
    for (const entry of entries) {
      if (entry.name.toLowerCase() === ".git" && at !== folder) return true;
      if (entry.isDirectory() && entry.name !== ".git") open.push(join(at, entry.name));
    }
  }
  return false;
}
