import { parseWords } from "./parseWords.ts";
import { findProgram, locate } from "./table.ts";
import type { Uncovered } from "./uncovered.ts";

/** A command as far as it matters here. */
interface CommandWords {
  readonly words: readonly string[];
  readonly uncovered?: Uncovered | undefined;
  readonly moreWords?: boolean | undefined;
}

/** Files that a command puts under other names: the words of its sources, and the word of their target, itself or in it. */
export interface Placed {
  readonly sources: readonly string[];
  readonly target: string;
  /** True if it makes links, or does not show in its words what it puts where. */
  readonly unseen: boolean;
}

/** Returns what a command puts under other names; undefined if nothing, or if its program is not known. */
export function placedBy({ words, uncovered, moreWords = false }: CommandWords): Placed | undefined {
  const called = words[0]?.slice(words[0].lastIndexOf("/") + 1) ?? "";
  const program = findProgram(called);
  if (program === undefined) return undefined;
  const { record, from, style } = locate(program, words, 1, called);
  const { places, covers } = record;
  if (places === undefined || (places === "uncovered" && uncovered === undefined)) return undefined;
  if (places !== "operands") return { sources: [], target: ".", unseen: true };
  const options = typeof covers === "object" ? covers.options : undefined;
  const { operands, paths } = parseWords(words, from, options ?? "", { style });
  // With one operand `ln` makes the link where it runs.
  const target = paths[0] ?? (operands.length > 1 ? operands.at(-1) : undefined) ?? ".";
  const sources = paths.length > 0 || operands.length < 2 ? operands : operands.slice(0, -1);
  return { sources, target, unseen: moreWords || called === "ln" || called === "link" };
}
