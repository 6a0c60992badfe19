import { checkOptions } from "@toolcrib/core";
import { createPathScope, type PathScope, type PathScopeOptions } from "@toolcrib/core/files";
import { byteLimit, defaultMaxReplyBytes } from "@toolcrib/core/text";

/** Options of every tool of this pack. */
export interface FsToolOptions extends PathScopeOptions {
  /** How much one reply of `read_file` or one diff of `edit_file` holds, in bytes; `Infinity` for no limit. Default 256 KB. */
  maxBytes?: number | undefined;
  /** How much one reply of `list_dir` holds, in bytes, its closing notice aside; `Infinity` for no limit. Default 50 KB. */
  maxReplyBytes?: number | undefined;
}

export const defaultMaxBytes: number = 256 * 1024;

/** So many files a tool holds open at most, however many calls run. */
export const openFileLimit = 4;

/** Throws a TypeError, naming the factory that was called, for options that it does not know. */
export function checkFsOptions(factory: string, options: FsToolOptions): void {
  checkOptions<FsToolOptions>(factory, options, { cwd: true, root: true, maxBytes: true, maxReplyBytes: true });
}

/** Where a tool's paths start and what they may not leave. Throws a TypeError for options that cannot be understood. */
export function scopeOf(factory: string, options: FsToolOptions): PathScope {
  checkFsOptions(factory, options);
  return createPathScope(options);
}

/** Throws a TypeError for a limit that no reply could keep. */
export function maxBytesOf({ maxBytes = defaultMaxBytes }: FsToolOptions): number {
  return byteLimit("maxBytes", maxBytes);
}

/** Throws a TypeError for a limit that no reply could keep. */
export function maxReplyBytesOf({ maxReplyBytes = defaultMaxReplyBytes }: FsToolOptions): number {
  return byteLimit("maxReplyBytes", maxReplyBytes);
}
