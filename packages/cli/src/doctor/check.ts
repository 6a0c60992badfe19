import type { Program } from "../program.ts";

/** What `toolcrib contracts` compares with. */
export interface ComparedWith {
  readonly to?: string | undefined;
  readonly tarballs?: string | undefined;
}

/** One thing that a check has found. */
export interface Finding {
  /** A `problem` makes the command fail; a `warning` is what the user may want to change. */
  readonly level: "ok" | "note" | "warning" | "problem";
  readonly text: string;
  /** What the user may do about it. */
  readonly advice?: string | undefined;
}

/** What a check answers: lines for people, and the same as data for `--json`. */
export interface CheckResult {
  readonly findings: readonly Finding[];
  readonly data: unknown;
}

/** What one check does. It throws a CliError only for flags that make no sense. */
export type Check = (flags: ComparedWith, program: Program, signal: AbortSignal) => Promise<CheckResult>;
