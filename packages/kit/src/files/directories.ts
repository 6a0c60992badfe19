import { mkdirSync, readdirSync, rmdirSync, statSync, unlinkSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import type { PathUse } from "../paths/pathLimits.ts";
import type { PathScope } from "../paths/pathScope.ts";
import { OpenDirectory } from "./descriptors.ts";
import { systemErrorCode } from "./systemErrors.ts";

/**
 * Opens a canonical path that is a directory inside the scope, even if a link was swapped in since, to change what is in it
 * unless `use` says otherwise. Throws the system's error.
 */
export function openInside(path: string, scope: PathScope, use: PathUse = "write"): OpenDirectory {
  return confirmed(new OpenDirectory(path), path, scope, use);
}

function confirmed(directory: OpenDirectory, path: string, scope: PathScope, use: PathUse = "write"): OpenDirectory {
  try {
    scope.confirm(directory.descriptor, path, { use });
    return directory;
  } catch (error) {
    directory.close();
    throw error;
  }
}

/**
 * Runs `work` with the directory of a canonical path, open as by `openInside`, and the name in it. Throws `permission_denied` for a path
 * that has become a denied one.
 */
export async function inParent<Value>(
  path: string,
  scope: PathScope,
  work: (parent: OpenDirectory, name: string) => Value | Promise<Value>,
): Promise<Value> {
  const parent = openInside(dirname(path), scope);
  try {
    scope.confirm(parent.descriptor, dirname(path), { name: basename(path) });
    return await work(parent, basename(path));
  } finally {
    parent.close();
  }
}

export interface MadeDirectories {
  /** The last one, open. */
  readonly directory: OpenDirectory;
  /** The number of directories made. */
  readonly made: number;
  /** Removes those that were made and are still empty; never throws. */
  undo(): void;
}

/**
 * Makes a canonical path's missing directories one by one, with `mode`, each inside the one held open. Throws the system's
 * error.
 */
export function makeDirectories(
  path: string,
  scope: PathScope,
  beforeEach?: () => void,
  mode = 0o777,
): MadeDirectories {
  const made: string[] = [];
  const undo = (): void => {
    for (const one of made.reverse()) removeEmpty(one, scope);
  };
  let existing = path;
  let directory: OpenDirectory | undefined;
  while (directory === undefined) {
    try {
      directory = openInside(existing, scope);
    } catch (error) {
      if (systemErrorCode(error) !== "ENOENT" || dirname(existing) === existing) throw error;
      existing = dirname(existing);
    }
  }
  try {
    for (const name of path.slice(existing.length).split(sep).filter(Boolean)) {
      existing = join(existing, name);
      beforeEach?.();
      if (makeOne(directory, name, mode)) made.push(existing);
      const next = confirmed(new OpenDirectory(directory.at(name)), existing, scope);
      directory.close();
      directory = next;
    }
  } catch (error) {
    directory.close();
    undo();
    throw error;
  }
  return { directory, made: made.length, undo };
}

/** Makes a directory; false if it exists by now, made perhaps by another call. */
function makeOne(directory: OpenDirectory, name: string, mode: number): boolean {
  try {
    mkdirSync(directory.at(name), { mode });
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function removeEmpty(path: string, scope: PathScope): void {
  const parent = attempt(() => openInside(dirname(path), scope));
  // One that is in use stays.
  attempt(() => parent && rmdirSync(parent.at(basename(path))));
  parent?.close();
}

/**
 * Makes a directory with its missing parents, wherever it is; one that exists is success. Throws the system's error. Node's own
 * recursive mkdir never returns where a file system answers ENOENT below a directory that exists, as /proc does.
 */
export function ensureDirectory(path: string, mode = 0o777): void {
  const missing: string[] = [];
  let place = resolve(path);
  while (!statSync(place, { throwIfNoEntry: false })?.isDirectory() && dirname(place) !== place) {
    missing.push(place);
    place = dirname(place);
  }
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      // Another process may have made it meanwhile.
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
    }
  }
}

/** Returns the names in a folder; none where it is not there, or cannot be read. */
export function namesIn(folder: string): string[] {
  return attempt(() => readdirSync(folder)) ?? [];
}

/** Removes a file. One that cannot be removed stays: another program may have been faster, or holds it. */
export function removeIfPossible(file: string): void {
  attempt(() => unlinkSync(file));
}

/** Removes a folder that holds files alone, with these. No tree is removed: a folder that holds another one stays. */
export function removeFlatFolder(folder: string): void {
  for (const name of namesIn(folder)) removeIfPossible(join(folder, name));
  attempt(() => rmdirSync(folder));
}
