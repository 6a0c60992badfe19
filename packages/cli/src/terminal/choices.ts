import { showInvisible } from "@toolcrib/core/text";
import type { Asker } from "./ask.ts";

/** One of some rows that the user can pick. */
export interface Choice {
  readonly text: string;
  /** A heading: the choices below it are shown after those without one. */
  readonly group?: string | undefined;
}

/** Lets the user pick one: its number from 0; undefined where the user picks none. */
export type PickChoice = (choices: readonly Choice[]) => Promise<number | undefined>;

/** A choice in the place where it is shown. */
export interface ShownChoice {
  readonly index: number;
  readonly text: string;
  /** Set on the first of a group. */
  readonly heading: string | undefined;
}

/** Orders choices as they are shown, and numbers them as they came. */
export function shownChoices(choices: readonly Choice[], indices: Iterable<number> = choices.keys()): ShownChoice[] {
  const groups = [...new Set([undefined, ...choices.map(({ group }) => group)])];
  const found = [...indices];
  return groups.flatMap((group) =>
    found
      .filter((index) => choices[index]?.group === group)
      .map((index, at) => ({ index, text: choices[index]?.text ?? "", heading: at === 0 ? group : undefined })),
  );
}

const mostRows = 20;

/** Lists choices with their numbers from 1; of many the first, and `more` about the others. */
export function numberedRows(choices: readonly Choice[], more = "", most: number = mostRows): string {
  const rows = shownChoices(choices)
    .slice(0, most)
    .flatMap(({ index, text, heading }) => [
      ...(heading === undefined ? [] : [`${heading}:`]),
      `${String(index + 1).padStart(3)}  ${showInvisible(text)}`,
    ]);
  const left = choices.length - most;
  if (left > 0) rows.push(`  … and ${left} more${more}`);
  return rows.join("\n");
}

/** Picks by number, where rows cannot change. */
export function pickByNumber(asker: Asker, note: (text: string) => void): PickChoice {
  return async (choices) => {
    note(numberedRows(choices, "; their numbers count here, too"));
    const answer = await asker.ask("Number: ", undefined);
    return /^\d+$/.test(answer?.trim() ?? "") ? Number(answer) - 1 : undefined;
  };
}
