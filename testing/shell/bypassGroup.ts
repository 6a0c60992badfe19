/**
 * Shell lines that the permission rules of other agents let through, from their advisories and issues. Only facts were taken over:
 * hosts and file names differ, and where a report names only the means, the line is a variant of it.
 */
export interface BypassGroup {
  /** Where it was reported. */
  readonly source: string;
  readonly what: string;
  /** Rules that a user of that agent had, in our syntax. Without: the agent's own list of harmless commands. */
  readonly allow?: readonly string[];
  /** Only files of the working directory are written, which the mode `accept-edits` lets through. */
  readonly writesInside?: true;
  readonly lines: readonly string[];
}
