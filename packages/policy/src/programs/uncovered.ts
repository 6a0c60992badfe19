import { type Invocation, invocationOf, onceForWords } from "./invocation.ts";
import { parseWords } from "./parseWords.ts";
import type { Covering, Running } from "./record.ts";

/** A part of a command that the wildcard of a rule must not cover: it may run a program or a file, or write one. */
export interface Uncovered {
  readonly why: string;
  /** The last word that this is about, which a rule must spell out; the number of words if even all of them do not tell. */
  readonly at: number;
}

/** Finds what of the words of a command only a rule that spells it out allows; undefined if nothing, and for programs without a record. */
export const uncovered: (words: readonly string[]) => Uncovered | undefined = onceForWords((words) => {
  const invocation = invocationOf(words);
  const { program, record, name, from, unlisted, unnamed } = invocation;
  if (program === undefined) return undefined;
  const [last, only = ""] = [words.length - 1, words[1]];
  if (words.length === 2 && program.versionOptions?.split(" ").includes(only)) return undefined;
  if (unlisted !== undefined) return unlisted > last ? undefined : byUnlisted(invocation, unlisted);
  const { covers = {}, reads, runs, starts } = record;
  if (runs !== undefined) return byRunning(name, words, from, runs);
  // A command that is understood is judged by itself.
  if (starts !== undefined && starts.actions === undefined)
    return from > last || reads?.options?.split(" ").includes(only)
      ? undefined
      : { why: `${name} runs another program.`, at: last };
  if (covers === "anything") return undefined;
  if (covers === "nothing") return { why: `${name} runs what its words say.`, at: last };
  if (covers === "input") return { why: `${name} runs what its words or its input say.`, at: words.length };
  const asked = words.findLastIndex((word, at) => at >= from && program.asked?.test(word));
  const found = furthest(invocation, unnamed ? { ...covers, first: /^$/ } : covers);
  if (found === undefined || asked > found.at)
    return asked < 0 ? undefined : { why: mayRun(words[asked], name), at: asked };
  return { why: mayRun(words[found.word], name), at: found.at };
});

function mayRun(word = "", name: string): string {
  return `${clipped(word)} of ${name} may run a program or a file, or write one.`;
}

/** Handles a subcommand that is not listed: a rule that spells it out covers further words, but no option. */
function byUnlisted(invocation: Invocation, at: number): Uncovered | undefined {
  const { words, program, name } = invocation;
  const why = mayRun(words[at], name);
  // An option before the subcommand may take the next word, so that the subcommand is not known.
  if (words[at]?.startsWith("-")) return { why, at: words.length - 1 };
  const found = furthest({ ...invocation, ...parseWords(words, at + 1, "--", { style: program?.style }) }, {});
  return found === undefined ? { why, at } : { why: mayRun(words[found.word], `${name} ${words[at]}`), at: found.at };
}

const noFileOfOptions = /^(?!@)/;

/** Finds the last word that is not covered, and where what belongs to it ends. */
function furthest(
  { words, from, unknown, doubtful, operands, values }: Invocation,
  { word, first, bundle }: Covering,
): { readonly word: number; readonly at: number } | undefined {
  const last = words.length - 1;
  if (bundle !== undefined && /^[^-]/.test(words[from] ?? "") && !bundle.test(words[from] ?? ""))
    return { word: from, at: last };
  const refused = [
    ...operands.filter((text) => !(word ?? noFileOfOptions).test(text)),
    ...(word === undefined ? [] : values.filter((text) => !word.test(text))),
  ];
  const [operand] = operands;
  if (first !== undefined && operand !== undefined && !first.test(operand)) refused.push(operand);
  const found = [
    // The next word may be the value of an option that is not known.
    ...[...unknown, ...doubtful].map((at) => ({
      word: at,
      at: words[at]?.includes("=") ? at : Math.min(at + 1, last),
    })),
    ...refused.map((text) => words.findLastIndex((one) => one.endsWith(text))).map((at) => ({ word: at, at })),
  ];
  return found.sort((one, other) => one.at - other.at).at(-1);
}

/** Finds the index of the word that names what an interpreter runs, and whether that is a program. */
export function runBy(
  words: readonly string[],
  start: number,
  { plain = "", code = "", launches = [] }: Running,
): { readonly named: number; readonly isCode: boolean; readonly launches: boolean } {
  const [plainOptions, codeOptions] = [plain.split(" "), code.split(" ")];
  let at = start;
  while (at < words.length && plainOptions.includes(words[at] ?? "")) at += 1;
  const word = words[at] ?? "";
  const isCode = codeOptions.includes(word) && at + 1 < words.length;
  return { named: isCode ? at + 1 : at, isCode, launches: launches.includes(isCode ? word : "") };
}

function byRunning(name: string, words: readonly string[], start: number, runs: Running): Uncovered | undefined {
  const { named, isCode, launches } = runBy(words, start, runs);
  const word = words[named];
  if (word === undefined) return { why: `${name} runs its input.`, at: words.length };
  if (words.length === named + 1 && !isCode && /^--(?:version|help)$/.test(word)) return undefined;
  const why = `${name} runs ${clipped(word)}.`;
  // Other options may load code, and whether they take the next word is not known here.
  if (word.startsWith("-") && !isCode) return { why, at: words.length - 1 };
  const inner = launches ? uncovered(words.slice(named)) : undefined;
  return inner ? { ...inner, at: named + inner.at } : { why, at: named };
}

function clipped(word: string): string {
  return word.length > 40 ? `${word.slice(0, 40)}…` : word;
}
