import { archives } from "./archives.ts";
import { builtins } from "./builtins.ts";
import { compilers } from "./compilers.ts";
import { coreutils } from "./coreutils.ts";
import { git } from "./git.ts";
import { interpreters } from "./interpreters.ts";
import { javascript } from "./javascript.ts";
import { languages } from "./languages.ts";
import { network } from "./network.ts";
import { packageManagers } from "./packageManagers.ts";
import { parseWords } from "./parseWords.ts";
import type { ProgramRecord, ProgramRecords, Style } from "./record.ts";
import { searching } from "./searching.ts";
import { systemTools } from "./systemTools.ts";
import { wrappers } from "./wrappers.ts";

/** All records, as they are documented. */
export const programs: ProgramRecords = {
  ...builtins,
  ...coreutils,
  git,
  ...searching,
  ...systemTools,
  ...wrappers,
  ...interpreters,
  ...packageManagers,
  ...javascript,
  ...languages,
  ...compilers,
  ...archives,
  ...network,
};

const compiled = new WeakMap<ProgramRecords, ReadonlyMap<string, ProgramRecord>>();

/** Finds the record of a name; `constructor` and its like have none. */
export function entryOf(records: ProgramRecords, name: string): ProgramRecord | undefined {
  let entries = compiled.get(records);
  if (entries === undefined) {
    entries = new Map(
      Object.entries(records).flatMap(([names, record]) => names.split(" ").map((one) => [one, record] as const)),
    );
    compiled.set(records, entries);
  }
  return entries.get(name);
}

/** Finds the record of a program by exactly this name. */
export function findProgram(name: string): ProgramRecord | undefined {
  return entryOf(programs, name);
}

/** Returns the name of a program without its folder, and that of a language without the version. */
export function plainName(program: string): string {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return name.replace(/^(python|pip|node|ruby|perl|php|lua|gcc|clang)-?[0-9.]+$/, "$1");
}

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
