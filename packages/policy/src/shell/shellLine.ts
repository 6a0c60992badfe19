/** What a shell line would do, as far as its syntax tells. */
export interface ShellLine {
  /** Why it cannot be judged, so that it is asked; undefined when everything in it was read. One plain sentence. */
  readonly unreadable: string | undefined;
  /** Every simple command in it, in order; also those in substitutions and those that a wrapper such as `env` or `sh -c` starts. */
  readonly commands: readonly SimpleCommand[];
  /** Files that redirections read or write, as written when literal; a redirection to anything else makes the line unreadable. */
  readonly redirections: readonly { readonly kind: "read" | "write"; readonly path: string }[];
  /** Whether a command in it changes the working directory, so that relative paths after it mean other files. */
  readonly changesDirectory: boolean;
}

/** One command with its words, after quotes were removed. */
export interface SimpleCommand {
  /** The program and its arguments; empty when the command consists of assignments alone. */
  readonly words: readonly string[];
  readonly assignments: readonly { readonly name: string; readonly value: string }[];
  /** The text of the command in the line. */
  readonly text: string;
  /** Why this command runs another program or file, or writes one, by an option or by its nature; undefined when none is known. */
  readonly hidden?: string | undefined;
}
