import { readOptions } from "@toolcrib/core/internal";
import { byteLimit, defaultMaxReplyBytes } from "@toolcrib/core/text";
import { createPathScope, type PathScope, type PathScopeOptions } from "@toolcrib/kit/files";

/** Where the search tools look, how long a pattern may take and how much a reply holds. */
export interface SearchOptions extends PathScopeOptions {
  /** Milliseconds that a regular expression or glob of a call may spend matching. Default 5,000. */
  matchLimitMs?: number | undefined;
  /** How much one reply holds, in bytes, its closing notice aside; `Infinity` for no limit. Default 50 KB. */
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

/** Where the tools of this pack say that they come from. */
export const origin = "@toolcrib/tools-search";

const defaultMatchLimitMs = 5000;
const defaultSearchMemory = 2 ** 26;
const [leastMemory, mostMemory] = [2 ** 20, 2 ** 30];

/** Throws a TypeError, naming the factory that was called, for options that cannot be understood. */
export function settingsOf(factory: string, options: SearchOptions): SearchSettings {
  checkSearchOptions(factory, options);
  const { matchLimitMs = defaultMatchLimitMs, maxReplyBytes = defaultMaxReplyBytes } = options;
  const { searchMemory = defaultSearchMemory } = options;
  if (!(typeof matchLimitMs === "number" && matchLimitMs > 0)) {
    throw new TypeError(`${factory}: matchLimitMs must be a positive number of milliseconds`);
  }
  const isSize = typeof searchMemory === "number" && searchMemory >= leastMemory && searchMemory <= mostMemory;
  if (searchMemory !== 0 && !isSize) {
    throw new TypeError(
      `${factory}: searchMemory must be 0, or a number of bytes from 1 MB (2 ** 20) to 1 GB (2 ** 30)`,
    );
  }
  return {
    scope: createPathScope(options),
    matchLimitMs,
    maxReplyBytes: byteLimit("maxReplyBytes", maxReplyBytes),
    searchMemory: Math.floor(searchMemory / 8) * 8,
  };
}

/** Throws a TypeError unless the options are a plain object of known names. */
export function checkSearchOptions(factory: string, options: SearchOptions): void {
  readOptions<SearchOptions>(factory, options, {
    cwd: true,
    root: true,
    deny: true,
    readable: true,
    matchLimitMs: true,
    maxReplyBytes: true,
    searchMemory: true,
  });
}
