import path from "node:path";
import { foldCase } from "./foldCase.ts";

/*
 * Holds the differences between the paths of POSIX and of Windows. Each function takes the style that is meant, the running system's by
 * default, so that both are tested everywhere.
 */

/** Describes the used part of `path.posix` and `path.win32`. Their own type would ask users for the types of Node. */
export interface PathStyle {
  readonly sep: string;
  isAbsolute(path: string): boolean;
  join(...parts: string[]): string;
  resolve(...parts: string[]): string;
  parse(path: string): { readonly root: string };
}

/** The most bytes of a path that the system could open: PATH_MAX of Linux (smaller on macOS), and that of long Windows paths. */
export const longestPath: number = path.sep === "/" ? 4096 : 32_767;

/**
 * Returns an absolute path for one that may be relative. Not normalised on POSIX, where `link/..` is the parent of the link's target;
 * on Windows it is, but for an end (`\`, `\.`) that asks for the directory.
 */
export function absoluteFrom(readCwd: () => string, given: string, style: PathStyle = path): string {
  if (style.sep === "/") return style.isAbsolute(given) ? given : `${readCwd()}/${given}`;
  return style.resolve(readCwd(), given) + (/[\\/]\.?$/.test(given) ? style.sep : "");
}

/** Writes a path with `/` between the names: on POSIX `\` is a letter like any other. */
export function withSlashes(given: string, style: PathStyle = path): string {
  return style.sep === "/" ? given : given.replaceAll(style.sep, "/");
}

/** Returns a path's root (empty for a relative one) and its names, the last one first. */
export function takeApart(given: string, style: PathStyle = path): { root: string; names: string[] } {
  const { root } = style.parse(given);
  return {
    root,
    names: given
      .slice(root.length)
      .split(style.sep === "/" ? "/" : /[\\/]/)
      .reverse(),
  };
}

/** Returns the server and share that an absolute Windows path begins with, folded; undefined for a path on a drive, and on POSIX. */
function shareOf(given: string, style: PathStyle = path): string | undefined {
  if (style.sep === "/") return undefined;
  const { root } = style.parse(given);
  return /^[\\/]{2}/.test(root) ? foldCase(root.replace(/[\\/]+$/, "").replaceAll("/", "\\")) : undefined;
}

/** Returns whether a path is on a share that none of the folders is on: to look at it would send the user's login to its server. */
export function isOnOtherShare(given: string, folders: readonly string[], style: PathStyle = path): boolean {
  const share = shareOf(given, style);
  return share !== undefined && !folders.some((folder) => shareOf(folder, style) === share);
}
