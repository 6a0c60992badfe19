import type { PathScopeOptions } from "@toolcrib/core/files";

/** Where the search tools look, and how long a pattern may take. */
export interface SearchOptions extends PathScopeOptions {
  /** Milliseconds that a regular expression or glob of a call may spend matching. Default 5,000. */
  matchLimitMs?: number | undefined;
}

/** Default of `SearchOptions.matchLimitMs`. */
export const matchLimitMs = 5000;
