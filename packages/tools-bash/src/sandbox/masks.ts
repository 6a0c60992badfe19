import { lstatSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { isInside } from "@toolcrib/core/files";

/** Mounts that keep commands from the hidden directories. Outer paths come first. */
export interface Masks {
  /** Mounted on themselves, because a mount cannot be renamed or replaced. */
  readonly fixed: readonly string[];
  readonly empty: readonly string[];
}

/** To be called for every command. Throws an Error if a directory could not be hidden reliably. */
export function findMasks(hidden: readonly string[], writable: readonly string[]): Masks {
  const fixed = new Set<string>();
  for (const path of hidden) {
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`${path} is not a directory to hide`);
    // A command could replace a link in a writable directory, and the real directory would become visible.
    if (realpathSync(path) !== path) throw new Error(`${path}, which is to be hidden, is reached through a link`);
    // Otherwise a command could rename a parent and make another directory at the path.
    for (let parent = dirname(path); isBelow(parent, writable); parent = dirname(parent)) fixed.add(parent);
  }
  return { fixed: [...fixed].sort(outerFirst), empty: [...hidden].sort(outerFirst) };
}

function isBelow(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => root !== path && isInside(root, path));
}

function outerFirst(a: string, b: string): number {
  return a.length - b.length;
}
