import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import path, { join, resolve, sep } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { systemErrorCode } from "../files/systemErrors.ts";
import { type PathStyle, takeApart } from "./pathStyle.ts";

/**
 * Follows every link, also if the path does not exist. Synchronous: it takes microseconds, while a turn in the thread pool
 * can take longer than the write itself.
 */
export function canonical(absolute: string): string {
  try {
    return realpathSync.native(absolute);
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
    return followByHand(absolute);
  }
}

/** Returns the same; undefined where it cannot be followed. */
export function canonicalOrUndefined(absolute: string): string | undefined {
  return attempt(() => canonical(absolute));
}

/** Linux follows as many. */
const linkLimit = 40;

/**
 * Follows a path of which some part is missing, name by name. Missing names are kept, and every name after a `..` is looked
 * at again, so `missing/../link` cannot hide a link. What is done is canonical, so `join` may take `..` off it.
 */
function followByHand(absolute: string): string {
  let [done, names] = existingHead(absolute);
  let links = 0;
  while (names.length > 0) {
    const path = join(done, names.pop() ?? "");
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) {
      links += 1;
      if (links > linkLimit) throw systemError("ELOOP");
      const target = takeApart(readlinkSync(path));
      // On Windows a target may leave the drive out.
      if (target.root !== "") done = resolve(done, target.root);
      names = names.concat(target.names);
      continue;
    }
    if (stats && !stats.isDirectory() && names.length > 0) throw systemError("ENOTDIR");
    done = path;
  }
  return done;
}

/**
 * Returns the longest head of a path that exists, resolved, and the names after it, the last one first. Sought from the end: what is
 * above may be closed to this process.
 */
function existingHead(absolute: string): [head: string, names: string[]] {
  const { root, names } = takeApart(absolute);
  for (let cut = absolute.lastIndexOf(sep); cut >= root.length; cut = absolute.lastIndexOf(sep, cut - 1)) {
    try {
      return [
        realpathSync.native(absolute.slice(0, cut)),
        absolute
          .slice(cut + 1)
          .split(sep)
          .reverse(),
      ];
    } catch (error) {
      if (systemErrorCode(error) !== "ENOENT") throw error;
    }
  }
  return [root, names];
}

export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Writes and looks up paths, all of them absolute: those of the running system, or in a test those of another. */
export interface PathSystem {
  readonly style: PathStyle;
  /** Follows every link, as `canonical` does. */
  canonical(path: string): string;
  /** Looks up what is there, a link not followed; undefined if nothing is. */
  lstat(path: string): { isDirectory(): boolean; isSymbolicLink(): boolean } | undefined;
  /** Lists the names in a directory. */
  list(directory: string): readonly string[];
}

export const thisSystem: PathSystem = {
  style: path,
  canonical,
  lstat: (one) => lstatSync(one, { throwIfNoEntry: false }),
  list: (directory) => readdirSync(directory),
};
