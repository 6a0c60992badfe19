import type { DirectoryLister, RuleChain, VisibleDirectory } from "./listDirectory.ts";

/** Called for each directory that cannot be read. */
export type OnUnreadable = (path: string, error: unknown) => void;

export interface WalkOptions {
  onUnreadable: OnUnreadable;
  /** Only what comes behind this path. */
  after: string;
  /** Returns whether to list a directory below, which is relative. */
  enters(directory: string): boolean;
  /** Called with how many names of a directory are denied. */
  onLeftOut(names: number): void;
  /** The directory was named by the call. */
  isNamed?: boolean | undefined;
  /** Called with the ignored names of a directory, which is relative: empty, or ending in `/`. Those of directories end in `/`. */
  onIgnored?(directory: string, names: readonly string[]): void;
}

/**
 * Yields the files below a directory that a search may see, relative to it, with `/`, in the order of their paths. The walk can be left at any
 * time: it gives undefined after each directory below that was listed, as many in a row may hold no file. Ends with false at a directory
 * that takes more than the lister's limits.
 */
export function* walkFiles(
  lister: DirectoryLister,
  directory: string,
  { onUnreadable, after, enters, onLeftOut, onIgnored, isNamed }: WalkOptions,
): Generator<string | undefined, boolean, undefined> {
  const prefix = directory.endsWith("/") ? directory : `${directory}/`;
  /** Lists a directory. `path` is relative: empty, or ending in `/`. */
  const list = (path: string, rules?: RuleChain): VisibleDirectory | undefined => {
    const whole = path === "" ? directory : prefix + path.slice(0, -1);
    try {
      const found = path === "" ? lister.listStart(whole, isNamed) : lister.list(whole, rules);
      // The directory that holds `after` was listed before.
      if (found !== undefined && (after === "" || !after.startsWith(path))) {
        onLeftOut(found.leftOut);
        onIgnored?.(path, found.ignored);
      }
      return found;
    } catch (error) {
      onUnreadable(whole, error);
      return unreadable;
    }
  };
  const start = list("");
  if (start === undefined) return false;
  // A stack, not recursion: a tree may be thousands of levels deep.
  const stack = [{ directory: start, path: "", next: 0 }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const name = top.directory.names[top.next];
    top.next += 1;
    const path = top.path + (name ?? "");
    if (name === undefined) {
      stack.pop();
    } else if (path <= after && !(name.endsWith("/") && after.startsWith(path))) {
      // It was walked before, with all below.
    } else if (name.endsWith("/") && enters(path.slice(0, -1))) {
      const below = list(path, top.directory.rules);
      if (below === undefined) return false;
      stack.push({ directory: below, path, next: 0 });
      yield undefined;
    } else {
      yield name.endsWith("/") ? undefined : path;
    }
  }
  return true;
}

const unreadable: VisibleDirectory = { names: [], ignored: [], rules: undefined, leftOut: 0 };
