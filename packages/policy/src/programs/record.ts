/**
 * Options of a program, separated by blanks: `-a` and `--all` stand alone; `-n=` takes a value, attached or the next word; `-f=@` the path
 * of a file that is read; `--arg=,` two values, `--slurpfile=,@` a value and a path; `--color=?` may have a value attached;
 * `--reporter=dot|json` takes one of these values; `-c=!` must have none, so that an option or nothing follows; `-#` is a number (`-20`).
 */
export type OptionList = string;

/**
 * How a program splits its words into options. `getopt`: letters may be joined (`-la`), a value may follow its letter, `--` ends the
 * options. `undashed`: the same, but a word with a dash after `--` is not taken for an operand, since the program, or one of its subcommands, takes it
 * for an option all the same. `letters`: as `getopt`, but the value of a letter is always the next word. `words`: each option is a word of its
 * own, and `--` is an option like any other. Subcommands parse as their program does, if they do not say otherwise.
 */
export type Style = "getopt" | "undashed" | "letters" | "words";

/** What a command reads that only reads and prints. */
export interface Reads {
  /** The paths that it reads, as its words have them: relative to where it runs, file patterns not replaced. */
  readonly paths: readonly string[];
  /** Whether it prints what the files in a folder or repository say, not only their names. */
  readonly contents?: boolean | undefined;
  /** Whether the paths are lists of sums, whose files it opens too. */
  readonly lists?: boolean | undefined;
}

/** With what a program only reads and prints. */
export interface Reading {
  /** Any other option, an abbreviated one too, makes the command asked. */
  readonly options?: OptionList;
  /** What its operands are: paths that it reads, or data. Without this it takes none. */
  readonly operands?: "paths" | "data";
  /** How many operands come first that are data all the same: the pattern of `grep`. */
  readonly data?: number;
  /** Options that take the place of those: `-e PATTERN`. */
  readonly insteadOfData?: string;
  /** The most operands that it may have. */
  readonly most?: number;
  /** What each operand must look like. */
  readonly operand?: RegExp;
  /** Options of which operands need one: without it the program would make or change what they name. */
  readonly operandsNeed?: string;
  /** Whether it prints what files in a folder or repository say, not only their names: always, or with one of these options. */
  readonly contents?: true | string;
  /** With one of these options its operands are lists of sums and names, as those of `md5sum`. */
  readonly lists?: string;
  /** Where lists of options are not enough: what the words read. They were parsed before. */
  readonly interpret?: (words: readonly string[], parsed: ParsedWords) => Reads | string;
}

/** What the `*` of a rule may stand for: what only reads, and these options. */
export interface Covering {
  readonly options?: OptionList;
  /** What each operand and each value must look like. Default: no operand begins with `@`, as many programs read options from such a file. */
  readonly word?: RegExp;
  /** What the first operand must look like. */
  readonly first?: RegExp;
  /** Letters of which the first word may consist, without a dash, as that of `tar xzf`. */
  readonly bundle?: RegExp;
}

/** How a program starts the command that stands in its words; that command is judged by itself. */
export interface Starting {
  /** Options that leave it clear what that command is. */
  readonly options?: OptionList;
  /** Words of its own between its options and the command. */
  readonly operands?: number;
  /** Whether it does nothing itself, so that only the command matters. */
  readonly transparent?: true;
  /** Whether words `NAME=value` before the command set variables for it. */
  readonly assigns?: true;
  /** Whether the command gets further words that the line does not show. */
  readonly moreWords?: true;
  /** Options after which a command stands, up to `;` or `{} +`. */
  readonly actions?: string;
  /** Where a script stands: after the last of the options `-…c`, in all words, or in the first word. */
  readonly script?: "sh -c" | "bash -c" | "all" | "first";
}

/** Which word of an interpreter or launcher names what it runs. A rule must spell it out. */
export interface Running {
  /** Options that may stand before it. */
  readonly plain?: string;
  /** Options and verbs whose next word is what runs. */
  readonly code?: string;
  /** Of those, and of no option (the empty name), which name a program, whose own record then counts. */
  readonly launches?: readonly string[];
}

/** What is known of a program, or of one of its subcommands. */
export interface ProgramRecord {
  /** Whose parser of options was read, and in which version. */
  readonly source?: string;
  /**
   * Whether it runs what the configuration of the repository says in which it runs, so that the user must have chosen that. What it reads must
   * not lie outside.
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
  /** From which word on all words are data, so that an expansion may stand there. */
  readonly dataFrom?: number;
  /** Each of these options alone prints its version. */
  readonly versionOptions?: string;
  readonly starts?: Starting;
  readonly runs?: Running;
  /** Options before the subcommand. */
  readonly before?: OptionList;
  /** By their names; the empty name is no subcommand at all. Any other is asked about. */
  readonly commands?: ProgramRecords;
}

/** By one or several names of the program, separated by blanks. */
export type ProgramRecords = Readonly<Record<string, ProgramRecord>>;

/** What was found among the words of a command. */
export interface ParsedWords {
  /** Indexes of options that are not in the list, or whose value is not. */
  readonly unknown: readonly number[];
  readonly operands: readonly string[];
  /** Where the first operand stands, or the end. Only with `stop`. */
  readonly next: number;
  /** The options, without their values. */
  readonly names: readonly string[];
  readonly values: readonly string[];
  /** Values that are paths of files to read. */
  readonly paths: readonly string[];
}
