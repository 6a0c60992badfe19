import { parseWords } from "./parseWords.ts";
import type { Below, OptionList, ProgramRecord } from "./record.ts";
import { findProgram, locate } from "./table.ts";

/** Describes what a program of a command does with all below folders, though it does not only read. */
export interface FoundBelow {
  readonly kind: Below["kind"];
  /** Its words that may be folders; none if it takes the one it runs in. */
  readonly folders: readonly string[];
  /** True if it takes the whole repository instead. */
  readonly ofRepository: boolean;
  /** True if it may leave out some of it. */
  readonly partly: boolean;
  readonly followsLinks: boolean;
  /** True if it takes away what it reads. */
  readonly takesAway: boolean;
  /** True if git does it, which leaves its own folder alone. */
  readonly byGit: boolean;
  /** True if it leaves out what git ignores. */
  readonly leavesIgnored: boolean;
  /** True if it chooses files by their paths, which are not looked at. */
  readonly isChosen: boolean;
  /** Patterns of the names that are meant; undefined for all. */
  readonly names: readonly string[] | undefined;
}

/**
 * Lists what a command, or a line whose commands cannot be told apart, does with all below its words. Programs that change files are found
 * behind words of others, too.
 */
export function belowOf(words: readonly string[], isOneCommand: boolean): FoundBelow[] {
  // Words behind the first of a kind are among its own.
  const seen = new Set<Below | ProgramRecord>();
  let verb: number | undefined;
  return words.flatMap((word, at): FoundBelow[] => {
    if (at === verb) return [];
    const name = word.slice(word.lastIndexOf("/") + 1);
    const program = findProgram(name);
    if (program === undefined) return [];
    const { record, from } = locate(program, words, at + 1, name, !seen.has(program));
    seen.add(program);
    // The `rm` of `git rm`.
    if (isOneCommand && from > at + 1) verb = from - 1;
    const { below } = record;
    if (below === undefined || (at > 0 && below.kind === "read") || seen.has(below)) return [];
    seen.add(below);
    const found = foundIn(words.slice(from), below, record, program.repository === true);
    return found === undefined ? [] : [found];
  });
}

function foundIn(
  own: readonly string[],
  below: Below,
  { covers }: ProgramRecord,
  byGit: boolean,
): FoundBelow | undefined {
  const { kind, folder = 0, only, choosing, partly = false, followsLinks = false, takesAway = false, ignored } = below;
  if (only !== undefined && !mayHave(own, only)) return undefined;
  // Where tests are turned round, or one is enough, a test leaves out no file for sure.
  const isPlain = !own.some((word) => /^(?:!|-not|-o|-or|,)$/.test(word));
  const isChosen = isPlain && choosing?.split(" ").some((option) => own.includes(option)) === true;
  const { operands: sure, unknown } = parseWords(own, 0, (typeof covers === "object" && covers.options) || "");
  // Behind an option that is not known a word may be its value, or an operand.
  const all = unknown.length === 0 ? sure : own.filter((one) => !one.startsWith("-"));
  const fewest = unknown.length === 0 ? all.length : all.length - unknown.length;
  const operands = below.last ? all.slice(-1) : all;
  const names = own.filter((_, at) => at > 0 && isPlain && below.named?.split(" ").includes(own[at - 1] ?? ""));
  const leavesIgnored = ignored !== undefined && !mayHave(own, ignored);
  // Git has patterns of its own, and words for the whole repository.
  const isWhole = fewest < folder || (byGit && operands.some((one) => /[:*?[\\]/.test(one)));
  return {
    kind,
    folders: isWhole ? [] : operands,
    ofRepository: isWhole && byGit,
    byGit,
    followsLinks,
    takesAway,
    partly: partly || leavesIgnored || isChosen,
    isChosen,
    leavesIgnored,
    names: names.length > 0 ? names : undefined,
  };
}

/** Returns whether one of the options may be among words, its letter joined with others or its name cut. */
function mayHave(words: readonly string[], options: OptionList): boolean {
  return options
    .split(" ")
    .some((option) =>
      words.some((word) =>
        option.startsWith("--")
          ? word.length > 2 && option.startsWith(word)
          : /^-[A-Za-z]/.test(word) && word.includes(option.slice(1)),
      ),
    );
}
