import { chmodSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ensureDirectory, systemErrorCode } from "@toolcrib/kit/files";
import type { Folders } from "./folders.ts";

export function loginsFile({ state }: Folders): string {
  return join(state, "logins.json");
}

export function stateName(directory: string): string {
  // Not imported: node:crypto takes 8 ms to load, and most commands never ask.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(directory).digest("hex").slice(0, 16);
}

/**
 * Makes a folder of the state and the folders above it, readable by the user alone. Throws where that is not possible, or where
 * a link, a file or another user's folder is in its place.
 */
export function makeStateFolder({ state }: Folders, ...names: readonly string[]): string {
  let folder = dirname(state);
  try {
    ensureDirectory(folder, 0o700);
  } catch (error) {
    // A file is in the way: the next step says so more plainly.
    if (systemErrorCode(error) !== "EEXIST") throw error;
  }
  for (const name of [basename(state), ...names]) {
    folder = join(folder, name);
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if (systemErrorCode(error) !== "EEXIST") throw error;
    }
    const stats = lstatSync(folder);
    if (!stats.isDirectory()) throw new Error(`${folder} is a link or a file, not a folder; remove it`);
    const user = process.getuid?.() ?? 0;
    if (user !== 0 && stats.uid !== user) throw new Error(`${folder} belongs to another user; remove it`);
    if (process.platform !== "win32" && (stats.mode & 0o077) !== 0) chmodSync(folder, 0o700);
  }
  return folder;
}

/** Returns the path with links resolved, also where its last parts do not exist yet. */
export function canonicalPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(canonicalPath(parent), basename(path));
  }
}
