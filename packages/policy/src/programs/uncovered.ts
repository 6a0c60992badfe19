import { parseWords } from "./parseWords.ts";
import type { Covering, OptionList, ProgramRecord, Running, Style } from "./record.ts";
import { findProgram, locate, plainName } from "./table.ts";

/** A part of a command that the wildcard of a rule must not cover: it may run a program or a file, or write one. */
export interface Uncovered {
  readonly why: string;
  /** The last word that this is about, which a rule must spell out; the number of words if even all of them do not tell. */
  readonly at: number;
}

/** Finds what of the words of a command only a rule that spells it out allows; undefined if nothing, and for programs without a record. */
export function uncovered(words: readonly string[], start = 0): Uncovered | undefined {
  const called = plainName(words[start] ?? "");
  const program = findProgram(called);
  if (program === undefined) return undefined;
  const [last, only = ""] = [words.length - 1, words[start + 1]];
  if (start + 2 === words.length && program.versionOptions?.split(" ").includes(only)) return undefined;
  const { record, name, from, unlisted, style, unnamed } = locate(program, words, start + 1, called);
  if (unlisted !== undefined) return unlisted > last ? undefined : byUnlisted(words, unlisted, name, program);
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
  const options = optionsOf(record, covers);
  const asked = words.findLastIndex((word, at) => at >= from && program.asked?.test(word));
  const found = furthest(words, from, unnamed ? { ...covers, first: /^$/ } : covers, options, style);
  if (found === undefined || asked > found.at)
    return asked < 0 ? undefined : { why: mayRun(words[asked], name), at: asked };
  return { why: mayRun(words[found.word], name), at: found.at };
}

const joined = new WeakMap<ProgramRecord, OptionList>();

/** Joins the options that only read and those that are covered; once, as it is long. */
function optionsOf(record: ProgramRecord, covers: Covering): OptionList {
  const options = joined.get(record) ?? `${record.reads?.options ?? ""} ${covers.options ?? ""}`;
  joined.set(record, options);
  return options;
}

function mayRun(word = "", name: string): string {
  return `${clipped(word)} of ${name} may run a program or a file, or write one.`;
}

/** Handles a subcommand that is not listed: a rule that spells it out covers further words, but no option. */
function byUnlisted(words: readonly string[], at: number, name: string, { style }: ProgramRecord): Uncovered {
  const why = mayRun(words[at], name);
  // An option before the subcommand may take the next word, so that the subcommand is not known.
  if (words[at]?.startsWith("-")) return { why, at: words.length - 1 };
  const found = furthest(words, at + 1, {}, "--", style);
  return found === undefined ? { why, at } : { why: mayRun(words[found.word], `${name} ${words[at]}`), at: found.at };
}

const noFileOfOptions = /^(?!@)/;

/** Finds the last word that is not covered, and where what belongs to it ends. */
function furthest(
  words: readonly string[],
  start: number,
  { word, first, bundle }: Covering,
  options: OptionList,
  style: Style | undefined,
): { readonly word: number; readonly at: number } | undefined {
  const last = words.length - 1;
  let from = start;
  if (bundle !== undefined && !(words[start] ?? "-").startsWith("-")) {
    if (!bundle.test(words[start] ?? "")) return { word: start, at: last };
    from += 1;
  }
  const { unknown, operands, values } = parseWords(words, from, options, { style, wary: true });
  const refused = [
    ...operands.filter((text) => !(word ?? noFileOfOptions).test(text)),
    ...(word === undefined ? [] : values.filter((text) => !word.test(text))),
  ];
  const [operand] = operands;
  if (first !== undefined && operand !== undefined && !first.test(operand)) refused.push(operand);
  const found = [
    // The next word may be the value of an option that is not known.
    ...unknown.map((at) => ({ word: at, at: words[at]?.includes("=") ? at : Math.min(at + 1, last) })),
    ...refused.map((text) => words.findLastIndex((one) => one.endsWith(text))).map((at) => ({ word: at, at })),
  ];
  return found.sort((one, other) => one.at - other.at).at(-1);
}

function byRunning(
  name: string,
  words: readonly string[],
  start: number,
  { plain = "", code = "", launches = [] }: Running,
): Uncovered | undefined {
  const [plainOptions, codeOptions] = [plain.split(" "), code.split(" ")];
  let at = start;
  while (at < words.length && plainOptions.includes(words[at] ?? "")) at += 1;
  const word = words[at];
  if (word === undefined) return { why: `${name} runs its input.`, at: words.length };
  if (words.length === at + 1 && /^--(?:version|help)$/.test(word)) return undefined;
  const isCode = codeOptions.includes(word) && at + 1 < words.length;
  const named = isCode ? at + 1 : at;
  const why = `${name} runs ${clipped(words[named] ?? "")}.`;
  // Other options may load code, and whether they take the next word is not known here.
  if (word.startsWith("-") && !isCode) return { why, at: words.length - 1 };
  if (!launches.includes(isCode ? word : "")) return { why, at: named };
  return uncovered(words, named) ?? { why, at: named };
}

function clipped(word: string): string {
  return word.length > 40 ? `${word.slice(0, 40)}…` : word;
}
