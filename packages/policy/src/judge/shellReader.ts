import type { SimpleCommand as Command, ShellLine as Line } from "../shell/shellLine.ts";

/** One command of a line, with what is known of words that it does not show. */
export interface SimpleCommand extends Command {
  /** The last word that `hidden` is about. */
  readonly hiddenAt?: number | undefined;
  /** Whether it gets further words that the line does not show. */
  readonly moreWords?: boolean | undefined;
  /** Names of the variables that its words expand. */
  readonly variables?: readonly string[] | undefined;
}

export interface ShellLine extends Line {
  readonly commands: readonly SimpleCommand[];
}

/** No line can be read by itself: each is asked about, unless a rule or the mode lets all commands run. */
export function readShellLine(_command: string, _options: { readonly shell?: string }): ShellLine {
  return { unreadable: "It is a shell line.", commands: [], redirections: [], changesDirectory: true };
}

export function readOnlyCommand(_command: SimpleCommand): {
  readonly readOnly: boolean;
  readonly paths: readonly string[];
  readonly why?: string;
} {
  return { readOnly: false, paths: [] };
}
