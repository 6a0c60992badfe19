/**
 * Options of a program, separated by blanks: `-a` and `--all` stand alone; `-n=` takes a value, attached or the next word; `-f=@` the path
 * of a file that is read; `--arg=,` two values, `--slurpfile=,@` a value and a path; `--color=?` may have a value attached;
 * `--reporter=dot|json` takes one of these values; `-c=!` must have none, so that an option or nothing follows; `-#` is a number (`-20`).
 */
export type OptionList = string;

/**
 * A program's way to split its words into options. `getopt`: letters may be joined (`-la`), a value may follow its letter, `--` ends the
 * options. `undashed`: the same, but a word with a dash after `--` is not taken for an operand, since the program, or one of its
 * subcommands, takes it for an option all the same. `letters`: as `getopt`, but the value of a letter is always the next word. `words`:
 * each option is a word of its own, and `--` is an option like any other. Subcommands parse as their program does, if they do not say
 * otherwise.
 */
export type Style = "getopt" | "undashed" | "letters" | "words";

/** The files that a command reads which only reads and prints. */
export interface Reads {
  /** The paths that it reads, as its words have them: relative to where it runs, file patterns not replaced. */
  readonly paths: readonly string[];
  /** True if it prints what the files in a folder or repository say, not only their names. */
  readonly contents?: boolean | undefined;
}

/** With what a program only reads and prints. */
export interface Reading {
  /** Any other option, an abbreviated one too, makes the command asked. */
  readonly options?: OptionList;
  /** The kind of its operands: paths that it reads, or data. Without this it takes none. */
  readonly operands?: "paths" | "data";
  /** The number of first operands that are data all the same: the pattern of `grep`. */
  readonly data?: number;
  /** Options that take the place of those: `-e PATTERN`. */
  readonly insteadOfData?: string;
  /** The most operands that it may have. */
  readonly most?: number;
  /** The form that each operand must have. */
  readonly operand?: RegExp;
  /** Options of which operands need one: without it the program would make or change what they name. */
  readonly operandsNeed?: string;
  /** The options with which it prints what files in a folder or repository say, not only their names; true for always. */
  readonly contents?: true | string;
  /** Returns what the parsed words read, if lists of options are not enough. */
  readonly interpret?: (words: readonly string[], parsed: ParsedWords) => Reads | string;
}

/** The words that the `*` of a rule may stand for: those that only read, and these options. */
export interface Covering {
  readonly options?: OptionList;
  /**
   * The form that each operand and each value must have. Default: no operand begins with `@`, as many programs read options from such a
   * file.
   */
  readonly word?: RegExp;
  /** The form that the first operand must have. */
  readonly first?: RegExp;
  /** Letters of which the first word may consist, without a dash, as that of `tar xzf`. */
  readonly bundle?: RegExp;
}

/** A program's way to start the command in its words; that command is judged by itself. */
export interface Starting {
  /** Options that leave it clear what that command is. */
  readonly options?: OptionList;
  /** Words of its own between its options and the command. */
  readonly operands?: number;
  /** True if it does nothing itself, so that only the command matters. */
  readonly transparent?: true;
  /** True if words `NAME=value` before the command set variables for it. */
  readonly assigns?: true;
  /** True if the command gets further words that the line does not show. */
  readonly moreWords?: true;
  /** Options after which a command stands, up to `;` or `{} +`. */
  readonly actions?: string;
  /** The place of a script: after the last of the options `-…c`, in all words, or in the first word. */
  readonly script?: "sh -c" | "bash -c" | "all" | "first";
}

/** A kind of access to a file. */
export type FileKind = "read" | "write" | "delete";

/**
 * Describes what a program does with files that its words do not name, beside what it only reads. A folder in its words is looked through
 * once; for all else the sandbox holds the rules about files, or the user is asked.
 */
export interface Beyond {
  /**
   * With blanks between: `read`, `write` and `delete` for what it does with such files, `bring` if it changes names or brings files, `put` if
   * it puts its operands at the last one.
   */
  readonly does: string;
  /** Only with one of these options. */
  readonly only?: OptionList;
  /** Not with one of these. */
  readonly without?: OptionList;
  /** Only if its script is like this: the values of its options, else its first operand. */
  readonly script?: RegExp;
  /** The operands that are folders of such files. Left out: no look at a folder tells which files they are. */
  readonly below?: "all" | "last" | "sources";
  /** Options with which no look tells it either. */
  readonly unless?: OptionList;
  /**
   * With fewer operands than this it takes the folder that it runs in, or the repository of that; an option that is not known may take one.
   * Left out: without operands it does nothing.
   */
  readonly folder?: number;
  /** Options whose value is a pattern: only names that fit are meant. */
  readonly named?: OptionList;
  /**
   * It may leave out some files, so that the user is asked about a denied one; a list: but with one of these options. `history`: it shows
   * what they held before.
   */
  readonly partly?: true | "history" | OptionList;
  readonly followsLinks?: true;
}

/** The word of an interpreter or launcher that names what it runs. A rule must spell it out. */
export interface Running {
  /** Options that may stand before it. */
  readonly plain?: string;
  /** Options and verbs whose next word is what runs. */
  readonly code?: string;
  /** Of those, and of no option (the empty name), which name a program, whose own record then counts. */
  readonly launches?: readonly string[];
}

/** The words of an interpreter that tell if it runs what its input says, so that the line would do more than was read. */
export interface FromInput {
  /** Its options before a script. Without a script, or with `-` in its place, it runs its input. */
  readonly options: OptionList;
  /** Options with which it does so whatever follows. */
  readonly always?: OptionList;
  /** Options with which it never does, beside those of `runs.code` and those that print its version. */
  readonly never?: OptionList;
}

/** The facts known of a program, or of one of its subcommands. */
export interface ProgramRecord {
  /** The program whose parser of options was read, and its version. */
  readonly source?: string;
  /**
   * True if it runs what the configuration of its repository says, so that the user must have chosen that. What it reads must not lie
   * outside.
   */
  readonly repository?: true;
  /** A word like this makes the command asked, whatever its options. */
  readonly asked?: RegExp;
  /** Default: `getopt`. */
  readonly style?: Style;
  readonly reads?: Reading;
  /**
   * Left out: what only reads. `anything`: no option runs another program or names a file that it writes. `nothing`: only an exact rule
   * allows it. `input`: not even that, because it runs what its input says.
   */
  readonly covers?: Covering | "anything" | "nothing" | "input";
  /** All that it does with the files that its words name: `read`, `write` and `delete`, with blanks between. Left out: it may do anything. */
  readonly access?: string;
  /**
   * The option by which it keeps a file that it changes, with the suffix of that name as a group, else as the next word; `*` in it is the
   * old name.
   */
  readonly keeps?: RegExp;
  /** Its work on files that its words do not name. */
  readonly beyond?: Beyond | readonly Beyond[];
  /** From which word on all words are data, so that an expansion may stand there. */
  readonly dataFrom?: number;
  /** Each of these options alone prints its version. */
  readonly versionOptions?: string;
  readonly starts?: Starting;
  readonly runs?: Running;
  /** Left out: it runs no script of its input. */
  readonly fromInput?: FromInput;
  /**
   * Names that mean the same to rules of deny and ask, in groups with commas between: `-r -R --recursive, install i add`. `-X=` may have
   * its value attached; `-D --delete&--force` is the same as these together; `+*` is a word that begins so; `container &` may be left
   * out before another word. In the lists of options a letter right before a long name that begins with it is the same without this.
   */
  readonly same?: string;
  /** True if a subcommand may be cut short (`npm pub`), which rules of deny and ask see through. */
  readonly heads?: true;
  /** Options before the subcommand. */
  readonly before?: OptionList;
  /** By their names; the empty name is no subcommand at all. Any other is asked about. */
  readonly commands?: ProgramRecords;
}

/** By one or several names of the program, separated by blanks. */
export type ProgramRecords = Readonly<Record<string, ProgramRecord>>;

/** The words of a command, parsed. */
export interface ParsedWords {
  /** Indexes of options that are not in the list, or whose value is not. */
  readonly unknown: readonly number[];
  /** Indexes of options with which the program may do more than read. */
  readonly changing: readonly number[];
  /** Indexes of options and of their values that begin with a dash, or of such operands: the program may read them otherwise, or hand them on. */
  readonly doubtful: readonly number[];
  readonly operands: readonly string[];
  /** The index of the first operand, or the end. Only with `stop`. */
  readonly next: number;
  /** The options, without their values. */
  readonly names: readonly string[];
  readonly values: readonly string[];
  /** Values that are paths of files to read. */
  readonly paths: readonly string[];
}
