import type { Program } from "../program.ts";

export interface Finding {
  /** A `problem` makes the command fail; a `warning` is what the user may want to change. */
  readonly level: "ok" | "note" | "warning" | "problem";
  readonly text: string;
  readonly advice?: string | undefined;
}

/** The answer of a check: lines for people, and the same as data for `--json`. */
export interface CheckResult {
  readonly findings: readonly Finding[];
  readonly data: unknown;
}

export type Check = (program: Program, signal: AbortSignal) => Promise<CheckResult>;
