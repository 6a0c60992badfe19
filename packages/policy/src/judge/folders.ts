import nodePath, { join } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { compileWildmatch, isOnOtherShare, type PathStyle } from "@toolcrib/kit/files";

/** Returns whether what an effect is about can be looked at from here: not on a remote, nor on a share that holds no folder of the user. */
export function isSeen(
  { path = "", remote }: Pick<ToolEffect, "path" | "remote">,
  { roots, readable }: { readonly roots: readonly string[]; readonly readable: readonly string[] },
): boolean {
  return remote === undefined && !isOnOtherShare(path, [...roots, ...readable]);
}

/** The kind of an entry, as Node's `Dirent` and `Stats` tell it: published types name none of Node's, which a user may not have. */
export interface EntryKind {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** Tells a file from others, too. */
export interface EntryStats extends EntryKind {
  readonly dev: number;
  readonly ino: number;
  readonly nlink: number;
  readonly size: number;
}

/** The paths below a folder. */
export interface Listing {
  readonly entries: readonly { readonly path: string; readonly kind: EntryKind }[];
  /** False where the folder holds too much, or could not be read, so that more may be in it. */
  readonly complete: boolean;
}

/** A look through more names than this would keep a decision waiting. */
const mostNames = 5000;

/** The entries of a folder; `none` for a file or nothing, `large` if it is too much to read, `closed` if it cannot be read. */
export type Content = readonly (EntryKind & { readonly name: string })[] | "none" | "large" | "closed";

/**
 * Lists what lies below a folder, links not followed, but for a path that is skipped. A file, or nothing, is complete. `take` takes each
 * folder and name from what may be looked at in all.
 */
export function listBelow(
  folder: string,
  skipped: string | undefined,
  take: () => boolean,
  read: (folder: string) => Content,
): Listing {
  const folders = [folder];
  const entries: Listing["entries"][number][] = [];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const content = take() ? read(at) : "closed";
    if (content === "none") continue;
    if (typeof content === "string") return { entries, complete: false };
    for (const kind of content) {
      if (entries.length >= mostNames || !take()) return { entries, complete: false };
      const path = join(at, kind.name);
      if (path === skipped) continue;
      entries.push({ path, kind });
      if (kind.isDirectory()) folders.push(path);
    }
  }
  return { entries, complete: true };
}

export function hasPattern(word: string): boolean {
  return /[*?[]/.test(word);
}

/**
 * Compiles a pattern of one name on the wide side: `?` and all from the first bracket to the last are read as `*`, because shells and quotes
 * disagree about brackets. A leading dot must be written. A pattern that begins with a dot stands for `.` and `..` too, as in dash.
 */
export function compilePart(part: string): (name: string) => boolean {
  // A range that ends with the word is read in more than one way by shells.
  const stars = part.replace(/\[.*(?:\]|-$)|\?/gs, "*").replace(/[\\[]/g, "\\$&");
  const compiled = compileWildmatch(stars);
  const dotted = part.startsWith(".");
  return (name) => dotted === name.startsWith(".") && (typeof compiled === "string" || compiled.matches(name));
}

/** Returns a path of a shell line, by its names alone. The `sh` of Windows writes a drive as a folder: `/c/x` is `C:\x`. */
export function shellPath(directory: string, word: string, style: PathStyle = nodePath): string {
  return style.resolve(directory, style.sep === "/" ? word : word.replace(/^\/([A-Za-z])(?=\/|$)/, "$1:/"));
}
