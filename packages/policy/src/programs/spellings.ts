import type { ProgramRecord } from "./record.ts";
import { entryOf, findProgram, plainName } from "./table.ts";

/** The names of a program's options and subcommands, and which of them mean the same. Allow rules never look here. */
export interface Spellings {
  /** Returns what a name means, in any spelling the same: usually one name; several where it stands for these together. */
  meanings(name: string): readonly string[];
  /** Returns whether the first word of a command may be cut short to this (`npm pub`). */
  isHead(word: string, meaning: string): boolean;
  /** Returns whether a first word may as well be left out before another (`docker container run`). */
  isOptional(word: string): boolean;
  isKnown(name: string): boolean;
  /** Returns whether an option may have a value in the same word (`-XPOST`). */
  isValued(name: string): boolean;
  /** True if letters may be joined. If not, a word with one dash may as well have two. */
  readonly joins: boolean;
  /** True if the letters of the first word need no dash (`tar xzf`). */
  readonly bundles: boolean;
}

const compiled = new WeakMap<ProgramRecord, Spellings>();

/** Finds the spellings of a command: those of its program, and of the subcommand that its words name. */
export function spellingsOf(words: readonly string[]): Spellings {
  const program = findProgram(plainName(words[0] ?? ""));
  if (program === undefined) return unknown;
  const path = [program];
  let names = collect(program);
  for (let at = 1; at < words.length && path.at(-1)?.commands !== undefined; at += 1) {
    const word = words[at] ?? "";
    const [verb = ""] = names.meanings.get(word) ?? [word];
    const listed = path.at(-1)?.commands ?? {};
    const found = word === "" ? undefined : (entryOf(listed, word) ?? entryOf(listed, verb));
    if (found !== undefined) {
      path.push(found);
      names = collect(found);
    } else if (names.valued.has(word)) at += 1;
  }
  const last = path.at(-1) ?? program;
  const spellings = compiled.get(last) ?? compile(path);
  compiled.set(last, spellings);
  return spellings;
}

interface Names {
  readonly meanings: Map<string, readonly string[]>;
  readonly valued: Set<string>;
}

const collected = new WeakMap<ProgramRecord, Names>();

/** Collects the names in one record. A letter right before a long option that begins with it is short for it. */
function collect(record: ProgramRecord): Names {
  const known = collected.get(record);
  if (known !== undefined) return known;
  const { reads, covers, before, starts, same } = record;
  const names: Names = { meanings: new Map(), valued: new Set() };
  const read = (entry: string): string => {
    const name = entry.replace(/=.*/, "");
    if (entry !== name) names.valued.add(name);
    return name;
  };
  for (const list of [reads?.options, typeof covers === "object" ? covers.options : "", before, starts?.options]) {
    const entries = (list ?? "").split(/\s+/).filter((entry) => /^-[^#]/.test(entry));
    for (const [at, entry] of entries.entries()) {
      const [name, last = ""] = [read(entry), entries[at - 1]];
      names.meanings.set(name, [name]);
      const isShort = /^-[a-z](?:=|$)/i.test(last) && last.includes("=") === entry.includes("=");
      if (isShort && name.toLowerCase().startsWith(`--${last.charAt(1).toLowerCase()}`))
        names.meanings.set(last.slice(0, 2), [name]);
    }
  }
  for (const group of same?.split(",") ?? []) {
    const entries = group.trim().split(/\s+/);
    const together = entries.find((entry) => entry.includes("&"));
    const alike = entries.filter((entry) => entry !== together).map(read);
    const meaning = together?.split("&").filter(Boolean) ?? alike.slice(-1);
    for (const name of alike) names.meanings.set(name, meaning);
  }
  collected.set(record, names);
  return names;
}

/** Joins the names of a program with those of its subcommands, which count where both have one. */
function compile(path: readonly ProgramRecord[]): Spellings {
  const meanings = new Map(path.flatMap((record) => [...collect(record).meanings]));
  const valued = new Set(path.flatMap((record) => [...collect(record).valued]));
  const style = path.findLast((record) => record.style !== undefined)?.style;
  const { covers, heads } = path[0] ?? {};
  const joins = style !== "words";
  const longer = collectLonger(meanings);
  // Of letters the case counts.
  const exact = (name: string): readonly string[] | undefined =>
    meanings.get(name) ?? (name.startsWith("--") ? meanings.get(name.toLowerCase()) : undefined);
  return {
    meanings(name) {
      const found = exact(name);
      if (found !== undefined) return found;
      const cut = joins && /^--[a-z]/i.test(name) ? longer.get(name) : undefined;
      return cut ?? [name.toLowerCase()];
    },
    isHead: (word, meaning) =>
      heads === true &&
      !meanings.has(word) &&
      (meaning.startsWith(word) || longer.get(word)?.includes(meaning) === true),
    isOptional: (name) => meanings.get(name)?.length === 0,
    isKnown: (name) => meanings.has(name),
    isValued: (name) => joins && valued.has(name),
    joins,
    bundles: typeof covers === "object" && covers.bundle !== undefined,
  };
}

/** Collects what the names that begin with a text mean, for each text: asked for each word of a command, which may have thousands. */
function collectLonger(meanings: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const longer = new Map<string, Set<string>>();
  for (const [name, meant] of meanings)
    for (let length = 1; length <= name.length; length += 1) {
      const cut = name.slice(0, length);
      const all = longer.get(cut) ?? new Set();
      for (const one of meant) all.add(one);
      longer.set(cut, all);
    }
  return new Map([...longer].map(([cut, all]) => [cut, [...all]]));
}

/** Of a program without a record each name is its own, in any case. */
const unknown: Spellings = {
  meanings: (name) => [name.toLowerCase()],
  isHead: () => false,
  isOptional: () => false,
  isKnown: () => false,
  isValued: () => false,
  joins: false,
  bundles: false,
};
