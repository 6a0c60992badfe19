import type { Program } from "../program.ts";

/** The versions that `toolcrib contracts` compares with. */
export interface ComparedWith {
  readonly to?: string | undefined;
  readonly tarballs?: string | undefined;
}

/** One thing that a check has found. */
export interface Finding {
  /** A `problem` makes the command fail; a `warning` is what the user may want to change. */
  readonly level: "ok" | "note" | "warning" | "problem";
  readonly text: string;
  /** Advice to the user. */
  readonly advice?: string | undefined;
}

/** The answer of a check: lines for people, and the same as data for `--json`. */
export interface CheckResult {
  readonly findings: readonly Finding[];
  readonly data: unknown;
}

/** One check. It throws a CliError only for flags that make no sense. */
export type Check = (flags: ComparedWith, program: Program, signal: AbortSignal) => Promise<CheckResult>;
