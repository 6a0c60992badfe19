import { invocationOf, type Located, locate, onceForWords, parseLocated } from "./invocation.ts";
import type { Beyond, FileKind, OptionList, ParsedWords, ProgramRecord } from "./record.ts";
import { findProgram } from "./table.ts";
import { runBy } from "./uncovered.ts";

/** The work of a command on files that its words do not name. */
export interface FoundBeyond {
  /** The kind of work; none if files only get other names, or are brought. */
  readonly kinds: readonly FileKind[];
  /** True if it changes names or brings files. */
  readonly brings: boolean;
  /** The words of the folders that it is done below; undefined if no look at a folder tells. */
  readonly folders: readonly string[] | undefined;
  /** True if it takes the whole repository instead. */
  readonly ofRepository: boolean;
  /** True if it may leave out some of it; `history` if it shows what those files held before. */
  readonly partly: boolean | "history";
  readonly followsLinks: boolean;
  /** True if git does it, which leaves its own folder alone. */
  readonly byGit: boolean;
  /** Patterns of the names that are meant; undefined for all. */
  readonly names: readonly string[] | undefined;
  /** The files that it puts at the last operand, or at links there. */
  readonly put: { readonly sources: readonly string[]; readonly target: string; readonly links: boolean } | undefined;
}

/** Lists what the program of a command does with files that its words do not name, and the one that it launches. */
export const beyondOf: (words: readonly string[]) => readonly FoundBeyond[] = onceForWords((words) => {
  const { runs } = programOf(words[0]) ?? {};
  if (programOf(words[0]) === undefined) return [];
  const run = runs === undefined ? undefined : runBy(words, 1, runs);
  const launched = run?.launches ? beyondOf(words.slice(run.named)) : [];
  return [...foundAt(words, locatedAt(words, 0, true), true), ...launched];
});

/**
 * Lists what is done with all below folders by a command, or by a line whose commands cannot be told apart. Programs that change files are
 * found behind words of others, too. `isOpen`: it may get operands that are not among the words.
 */
export function beyondIn(
  words: readonly string[],
  isOneCommand: boolean,
  isOpen: boolean = !isOneCommand,
): FoundBeyond[] {
  // Words behind the first of a kind are among its own.
  const seen = new Set<unknown>();
  let verb: number | undefined;
  return words.flatMap((word, at): FoundBeyond[] => {
    const program = at === verb ? undefined : programOf(word);
    if (program === undefined) return [];
    const located = locatedAt(words, at, !seen.has(program));
    const { record, from } = located;
    seen.add(program);
    // The `rm` of `git rm`.
    if (isOneCommand && from > at + 1) verb = from - 1;
    if (record.beyond === undefined || seen.has(record.beyond)) return [];
    seen.add(record.beyond);
    // One among the words of another may get more of them from its input, as that of `parallel`.
    const found = foundAt(words, located, isOpen || at > 0);
    return at === 0 ? found : found.map((one) => ({ ...one, kinds: one.kinds.filter((kind) => kind !== "read") }));
  });
}

function programOf(word = ""): ProgramRecord | undefined {
  return findProgram(word.slice(word.lastIndexOf("/") + 1));
}

/** Finds the subcommand of the program at a place, also behind options that are not known if it is the first of that program. */
function locatedAt(words: readonly string[], at: number, isFirst: boolean): Located & { program: ProgramRecord } {
  const program = programOf(words[at]) ?? {};
  return { program, ...locate(program, words, at + 1, "", isFirst) };
}

function foundAt(
  words: readonly string[],
  located: Located & { program: ProgramRecord },
  isOpen = false,
): FoundBeyond[] {
  const { record, program, from } = located;
  const all = [record.beyond ?? []].flat();
  const own = words.slice(from);
  const printing = `--help --version ${record === program ? (program.versionOptions ?? "") : ""}`.split(" ");
  if (all.length === 0 || (own.length === 1 && printing.includes(own[0] ?? ""))) return [];
  const invocation = invocationOf(words);
  const isParsed = invocation.record === record && invocation.from === from && invocation.inner === undefined;
  const parsed = isParsed ? invocation : parseLocated(words, located);
  return all.flatMap((beyond) => foundIn(words, from, beyond, record, program, parsed, isOpen) ?? []);
}

function foundIn(
  words: readonly string[],
  from: number,
  { does, below, only, without, script, unless, named, folder, partly, followsLinks }: Beyond,
  { covers }: ProgramRecord,
  { repository }: ProgramRecord,
  { operands: all, paths, unknown, values }: ParsedWords,
  isOpen: boolean,
): FoundBeyond | undefined {
  const own = words.slice(from);
  const bundle = typeof covers === "object" && covers.bundle !== undefined ? [`-${own[0]}`] : [];
  if (only !== undefined && !mayHave([...bundle, ...own], only)) return undefined;
  if (without !== undefined && mayHave(own, without)) return undefined;
  if (script !== undefined && !(values.length > 0 ? values : all.slice(0, 1)).some((text) => mayMatch(text, script)))
    return undefined;
  const byGit = repository === true;
  // Where tests are turned round, or one is enough, a test leaves out no file for sure.
  const isPlain = !own.some((word) => /^(?:!|-not|-o|-or|,)$/.test(word));
  const isChosen = isPlain && unless?.split(" ").some((option) => own.includes(option)) === true;
  // Behind an option that is not known a word may be its value, or an operand.
  const strange = unknown.filter((at) => only === undefined || !mayHave([words[at] ?? ""], only));
  const fewest = all.length - strange.length;
  const isLast = paths.length === 0 && all.length > 1;
  const sources = isLast ? all.slice(0, -1) : all;
  const done = does.split(" ");
  const operands = below === "last" ? all.slice(-1) : below === "sources" ? sources : all;
  const names = own.filter((_, at) => at > 0 && isPlain && named?.split(" ").includes(own[at - 1] ?? ""));
  // Git has patterns of its own, and words for the whole repository.
  const isWhole =
    fewest < (folder ?? (isOpen ? 0 : Number.NEGATIVE_INFINITY)) ||
    (byGit && operands.some((one) => /[:*?[\\]/.test(one)));
  // Without operands such a program does nothing.
  const isEmpty = (below !== undefined || done.includes("put")) && operands.length === 0 && !isWhole;
  if (isEmpty && !isOpen) return undefined;
  const kinds = done.filter(
    (one): one is FileKind =>
      one === "write" || one === "delete" || (one === "read" && !(isEmpty && below === "sources")),
  );
  // With one operand `ln` makes the link where it runs.
  const target = paths[0] ?? (isLast ? (all.at(-1) ?? ".") : ".");
  return {
    kinds,
    brings: done.includes("bring"),
    folders: below === undefined || isChosen ? undefined : isWhole && !byGit ? ["."] : isWhole ? [] : operands,
    ofRepository: isWhole && byGit,
    byGit,
    followsLinks: followsLinks === true,
    partly: partly === "history" ? partly : typeof partly === "string" ? !mayHave(own, partly) : partly === true,
    names: names.length > 0 ? names : undefined,
    put: done.includes("put") ? { sources, target, links: kinds.length === 0 } : undefined,
  };
}

/** More of a script is not read. */
const longestScript = 1000;

function mayMatch(text: string, script: RegExp): boolean {
  return text.length > longestScript || script.test(text);
}

/** Returns whether one of the options may be among words, its letter joined with others or its name cut. */
function mayHave(words: readonly string[], options: OptionList): boolean {
  return options
    .split(" ")
    .some((option) =>
      words.some((word) =>
        option.startsWith("--")
          ? /^--[^=]/.test(word) && option.startsWith(word.replace(/=.*/s, ""))
          : /^-[A-Za-z@]/.test(word) && word.includes(option.slice(1)),
      ),
    );
}
