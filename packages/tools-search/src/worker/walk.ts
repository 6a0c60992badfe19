import type { DirectoryLister, VisibleDirectory } from "./listDirectory.ts";

/** Called for each directory that cannot be read. */
export type OnUnreadable = (path: string, error: unknown) => void;

/**
 * The files below a directory that a search may see, relative to it, with `/`, in the order of their paths. The list equals
 * that of `globFiles`. The walk can be left at any time: it gives undefined after each directory below that was listed, as many in a row
 * may hold no file.
 */
export function* walkFiles(
  lister: DirectoryLister,
  directory: string,
  onUnreadable: OnUnreadable,
): Generator<string | undefined, void, undefined> {
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
    const name = top.directory.names[top.next];
    top.next += 1;
    if (name === undefined) {
      stack.pop();
    } else if (name.endsWith("/")) {
      const path = top.path + name;
      const below = list(prefix + path.slice(0, -1), top.directory.rules);
      if (below !== undefined) stack.push({ directory: below, path, next: 0 });
      yield undefined;
    } else {
      yield top.path + name;
    }
  }
}
