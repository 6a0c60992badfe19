import { option, readOptions, withDefault } from "@toolcrib/core/internal";
import { createPathScope, type PathScope, type PathScopeOptions, scopeOptions } from "@toolcrib/kit/files";
import { defaultMaxReplyBytes } from "@toolcrib/kit/text";

/** Options of the search tools: where they look, and their limits. */
export interface SearchOptions extends PathScopeOptions {
  /** Milliseconds that a regular expression or glob of a call may spend matching. Default 5,000. */
  matchLimitMs?: number | undefined;
  /** The most bytes in one reply, its closing notice aside; `Infinity` for no limit. Default 50 KB. */
  maxReplyBytes?: number | undefined;
  /**
   * Bytes in which the searches of this process remember files that have not changed: what they hold, and the text of small ones.
   * Default 64 MB, 0 for none. Forgotten after five minutes without a search.
   */
  searchMemory?: number | undefined;
}

/** The options of one tool, checked. */
export interface SearchSettings {
  scope: PathScope;
  matchLimitMs: number;
  maxReplyBytes: number;
  searchMemory: number;
}

/** The `origin` of the tools of this pack. */
export const origin = "@toolcrib/tools-search";

const memory = {
  expected: "0, or a number of bytes from 1 MB (2 ** 20) to 1 GB (2 ** 30)",
  fits: (value: unknown) => value === 0 || (typeof value === "number" && value >= 2 ** 20 && value <= 2 ** 30),
  isShown: true,
};

const specs = {
  ...scopeOptions,
  matchLimitMs: withDefault(option.milliseconds, 5000),
  maxReplyBytes: withDefault(option.bytes, defaultMaxReplyBytes),
  searchMemory: withDefault(memory, 2 ** 26),
};

/** Throws a TypeError, naming the factory that was called, for options that cannot be understood. */
export function settingsOf(factory: string, options: SearchOptions): SearchSettings {
  const read = readOptions<SearchOptions, typeof specs>(factory, options, specs);
  return { ...read, scope: createPathScope(options), searchMemory: Math.floor(read.searchMemory / 8) * 8 };
}
