import type { ToolEffect } from "@toolcrib/core";
import type { ShellLine } from "./shellReader.ts";

/** A shell line with what its judgement needs. */
export interface Line extends ShellLine {
  readonly effect: ToolEffect;
  readonly command: string;
  /** Where its commands may run; undefined where that cannot be told. */
  readonly directories: readonly string[] | undefined;
  /** Whether a rule without a pattern, or the mode, lets every command run. */
  readonly vouched: boolean;
}
