import type { Reads } from "../programs/record.ts";
import type { Uncovered } from "../programs/uncovered.ts";

/** The commands and redirections of a shell line, as far as its syntax tells. */
export interface ShellLine {
  /** The reason why it cannot be judged, so that the user is asked; undefined if everything in it was read. One plain sentence. */
  readonly unreadable: string | undefined;
  /** Every simple command in it; also those in substitutions and those that a wrapper such as `env` or `sh -c` starts. */
  readonly commands: readonly SimpleCommand[];
  /** Files that redirections read or write, as written when literal; a redirection to anything else makes the line unreadable. */
  readonly redirections: readonly Redirection[];
  /** True if a command in it changes the working directory, so that relative paths after it mean other files. */
  readonly changesDirectory: boolean;
  /** True if all the rest of it runs only once its first command has succeeded (`cd DIRECTORY && …`). */
  readonly behindFirst: boolean;
}

export interface Redirection {
  readonly kind: "read" | "write";
  readonly path: string;
}

export interface Assignment {
  readonly name: string;
  /** The value; as written in the line when `literal` is false. */
  readonly value: string;
  /** False when the value holds an expansion, or comes from input (`read`, `for`). */
  readonly literal: boolean;
  /** True if programs get it: an assignment before a command, an `export`, an `env NAME=…`. */
  readonly exported: boolean;
}

/** One command with its words, after quotes were removed. */
export interface SimpleCommand {
  /** The program and its arguments; empty when the command consists of assignments alone. Words with an expansion are as written. */
  readonly words: readonly string[];
  readonly assignments: readonly Assignment[];
  /** The text of the command in the line. */
  readonly text: string;
  /**
   * The files that it reads if it only reads and prints; else a sentence that says why it may do more. Its assignments are not judged here.
   */
  readonly reads: Reads | string;
  /** True if it runs what the configuration of its repository says. */
  readonly ofRepository: boolean;
  /** The parts that a rule must spell out, as its wildcard does not cover them; undefined if nothing is known. */
  readonly uncovered?: Uncovered | undefined;
  /** Indexes of words in which the shell replaces a file pattern (`src/*.ts`); they do not start with the pattern. */
  readonly patterns?: readonly number[] | undefined;
  /** Indexes of words that can only be data. */
  readonly data: ReadonlySet<number>;
  /** Names of the variables that its words expand, all of them as data of a command that takes any data (`echo "$x"`). */
  readonly variables?: readonly string[] | undefined;
  /** Set if it gets further words that the line does not show (`xargs CMD`, `find -exec CMD {}`), so that no exact rule is about it. */
  readonly moreWords?: boolean | undefined;
  /** Set if it may run more than once: it stands in a loop, or where it cannot be told. */
  readonly repeats?: boolean | undefined;
}
