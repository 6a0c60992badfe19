/**
 * The options of a program, as a text with an entry for each: `-a` and `--all` stand alone, `-n=` and `--lines=` take a value, `-f=@`
 * and `--file=@` take the path of a file that is read, `--color=?` may have a value attached, `-#` is a number (`-20`).
 */
export type OptionList = string;

type Takes = "nothing" | "value" | "path" | "maybe";

/** What was found among the words of a command. */
interface ReadOptions {
  /** The index of the first word that is an option but not one of the list; undefined when all were understood. */
  readonly unknown: number | undefined;
  /** Indexes of the words that are no options. */
  readonly operands: readonly number[];
  /** The options, without their values. */
  readonly names: readonly string[];
  /** Values of options, in order. */
  readonly values: readonly string[];
  /** Values of options that are paths of files to read. */
  readonly paths: readonly string[];
  /** The index of the first word after the options; only meaningful with `stopAtOperand`. */
  readonly next: number;
}

const compiled = new Map<OptionList, Map<string, Takes>>();

function compile(list: OptionList): Map<string, Takes> {
  let options = compiled.get(list);
  if (options === undefined) {
    options = new Map();
    for (const entry of list.split(" ")) {
      if (entry === "") continue;
      const [name = "", suffix] = entry.split("=");
      options.set(
        name,
        suffix === undefined ? "nothing" : suffix === "@" ? "path" : suffix === "?" ? "maybe" : "value",
      );
    }
    compiled.set(list, options);
  }
  return options;
}

/**
 * Reads the words from `start` on. Long options must be written out: which abbreviations a program takes depends on its version.
 * `stopAtOperand`: what follows the first operand is not this program's to read (`timeout 5 CMD -x`).
 */
export function readOptions(
  words: readonly string[],
  start: number,
  list: OptionList,
  { stopAtOperand = false }: { readonly stopAtOperand?: boolean } = {},
): ReadOptions {
  const options = compile(list);
  const found = { operands: [] as number[], names: [] as string[], values: [] as string[], paths: [] as string[] };
  let unknown: number | undefined;
  let at = start;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!word.startsWith("-") || word === "-") {
      if (stopAtOperand) break;
      found.operands.push(at);
    } else if (word === "--") {
      at += 1;
      if (!stopAtOperand) for (; at < words.length; at += 1) found.operands.push(at);
      break;
    } else {
      const used = word.startsWith("--")
        ? readLong(word, words[at + 1], options, found)
        : readCluster(word, words[at + 1], options, found);
      if (used === undefined) {
        unknown = at;
        break;
      }
      at += used;
    }
  }
  return { ...found, unknown, next: at };
}

interface Found {
  readonly names: string[];
  readonly values: string[];
  readonly paths: string[];
}

/** How many further words the option took; undefined when it is not understood. */
function readLong(
  word: string,
  next: string | undefined,
  options: Map<string, Takes>,
  found: Found,
): number | undefined {
  const equals = word.indexOf("=");
  const name = equals === -1 ? word : word.slice(0, equals);
  const takes = options.get(name);
  if (takes === undefined || (takes === "nothing" && equals !== -1)) return undefined;
  found.names.push(name);
  const needsValue = takes === "value" || takes === "path";
  if (!needsValue) return 0;
  const value = equals === -1 ? next : word.slice(equals + 1);
  if (value === undefined) return undefined;
  found.values.push(value);
  if (takes === "path") found.paths.push(value);
  return equals === -1 ? 1 : 0;
}

/** One word of single letters, `-la`; or an option with one dash and a long name, `-name`, when the list has it. */
function readCluster(
  word: string,
  next: string | undefined,
  options: Map<string, Takes>,
  found: Found,
): number | undefined {
  if (options.has("-#") && /^-[0-9]+$/.test(word)) return 0;
  for (let at = 1; at < word.length; at += 1) {
    const name = `-${word.charAt(at)}`;
    const takes = options.get(name);
    if (takes === undefined) return undefined;
    found.names.push(name);
    if (takes === "nothing") continue;
    if (takes === "maybe") return 0;
    const attached = word.slice(at + 1);
    const value = attached === "" ? next : attached;
    if (value === undefined) return undefined;
    found.values.push(value);
    if (takes === "path") found.paths.push(value);
    return attached === "" ? 1 : 0;
  }
  return 0;
}

/** The entry of a table; `constructor` and its like are none. */
export function entryOf<Entry>(table: Readonly<Record<string, Entry>>, key: string): Entry | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
