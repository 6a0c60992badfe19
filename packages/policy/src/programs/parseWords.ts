import type { OptionList, ParsedWords, Style } from "./record.ts";

/** The values that an option takes, in order: any, a path, or one of some. */
type Value = "any" | "path" | ReadonlySet<string>;

interface Option {
  /** `maybe`: one that is attached, or none. `alone`: none, and no operand may follow. */
  readonly values: readonly Value[] | "maybe" | "alone";
}

const compiled = new Map<OptionList, ReadonlyMap<string, Option>>();

function compile(list: OptionList): ReadonlyMap<string, Option> {
  const known = compiled.get(list);
  if (known !== undefined) return known;
  const options = new Map<string, Option>();
  for (const entry of list.split(/\s+/))
    if (entry !== "") options.set(entry.replace(/=.*/, ""), { values: valuesOf(entry) });
  compiled.set(list, options);
  return options;
}

function valuesOf(entry: string): Option["values"] {
  const equals = entry.indexOf("=");
  const suffix = entry.slice(equals + 1);
  if (equals < 0) return [];
  if (suffix === "?") return "maybe";
  if (suffix === "!") return "alone";
  if (suffix.includes("|")) return [new Set(suffix.split("|"))];
  return suffix.split(",").map((one) => (one === "" ? "any" : one === "@" ? "path" : new Set([one])));
}

/** Returns whether one of the names is in a list. */
export function isListed(names: readonly string[], list: OptionList): boolean {
  const options = compile(list);
  return names.some((name) => options.has(name));
}

interface ParseOptions {
  readonly style?: Style | undefined;
  /** Words after the first operand are not the program's to parse (`timeout 5 CMD -x`). */
  readonly stop?: boolean;
  /** The options of the list with which the program only reads. Default: all. */
  readonly reads?: OptionList | undefined;
}

type FoundWords = Record<"operands" | "names" | "values" | "paths", string[]>;

/** Parses the words of a program from `start` on. Only options of the list count, written out. */
export function parseWords(
  words: readonly string[],
  start: number,
  list: OptionList,
  { style = "getopt", stop = false, reads = list }: ParseOptions = {},
): ParsedWords {
  const options = compile(list);
  const reading = compile(reads);
  const unknown: number[] = [];
  const changing: number[] = [];
  const doubtful: number[] = [];
  const found: FoundWords = { operands: [], names: [], values: [], paths: [] };
  let at = start;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--" && style !== "words") {
      at += 1;
      break;
    }
    if (!options.has(word) && (!word.startsWith("-") || word === "-")) {
      if (stop) break;
      found.operands.push(word);
      continue;
    }
    const first = found.names.length;
    const option = nextOption(word, options, style, found.names);
    const used = option === undefined ? undefined : takeValues(option, words.slice(at + 1, at + 3), found);
    if (used === undefined) unknown.push(at);
    else {
      for (let index = first; index < found.names.length; index += 1)
        if (!reading.has(found.names[index] ?? "")) changing.push(at);
      for (let value = at + 1; value <= at + used; value += 1)
        if (words[value]?.startsWith("-")) doubtful.push(at, value);
      at += used;
    }
  }
  for (const [index, word] of stop ? [] : words.slice(at).entries()) {
    const isDashed = /^-./.test(word);
    if (isDashed) doubtful.push(at + index);
    if (isDashed && style === "undashed") unknown.push(at + index);
    else found.operands.push(word);
  }
  return { ...found, unknown, changing, doubtful, next: at };
}

interface Found {
  readonly option: Option;
  /** The value in the same word. */
  readonly attached: string | undefined;
}

/** Finds the option of a word that takes a value, or the last one; undefined if one in it is unknown. */
function nextOption(
  word: string,
  options: ReadonlyMap<string, Option>,
  style: Style,
  names: string[],
): Found | undefined {
  const equals = word.indexOf("=");
  const name = equals < 0 ? word : word.slice(0, equals);
  const attached = equals < 0 ? undefined : word.slice(equals + 1);
  if (options.has("-#") && /^-[0-9]+$/.test(word)) return { option: { values: [] }, attached: undefined };
  if (style === "words" || word.startsWith("--")) return found(options.get(name), name, attached, names);
  for (let at = 1; at < word.length; at += 1) {
    const letter = `-${word.charAt(at)}`;
    const option = options.get(letter);
    const rest = word.slice(at + 1);
    if (option === undefined || (style === "letters" && rest !== "" && option.values.length > 0)) return undefined;
    if (rest === "" || option.values.length > 0) return found(option, letter, rest === "" ? undefined : rest, names);
    names.push(letter);
  }
  return undefined;
}

function found(
  option: Option | undefined,
  name: string,
  attached: string | undefined,
  names: string[],
): Found | undefined {
  if (option === undefined || (attached !== undefined && option.values.length === 0)) return undefined;
  names.push(name);
  return { option, attached };
}

/** Takes the values of an option and returns how many of the next words they are; undefined if they are not what it takes. */
function takeValues(
  { option: { values }, attached }: Found,
  next: readonly string[],
  { values: taken, paths }: FoundWords,
): number | undefined {
  if (values === "maybe") return 0;
  if (values === "alone") return attached === undefined && (next[0] ?? "-").startsWith("-") ? 0 : undefined;
  const candidates = attached === undefined ? next : [attached, ...next];
  for (const [at, kind] of values.entries()) {
    const value = candidates[at];
    if (value === undefined) return undefined;
    if (typeof kind === "object" && !kind.has(value)) return undefined;
    taken.push(value);
    if (kind === "path") paths.push(value);
  }
  return attached === undefined ? values.length : Math.max(0, values.length - 1);
}
