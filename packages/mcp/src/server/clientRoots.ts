import { realpathSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { attempt } from "@toolcrib/core/internal";
import { isInside } from "@toolcrib/kit/files";
import { record } from "../mapping.ts";

/** Returns the directories in a client's answer to `roots/list`: its `file:` roots, each once. Anything else is left out. */
export function rootsFrom(answer: unknown): string[] {
  const { roots } = record(answer);
  if (!Array.isArray(roots)) return [];
  const paths = roots.flatMap((root: unknown) => {
    const { uri } = record(root);
    if (typeof uri !== "string" || !uri.startsWith("file:")) return [];
    return attempt(() => fileURLToPath(uri)) ?? [];
  });
  return [...new Set(paths)];
}

/** Decides for which directories the tools are made, given the roots that a client named. Undefined when there are none. */
export type RootsRule = (requested: readonly string[]) => readonly string[] | undefined;

/** Allows all roots of a client that started this process, and so may name any directory. */
export const anyRoots: RootsRule = (requested) => (requested.length > 0 ? requested : undefined);

/**
 * Keeps a client within `directories`. It gets the part of its roots that is inside them, links resolved, or all of them when
 * no part is. Throws a TypeError unless each is an existing directory.
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
  return (requested) => {
    const both = requested.flatMap((path) => {
      const found = canonicalDirectory(path);
      if (found === undefined) return [];
      return ours.flatMap((own) => (isInside(own, found) ? [found] : isInside(found, own) ? [own] : []));
    });
    return both.length > 0 ? [...new Set(both)] : ours;
  };
}

function canonicalDirectory(path: string): string | undefined {
  return attempt(() => (statSync(path).isDirectory() ? realpathSync(path) : undefined));
}
