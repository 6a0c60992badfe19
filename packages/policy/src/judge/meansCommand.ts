import { invocationOf, onceForWords } from "../programs/invocation.ts";
import { type Spellings, spellingsOf } from "../programs/spellings.ts";
import { entryOf, plainName } from "../programs/table.ts";
import { type CommandPattern, fold, programName } from "../rules/patterns.ts";
import { rawWords } from "./commandLine.ts";

/** A word of a command behind its program: an option, or any other word. */
type Part =
  | { readonly operand: string }
  | {
      /** The options in the word: one, or one for each of joined letters. */
      readonly names: readonly string[];
      readonly word: string;
      readonly value: string | undefined;
    };
type OptionPart = Exclude<Part, { readonly operand: string }>;

/** The words of a command, taken apart and put in the spelling that all others mean. */
interface Given {
  readonly spellings: Spellings;
  readonly parts: readonly Part[];
  readonly options: ReadonlySet<string>;
  /** Options with a word that may be their value, which is attached or the next. */
  readonly values: ReadonlySet<string>;
  /** Options that stand there more than once. */
  readonly repeated: ReadonlySet<string>;
}

/**
 * Returns whether a deny or ask rule is meant: wider than to allow, since the same command can be written in many ways. The program may be
 * named by a path or in capitals, and options may stand anywhere, joined or apart, short or long, as its record tells.
 */
export function meansCommand({ words, open }: CommandPattern, command: readonly string[]): boolean {
  if (!startsProgram({ words, open }, command) || isOtherSubcommand(words, command)) return false;
  const given = givenBy(command);
  const { spellings, parts } = given;
  const operands: string[] = [];
  const others: string[] = [];
  const written = new Set<string>();
  let option: OptionPart | undefined;
  for (const part of takeApart(words, spellings)) {
    if ("operand" in part) {
      operands.push(part.operand);
      // It may be the value of the option before it.
      if (option === undefined || !hasValue(given, option, part.operand)) others.push(part.operand);
      option = undefined;
    } else {
      if (!hasOption(given, part) || (part.value !== undefined && !hasValue(given, part, part.value))) return false;
      option = part.value === undefined ? part : undefined;
      if (/^--./.test(part.word) && !given.repeated.has(fold(part.word))) written.add(fold(part.word));
    }
  }
  return [operands, others].some((wanted) => areInOrder(wanted, parts, open, written, spellings));
}

/** Returns whether both name a subcommand for sure, and not the same one: `git commit -m push` is no `git push`. */
function isOtherSubcommand(pattern: readonly string[], command: readonly string[]): boolean {
  const [wanted, given] = [invocationOf(pattern), invocationOf(command)];
  const { commands } = given.program ?? {};
  const [one, other] = [wanted, given].map(({ name }) => name.split(" ")[1]);
  if (commands === undefined || one === undefined || other === undefined) return false;
  if (entryOf(commands, one) === entryOf(commands, other)) return false;
  const { spellings } = givenBy(command);
  const [ones, others] = [spellings.meanings(one), spellings.meanings(other)];
  return ones.length > 0 && others.length > 0 && !ones.some((meaning) => others.includes(meaning));
}

/** Returns whether operands stand among the parts of a command in their order; unless the rule is open, with no others but values. */
function areInOrder(
  wanted: readonly string[],
  parts: readonly Part[],
  open: boolean,
  written: ReadonlySet<string>,
  { isHead, isOptional }: Spellings,
): boolean {
  // An operand after an option may be its value, or not: so many operands may be found by now.
  let reached: ReadonlySet<number> = new Set([0]);
  let isFirst = true;
  let afterOption = false;
  for (const part of parts) {
    if (!("operand" in part)) {
      afterOption = !written.has(fold(part.word));
      continue;
    }
    const { operand } = part;
    const mayBeLess = open || afterOption || (isFirst && isOptional(operand));
    const next = new Set(mayBeLess ? reached : []);
    for (const found of reached) {
      const word = wanted[found];
      if (operand === word || (word !== undefined && isFirst && found === 0 && isHead(operand, word)))
        next.add(found + 1);
      else if (word !== undefined && isFirst && isOptional(word) && operand === wanted[found + 1]) next.add(found + 2);
      // To a rule that does not name it, a lone dash is an option.
      else if (operand === "-") next.add(found);
    }
    isFirst &&= afterOption || isOptional(operand);
    afterOption = operand === "-" && [...reached].some((found) => wanted[found] !== "-");
    reached = next;
  }
  return reached.has(wanted.length);
}

/** Returns whether a command is of the program that the pattern names: for commands that get further words, which could be any. */
export function startsProgram({ words: [pattern = ""] }: CommandPattern, [command = ""]: readonly string[]): boolean {
  const [program, started] = [programName(pattern), programName(command)];
  if (started === program) return true;
  // `python3.12` is `python3`, and `python`.
  return started.startsWith(program) && plainName(started) !== started && plainName(started) === plainName(program);
}

const givenBy = onceForWords((command): Given => {
  const spellings = spellingsOf([programName(command[0] ?? ""), ...command.slice(1)]);
  const parts = takeApart(command, spellings);
  const options = new Set<string>();
  const values = new Set<string>();
  const once = new Set<string>();
  const repeated = new Set<string>();
  for (const [at, part] of parts.entries()) {
    if ("operand" in part) {
      for (const meaning of spellings.meanings(`${part.operand.charAt(0)}*`)) options.add(meaning);
      continue;
    }
    // The same word may stand there thousands of times.
    if (once.has(part.word)) repeated.add(fold(part.word));
    else {
      for (const each of part.names) for (const key of keysOf(each, spellings)) options.add(key);
      if (!spellings.joins) options.add(asLong(part));
      once.add(part.word);
    }
    const next = parts[at + 1];
    const value = part.value ?? (next !== undefined && "operand" in next ? next.operand : undefined);
    if (value !== undefined)
      for (const key of keysOf(part.names.at(-1) ?? "", spellings)) values.add(`${key}\0${fold(value)}`);
  }
  return { spellings, parts, options, values, repeated };
});

/** Lists what an option is found by: what it means, and as a letter also that letter in either case. */
function keysOf(option: string, { meanings }: Spellings): readonly string[] {
  return isLetter(option) ? [...meanings(option), letterOf(option)] : meanings(option);
}

function hasOption({ spellings, options }: Given, part: OptionPart): boolean {
  const has = (option: string): boolean =>
    (isLetter(option) && options.has(letterOf(option))) || spellings.meanings(option).every((one) => options.has(one));
  return part.names.every(has) || (!spellings.joins && options.has(asLong(part)));
}

function hasValue({ spellings, values }: Given, { names }: OptionPart, value: string): boolean {
  return keysOf(names.at(-1) ?? "", spellings).some((key) => values.has(`${key}\0${fold(value)}`));
}

function isLetter(option: string): boolean {
  return /^-[a-z]$/i.test(option);
}

/** Returns a letter in either case, as a key that no option is. */
function letterOf(option: string): string {
  return fold(option.slice(1));
}

/** Returns an option with one dash as the same with two, which are one to many programs. */
function asLong({ word }: OptionPart): string {
  return fold(word.replace(/^-+/, "--"));
}

function takeApart(words: readonly string[], spellings: Spellings): readonly Part[] {
  const { meanings, isKnown, isOptional, bundles } = spellings;
  return words.slice(1).flatMap((word, at): readonly Part[] => {
    const equals = word.indexOf("=");
    const [name, value] = equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
    if (bundles && at === 0 && /^[a-z]+$/i.test(word)) return [{ names: lettersOf(word), word, value: undefined }];
    if (!word.startsWith("-") || word === "-") {
      const operand = fold(word);
      return isOptional(operand) ? [{ operand }] : meanings(operand).map((meaning) => ({ operand: meaning }));
    }
    const [, letters = "", rest = ""] = /^-([a-z]+)(|[^a-z-].*)$/is.exec(word) ?? [];
    if (name.startsWith("--") || isKnown(name) || letters === "") return [{ names: [name], word: name, value }];
    return [takeLetters(letters, rest, spellings)];
  });
}

function lettersOf(letters: string): readonly string[] {
  return [...letters].map((letter) => `-${letter}`);
}

/** Takes joined letters apart, up to one that has the rest as its value. */
function takeLetters(letters: string, rest: string, { isValued }: Spellings): OptionPart {
  const all = lettersOf(letters);
  const at = all.findIndex(isValued);
  const names = at < 0 ? all : all.slice(0, at + 1);
  const value = `${letters.slice(names.length)}${rest}`.replace(/^=/, "");
  return { names, word: `-${letters.slice(0, names.length)}`, value: value === "" ? undefined : value };
}

interface Inner {
  readonly words: readonly string[];
  /** The places of each name that may be that of a program. */
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** The words from a place on, which are read once for all rules. */
  readonly slices: Map<number, readonly string[]>;
}

const mostPlaces = 8;

/**
 * Returns whether the words of a command are, from one of them on, a command that a rule of deny or ask is about. A program that starts
 * others may run that: also as a script, so that the words in its words count.
 */
export function holdsCommand(pattern: CommandPattern, words: readonly string[]): boolean {
  const inner = innerWords(words);
  const [program = ""] = pattern.words;
  const places = inner.places.get(plainName(programName(program))) ?? [];
  // A rule with * fits from the first of them on, one without from the last: so many are enough to tell.
  return [...places.slice(0, mostPlaces), ...places.slice(-1)].some((at) => {
    const slice = inner.slices.get(at) ?? inner.words.slice(at);
    inner.slices.set(at, slice);
    return meansCommand(pattern, slice);
  });
}

const innerWords = onceForWords((words): Inner => {
  const isGit = plainName(programName(words[0] ?? "")) === "git";
  const all = words.slice(1).flatMap((word) => {
    if (!isGit) return rawWords(word.replace(/^(--?[\w-]+)=/, "$1 "));
    // A key of the configuration may name a program; that of an alias without a mark a subcommand.
    const [key = "", ...value] = rawWords(word.replace(/^([\w.-]+)=/, "$1 ").replaceAll("!", " "));
    return /^(?:-c)?alias\./i.test(key) ? [key, "git", ...value] : [key, ...value];
  });
  const places = new Map<string, number[]>();
  for (const [at, word] of all.entries()) {
    const name = plainName(programName(word));
    const found = places.get(name);
    if (found === undefined) places.set(name, [at]);
    else found.push(at);
  }
  return { words: all, places, slices: new Map() };
});
