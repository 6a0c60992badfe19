import { realpathSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isInside } from "@toolcrib/core/files";
import { record } from "../mapping.ts";

/** The directories in a client's answer to `roots/list`: its `file:` roots, each once. Anything else is left out. */
export function rootsFrom(answer: unknown): string[] {
  const { roots } = record(answer);
  if (!Array.isArray(roots)) return [];
  const paths = roots.flatMap((root: unknown) => {
    const { uri } = record(root);
    try {
      return typeof uri === "string" && uri.startsWith("file:") ? [fileURLToPath(uri)] : [];
    } catch {
      return [];
    }
  });
  return [...new Set(paths)];
}

/** Makes of a client's roots those that its tools are made for; undefined means that nobody names any. */
export type RootsRule = (asked: readonly string[]) => readonly string[] | undefined;

/** For a client that runs as we do, so that it may name any directory. */
export const anyRoots: RootsRule = (asked) => (asked.length > 0 ? asked : undefined);

/**
 * Keeps a client within directories of ours: it gets what is in both, links resolved, and all of ours where that is nothing.
 * Throws a TypeError unless given directories.
 */
export function withinRoots(directories: unknown): RootsRule {
  if (!Array.isArray(directories) || directories.length === 0) {
    throw new TypeError("roots must be an array of at least one directory; leave it out to set no limit");
  }
  const ours = directories.map((directory: unknown) => {
    const found = typeof directory === "string" && directory !== "" ? canonicalDirectory(directory) : undefined;
    if (found === undefined) throw new TypeError(`roots: ${String(directory)} is not a directory`);
    return found;
  });
  return (asked) => {
    const both = asked.flatMap((path) => {
      const found = canonicalDirectory(path);
      if (found === undefined) return [];
      return ours.flatMap((own) => (isInside(own, found) ? [found] : isInside(found, own) ? [own] : []));
    });
    return both.length > 0 ? [...new Set(both)] : ours;
  };
}

function canonicalDirectory(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}
