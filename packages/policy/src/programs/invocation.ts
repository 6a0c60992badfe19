import { parseWords } from "./parseWords.ts";
import type { OptionList, ParsedWords, ProgramRecord, Style } from "./record.ts";
import { entryOf, findProgram, plainName } from "./table.ts";

/** A program or subcommand among words, and where its own words begin. */
export interface Located {
  readonly record: ProgramRecord;
  readonly name: string;
  readonly from: number;
  readonly style: Style | undefined;
  /** True if no subcommand is named: a later word could still be one. */
  readonly unnamed?: boolean;
  /** The index of a word that should be a subcommand and is not in the record. */
  readonly unlisted?: number;
}

/** Finds the subcommand; with `behind` also one after options that are not listed, as these may take a value. */
export function locate(
  program: ProgramRecord,
  words: readonly string[],
  start: number,
  name: string,
  behind = false,
): Located {
  let located: Located = { record: program, name, from: start, style: program.style };
  while (located.record.commands !== undefined) {
    const { record, from } = located;
    const { commands = {} } = record;
    const { unknown, next } = parseWords(words, from, record.before ?? "", { stop: true });
    const [first = next] = unknown;
    const isOption = words[first]?.startsWith("-") === true;
    const none = isOption || !words[first] ? entryOf(commands, "") : undefined;
    const looksOn = behind && isOption && none?.beyond === undefined;
    const later = looksOn ? words.findIndex((word, at) => at > first && entryOf(commands, word) !== undefined) : -1;
    const at = later < 0 ? first : later;
    const verb = words[at] ?? "";
    const found = entryOf(commands, verb);
    if (found !== undefined && verb !== "")
      located = { record: found, name: `${located.name} ${verb}`, from: at + 1, style: found.style ?? located.style };
    else if (none !== undefined)
      located = { ...located, record: none, style: none.style ?? located.style, unnamed: true };
    else return { ...located, unlisted: first };
  }
  return located;
}

/** The words of a command, parsed once by what is known of its program: all that is asked of them asks this. */
export interface Invocation extends ParsedWords, Omit<Located, "record"> {
  readonly words: readonly string[];
  /** Undefined if nothing is known of it. */
  readonly program: ProgramRecord | undefined;
  /** That of the subcommand that the words name, else that of the program. */
  readonly record: ProgramRecord;
  /** The index of the command that its words start, which is not parsed; undefined if they start none by standing there. */
  readonly inner: number | undefined;
}

/** The words of the commands that were read last: the same commands come in line after line. */
const recent = new Map<string, readonly string[]>();
const mostRecent = 500;
const longestRecent = 300;

/** Returns these words as they were read before, so that what is known of them is found again. */
export function sameWords(words: readonly string[]): readonly string[] {
  const key = words.join("\0");
  if (key.length > longestRecent) return words;
  const found = recent.get(key);
  if (found?.length === words.length && found.every((word, at) => word === words[at])) return found;
  recent.set(key, words);
  const [oldest = key] = recent.keys();
  if (recent.size > mostRecent) recent.delete(oldest);
  return words;
}

/** Findings about words, by the number of each question. */
const known = new WeakMap<readonly string[], unknown[]>();
/** Those of the words that were asked about last: one question after another is about the same ones. */
let last: { readonly words: readonly string[]; readonly found: unknown[] } = { words: [], found: [] };
let questions = 0;

/** Keeps what is found out about words for as long as these are kept. */
export function onceForWords<Found>(find: (words: readonly string[]) => Found): (words: readonly string[]) => Found {
  const at = questions;
  questions += 1;
  return (words) => {
    if (last.words !== words) {
      const found = known.get(words) ?? [];
      known.set(words, found);
      last = { words, found };
    }
    const { found } = last;
    if (found[at] === undefined && !(at in found)) found[at] = find(words);
    return found[at] as Found;
  };
}

/** Parses the words of a command, by its program's plain name. */
export const invocationOf: (words: readonly string[]) => Invocation = onceForWords(parse);

function parse(words: readonly string[]): Invocation {
  const called = plainName(words[0] ?? "");
  const program = findProgram(called);
  const located = program ? locate(program, words, 1, called) : { record: {}, name: called, from: 1, style: undefined };
  const { starts, reads } = located.record;
  const around = { words, program, ...located };
  if (starts !== undefined && starts.actions === undefined && starts.script === undefined) {
    const own = parseWords(words, located.from, starts.options ?? "", { style: located.style, stop: true });
    if (own.unknown.length === 0 || reads === undefined)
      return { ...around, ...own, operands: words.slice(own.next), inner: own.next };
  }
  return { ...around, ...parseLocated(words, located), inner: undefined };
}

/** Parses the words of a program or subcommand: by the options with which it only reads, and those that a rule covers. */
export function parseLocated(words: readonly string[], { record, from, style }: Located): ParsedWords {
  const { reads, covers } = record;
  const isBundled = typeof covers === "object" && covers.bundle !== undefined && /^[^-]/.test(words[from] ?? "");
  return parseWords(words, isBundled ? from + 1 : from, optionsOf(record), { style, reads: reads?.options ?? "" });
}

const joined = new WeakMap<ProgramRecord, OptionList>();

/** Joins the options that only read and those that are covered; once, as it is long. */
function optionsOf(record: ProgramRecord): OptionList {
  const { reads, covers } = record;
  const covered = typeof covers === "object" ? covers.options : undefined;
  const options = joined.get(record) ?? `${reads?.options ?? ""} ${covered ?? ""}`;
  joined.set(record, options);
  return options;
}
