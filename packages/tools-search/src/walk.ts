import { createRequire } from "node:module";
import { sep } from "node:path";
import type fastGlob from "fast-glob";
import type { DirectoryLister, Entry, VisibleDirectory } from "./listDirectory.ts";

/** Told of each directory that cannot be read. */
export type OnUnreadable = (path: string, error: unknown) => void;

/** The files below a directory that a search may see, relative to it, with `/`. */
export interface Walker {
  /** Every file, in the order of its path. The list equals fast-glob's; the walk can be left at any time. */
  walk(directory: string, onUnreadable: OnUnreadable): Generator<string, void, undefined>;
  /**
   * The files that match a glob, unordered. `anyDepth` lets a pattern without `/` match at every level (one with a leading `/`
   * only at the first), and one with a leading `!` take files away. A pattern cannot leave the directory.
   */
  glob(directory: string, pattern: string | string[], anyDepth: boolean, onUnreadable: OnUnreadable): string[];
}

export function createWalker(lister: DirectoryLister): Walker {
  return {
    *walk(directory, onUnreadable) {
      const list = (path: string, rules: VisibleDirectory["rules"]): VisibleDirectory | undefined => {
        try {
          return lister.list(path, rules);
        } catch (error) {
          onUnreadable(path, error);
          return undefined;
        }
      };
      const prefix = directory.endsWith("/") ? directory : `${directory}/`;
      const start = list(directory, lister.rulesAbove(directory));
      // A stack, not recursion: a tree may be thousands of levels deep.
      const stack = start === undefined ? [] : [{ directory: start, path: "", next: 0 }];
      for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
        const entry = top.directory.entries[top.next];
        top.next += 1;
        if (entry === undefined) {
          stack.pop();
        } else if (entry.directory) {
          const below = list(prefix + top.path + entry.name, top.directory.rules);
          if (below !== undefined) stack.push({ directory: below, path: `${top.path}${entry.name}/`, next: 0 });
        } else {
          yield top.path + entry.name;
        }
      }
    },
    glob(directory, pattern, anyDepth, onUnreadable) {
      const patterns = typeof pattern === "string" ? [pattern] : pattern;
      const deepen = (one: string): string =>
        one.startsWith("/") ? one.slice(1) : anyDepth && !one.includes("/") ? `**/${one}` : one;
      const taken = patterns.filter((one) => !(anyDepth && one.startsWith("!"))).map(deepen);
      return loadFastGlob().sync(taken.length > 0 ? taken : ["**"], {
        cwd: directory,
        dot: true,
        followSymbolicLinks: false,
        unique: taken.length > 1,
        ignore: anyDepth ? patterns.filter((one) => one.startsWith("!")).map((one) => deepen(one.slice(1))) : [],
        fs: visibleFileSystem(lister, directory, onUnreadable),
      });
    },
  };
}

let loaded: typeof fastGlob | undefined;

/** Loaded by the first glob: most searches need none. */
function loadFastGlob(): typeof fastGlob {
  loaded ??= createRequire(import.meta.url)("fast-glob") as typeof fastGlob;
  return loaded;
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
      found = { entries: [], rules: undefined };
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
    return parent?.entries.some((entry) => entry.directory && entry.name === name)
      ? list(path, parent.rules)
      : undefined;
  };
  const find = (path: string): Entry => {
    const cut = path.lastIndexOf("/");
    const name = path.slice(cut + 1);
    const entry = look(path.slice(0, cut) || "/")?.entries.find((one) => one.name === name);
    if (entry === undefined) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
    return entry;
  };
  const readdirSync = (path: string): readonly Entry[] => look(plainPath(path))?.entries ?? [];
  const lstatSync = (path: string): unknown => statsOf(find(plainPath(path)));
  return { readdirSync, lstatSync, statSync: lstatSync } as unknown as Partial<fastGlob.FileSystemAdapter>;
}

function plainPath(path: string): string {
  const slashed = sep === "\\" ? path.replaceAll("\\", "/") : path;
  return slashed.length > 1 && slashed.endsWith("/") ? slashed.slice(0, -1) : slashed;
}

function statsOf({ directory }: Entry): Record<string, () => boolean> {
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
