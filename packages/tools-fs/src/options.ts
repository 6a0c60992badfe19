import { readOptions } from "@toolcrib/core/internal";
import { byteLimit, defaultMaxReplyBytes } from "@toolcrib/core/text";
import { createPathScope, type PathScope, type PathScopeOptions } from "@toolcrib/kit/files";
import { createSeenFiles, type SeenFiles } from "./seenFiles.ts";

/** Options of every tool of this pack. */
export interface FsToolOptions extends PathScopeOptions {
  /** Most bytes in one reply of `read_file` or one diff of `edit_file`; `Infinity` for no limit. Default: 256 KB. */
  maxBytes?: number | undefined;
  /**
   * Whether `write_file`, `edit_file` and `apply_patch` refuse an existing file that `read_file` of the same `createFsTools` has not read in its
   * present state. Default: false.
   */
  requireRead?: boolean;
  /** Most bytes in one reply of `list_dir`, without its closing notice; `Infinity` for no limit. Default: 50 KB. */
  maxReplyBytes?: number | undefined;
}

/** Where the tools of this pack say that they come from. */
export const origin = "@toolcrib/tools-fs";

export const defaultMaxBytes: number = 256 * 1024;

/** Most files that a tool has open at once, however many calls run. */
export const openFileLimit = 4;

/** Throws a TypeError, which names the factory, for an unknown option. */
function checkFsOptions(factory: string, options: FsToolOptions): void {
  readOptions<FsToolOptions>(factory, options, {
    cwd: true,
    root: true,
    deny: true,
    readable: true,
    maxBytes: true,
    requireRead: true,
    maxReplyBytes: true,
  });
}

/** The path guard of a tool. Throws a TypeError for invalid options. */
export function scopeOf(factory: string, options: FsToolOptions): PathScope {
  checkFsOptions(factory, options);
  return createPathScope(options);
}

/** What the tools of one pack remember of files; undefined where they need not. Throws a TypeError for invalid options. */
export function seenFilesOf(factory: string, options: FsToolOptions): SeenFiles | undefined {
  checkFsOptions(factory, options);
  if (!("requireRead" in options) || options.requireRead === false) return undefined;
  if (options.requireRead === true) return createSeenFiles();
  throw new TypeError("requireRead must be true or false; leave it out for false");
}

/** Throws a TypeError unless the limit is a positive number of bytes. */
export function maxBytesOf({ maxBytes = defaultMaxBytes }: FsToolOptions): number {
  return byteLimit("maxBytes", maxBytes);
}

/** Throws a TypeError unless the limit is a positive number of bytes. */
export function maxReplyBytesOf({ maxReplyBytes = defaultMaxReplyBytes }: FsToolOptions): number {
  return byteLimit("maxReplyBytes", maxReplyBytes);
}
