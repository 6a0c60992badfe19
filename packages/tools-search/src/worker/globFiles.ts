import { sep } from "node:path";
import type fastGlob from "fast-glob";
import type { DirectoryLister, VisibleDirectory } from "./listDirectory.ts";
import { deepen } from "./pathGlob.ts";
import type { OnUnreadable } from "./walk.ts";

/**
 * The files below `directory` that match one of the globs, unordered. `anyDepth` lets a pattern without `/` match at every level (one
 * with a leading `/` only at the first), and one with a leading `!` exclude files. A pattern cannot leave the directory.
 */
export type GlobFiles = (
  lister: DirectoryLister,
  directory: string,
  patterns: readonly string[],
  anyDepth: boolean,
  onUnreadable: OnUnreadable,
) => string[];

/** Loads fast-glob with the first glob: most searches need none. */
export async function loadGlobFiles(): Promise<GlobFiles> {
  const { default: fastGlob } = await import("fast-glob");
  return (lister, directory, patterns, anyDepth, onUnreadable) => {
    const taken = patterns.filter((one) => !(anyDepth && one.startsWith("!"))).map((one) => deepen(one, anyDepth));
    const left = anyDepth ? patterns.filter((one) => one.startsWith("!")).map((one) => deepen(one.slice(1), true)) : [];
    return fastGlob.sync(taken.length > 0 ? taken : ["**"], {
      cwd: directory,
      dot: true,
      followSymbolicLinks: false,
      unique: taken.length > 1,
      ignore: left,
      fs: visibleFileSystem(lister, directory, onUnreadable),
    });
  };
}

/** The part of `fs` that fast-glob uses, showing only what is inside `start`, is no link and is not ignored. */
function visibleFileSystem(
  lister: DirectoryLister,
  start: string,
  onUnreadable: OnUnreadable,
): Partial<fastGlob.FileSystemAdapter> {
  const seen = new Map<string, VisibleDirectory>();
  const list = (path: string, rules: VisibleDirectory["rules"]): VisibleDirectory => {
    const known = seen.get(path);
    if (known !== undefined) return known;
    let found: VisibleDirectory;
    try {
      found = lister.list(path, rules);
    } catch (error) {
      onUnreadable(path, error);
      found = { names: [], rules: undefined, leftOut: 0 };
    }
    seen.set(path, found);
    return found;
  };
  const look = (path: string): VisibleDirectory | undefined => {
    const known = seen.get(path);
    if (known !== undefined) return known;
    if (path === start) return list(start, lister.rulesAbove(start));
    if (path.length <= start.length) return undefined;
    const cut = path.lastIndexOf("/");
    const parent = look(path.slice(0, cut) || "/");
    const name = path.slice(cut + 1);
    return parent?.names.includes(`${name}/`) ? list(path, parent.rules) : undefined;
  };
  const lstatSync = (given: string): unknown => {
    const path = plainPath(given);
    const cut = path.lastIndexOf("/");
    const name = path.slice(cut + 1);
    const found = look(path.slice(0, cut) || "/")?.names.find((one) => one === name || one === `${name}/`);
    if (found === undefined) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
    return statsOf(found);
  };
  const readdirSync = (path: string): Entry[] => look(plainPath(path))?.names.map((name) => new Entry(name)) ?? [];
  return { readdirSync, lstatSync, statSync: lstatSync } as unknown as Partial<fastGlob.FileSystemAdapter>;
}

function plainPath(path: string): string {
  const slashed = sep === "\\" ? path.replaceAll("\\", "/") : path;
  return slashed.length > 1 && slashed.endsWith("/") ? slashed.slice(0, -1) : slashed;
}

/** The part of a `Dirent` that fast-glob uses. */
class Entry {
  readonly name: string;
  readonly #directory: boolean;

  /** The name of a directory ends in `/`. */
  constructor(listed: string) {
    this.#directory = listed.endsWith("/");
    this.name = this.#directory ? listed.slice(0, -1) : listed;
  }
  isFile(): boolean {
    return !this.#directory;
  }
  isDirectory(): boolean {
    return this.#directory;
  }
  isSymbolicLink(): boolean {
    return false;
  }
}

function statsOf(listed: string): Record<string, () => boolean> {
  const directory = listed.endsWith("/");
  const no = (): boolean => false;
  return {
    isFile: () => !directory,
    isDirectory: () => directory,
    isSymbolicLink: no,
    isBlockDevice: no,
    isCharacterDevice: no,
    isFIFO: no,
    isSocket: no,
  };
}
