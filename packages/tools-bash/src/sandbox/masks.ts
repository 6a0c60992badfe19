import { lstatSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "@toolcrib/core/text";
import { isInside } from "@toolcrib/kit/files";
import { isReplaced } from "./bubblewrap.ts";
import { type BytePath, toBytePath, toText } from "./bytePath.ts";
import { type FoundPaths, mostMasks, tooManyMasks } from "./deniedPaths.ts";
import { outermost } from "./treeWalk.ts";

/** Mounts that keep commands from hidden and denied paths, and from changing protected ones. Outer paths come first. */
export interface Masks {
  /** Mounted on themselves, because a mount cannot be renamed or replaced. */
  readonly fixed: readonly BytePath[];
  /** Mounted on themselves read-only. */
  readonly kept: readonly BytePath[];
  readonly empty: readonly BytePath[];
  /** Files that cannot be opened. */
  readonly closed: readonly BytePath[];
}

/** The directories around which paths are masked. */
export interface MaskedPlaces {
  /** Commands may write in these. */
  readonly writable: readonly string[];
  /** These must stay usable: the writable ones and the working directory. */
  readonly shown: readonly string[];
  /** Commands may read these, which are shown only where they exist. */
  readonly readable: readonly string[];
  readonly hidden: readonly string[];
}

/** Resolves to what is made, or rejects with an Error that begins in plain words. */
export async function explained<Value>(made: () => Promise<Value>): Promise<Value> {
  try {
    return await made();
  } catch (error) {
    const why = `denied or protected paths cannot be hidden from commands: ${messageOf(error)}`;
    throw new Error(why, { cause: error });
  }
}

/** Throws unless every directory to hide can be hidden reliably. */
function checkHidden(hidden: readonly string[]): void {
  for (const path of hidden) {
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`${path} is not a directory to hide`);
    // A command could replace a link in a writable directory, and the real directory would become visible.
    if (realpathSync(path) !== path) throw new Error(`${path} cannot be hidden, because its path contains a link`);
  }
}

/** Returns how to mask denied and protected paths that were found. Throws an Error in plain words if one of them cannot be masked. */
export function masksOf(
  { files, directories }: FoundPaths,
  found: readonly BytePath[],
  { writable, shown, readable, hidden }: MaskedPlaces,
): Masks {
  checkHidden(hidden);
  const seen = [...shown, ...readable].map(toBytePath);
  const isSeen = (path: BytePath): boolean => seen.some((root) => isInside(root, path)) || !isReplaced(toText(path));
  const denied = { files: files.filter(isSeen), directories: directories.filter(isSeen) };
  const closing = denied.directories.find((path) => shown.some((place) => isInside(path, toBytePath(place))));
  if (closing !== undefined) throw new Error(`${toText(closing)} is denied, and commands run there`);
  const empty = outermost([...hidden.map(toBytePath), ...denied.directories]);
  const closed = denied.files.filter((path) => !empty.some((directory) => isInside(directory, path)));
  const kept = found.filter((path) => !empty.some((directory) => isInside(directory, path)) && !closed.includes(path));
  const roots = writable.map(toBytePath);
  const fixed = new Set<BytePath>();
  for (const path of [...empty, ...closed, ...kept]) {
    // Otherwise a command could rename a parent, and a later one would find the path under another name.
    for (let parent = dirname(path); isBelow(parent, roots); parent = dirname(parent)) fixed.add(parent);
  }
  const count = empty.length + closed.length + kept.length + fixed.size;
  if (count > mostMasks) throw tooManyMasks();
  return { fixed: [...fixed].sort((a, b) => a.length - b.length), kept, empty, closed };
}

/** Returns the arguments of bubblewrap for the masks, separated by NUL; `pass` opens a path and returns the number that bubblewrap has it by. */
export function maskArguments({ fixed, kept, empty, closed }: Masks, pass: (path: BytePath) => number): Uint8Array {
  const words = [
    ...fixed.flatMap((path) => ["--bind-fd", String(pass(path)), path]),
    ...kept.flatMap((path) => ["--ro-bind-fd", String(pass(path)), path]),
    ...empty.flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
    // A device on a mount that allows none: opening it fails.
    ...closed.flatMap((path) => ["--ro-bind", "/dev/null", path]),
  ];
  return Buffer.from(words.map((word) => `${word}\0`).join(""), "latin1");
}

function isBelow(path: BytePath, roots: readonly BytePath[]): boolean {
  return roots.some((root) => root !== path && isInside(root, path));
}
