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
import type { ProgramRecord, ProgramRecords } from "./record.ts";
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
