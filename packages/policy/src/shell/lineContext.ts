import type { Word } from "unbash";
import type { ReadWord, WordContext } from "./readWord.ts";
import type { Redirection, SimpleCommand } from "./shellLine.ts";
import type { Span } from "./text.ts";

/** The findings, also of scripts within the line. */
export class LineOutput {
  readonly commands: SimpleCommand[] = [];
  readonly redirections: Redirection[] = [];
  changesDirectory = false;
  behindFirst = false;
  /** True while what may run more than once is read. */
  repeats = false;
  unreadable: string | undefined;
}

/** The dialect of the shell that will run a script. */
export interface Dialect {
  readonly isBash: boolean;
  /** True if it may be bash 3.2, which takes quotes and brackets in a here-document or comment of a substitution for its own. */
  readonly mayBeOld: boolean;
}

/** The part of the reader of the line that the readers of commands and redirections use. */
export interface LineContext extends WordContext {
  readonly output: LineOutput;
  /** Notes that a stretch of the line was read. */
  cover(span: Span): void;
  readWord(word: Word): ReadWord;
  /** Notes a here-document and the variables that it expands. */
  noteDocument(variables: readonly string[]): void;
  /** Returns the variables of here-documents since the last call. */
  takeVariables(): string[];
  /** Goes one level deeper, unless that is too deep. */
  nest(read: () => void): void;
  /** Reads the script of a `sh -c` and its like; by the same shell when `isBash` is undefined. */
  readInner(text: string, isBash: boolean | undefined): void;
}
