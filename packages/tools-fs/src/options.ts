import type { PathScopeOptions } from "@toolcrib/core/files";

/** Options of every tool of this pack. */
export interface FsToolOptions extends PathScopeOptions {
  /** How much one reply of `read_file` or one diff of `edit_file` holds, in bytes; `Infinity` for no limit. Default 256 KB. */
  maxBytes?: number | undefined;
}

export const defaultMaxBytes: number = 256 * 1024;

/** So many files a tool holds open at most, however many calls run. */
export const openFileLimit = 4;

/** Throws a TypeError for a limit that no reply could keep. */
export function maxBytesOf(options: FsToolOptions): number {
  const { maxBytes = defaultMaxBytes } = options;
  if (!(maxBytes >= 1)) throw new TypeError(`maxBytes must be a number of at least 1, not ${maxBytes}`);
  return Math.floor(maxBytes);
}
