import { findProgram, plainName } from "../programs/table.ts";
import { type CommandPattern, programName } from "../rules/patterns.ts";
import { changeDirectory } from "../shell/builtins.ts";
import { type LineCommand, rawWords } from "./commandLine.ts";
import { meansCommand } from "./meansCommand.ts";

interface Inner {
  readonly words: readonly string[];
  /** The places of each name that may be that of a program. */
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** The words from a place on, which are read once for all rules. */
  readonly slices: Map<number, readonly string[]>;
}

const known = new WeakMap<readonly string[], Inner>();
const mostPlaces = 8;

/**
 * Returns whether the words of a command are, from one of them on, a command that a rule of deny or ask is about. A program that starts
 * others may run that: also as a script, so that the words in its words count.
 */
export function holdsCommand(pattern: CommandPattern, { words }: LineCommand): boolean {
  const inner = known.get(words) ?? innerWords(words);
  known.set(words, inner);
  const [program = ""] = pattern.words;
  const places = inner.places.get(plainName(programName(program))) ?? [];
  // A rule with * fits from the first of them on, one without from the last: so many are enough to tell.
  return [...places.slice(0, mostPlaces), ...places.slice(-1)].some((at) => {
    const slice = inner.slices.get(at) ?? inner.words.slice(at);
    inner.slices.set(at, slice);
    return meansCommand(pattern, slice);
  });
}

function innerWords(words: readonly string[]): Inner {
  const all = words.slice(1).flatMap((word) => rawWords(word.replace(/^(--?[\w-]+)=/, "$1 ")).filter(Boolean));
  const places = new Map<string, number[]>();
  for (const [at, word] of all.entries()) {
    const name = plainName(programName(word));
    const found = places.get(name);
    if (found === undefined) places.set(name, [at]);
    else found.push(at);
  }
  return { words: all, places, slices: new Map() };
}

/** Returns whether nobody here knows if a command starts another: its program has no record. */
export function mayStartAny({ words: [program = ""] }: LineCommand): boolean {
  return program !== "" && !changeDirectory.has(program) && findProgram(plainName(program)) === undefined;
}
