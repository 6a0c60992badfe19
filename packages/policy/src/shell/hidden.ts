import { isDeveloperTool, lastHiddenOption } from "./developerTools.ts";
import {
  eitherDash,
  hiddenByNature,
  hiddenGit,
  hiddenGitCommon,
  hiddenGitGlobal,
  hiddenOptions,
  hiddenWords,
  interpreters,
  runsItsWords,
  singleDash,
} from "./hiddenTable.ts";
import { entryOf } from "./options.ts";

/** Why a command runs or writes what its words do not plainly say. */
interface Hidden {
  readonly why: string;
  /** The last word that this is about; the number of words when even all of them do not tell. */
  readonly at: number;
}

const runs = "runs a program or a file, or writes one";

/** What a wildcard of a rule must not cover in these words; undefined when nothing is known. */
export function hiddenIn(words: readonly string[]): Hidden | undefined {
  const program = words[0] ?? "";
  const name = program
    .slice(program.lastIndexOf("/") + 1)
    .replace(/^(python|pip|node|ruby|perl|php|lua)[0-9.]+$/, "$1");
  if (hiddenByNature.has(name)) return { why: `${name} runs what its words or its input say.`, at: words.length };
  if (runsItsWords.has(name)) return { why: `${name} runs what its words say.`, at: words.length - 1 };
  if (name === "git") return hiddenInGit(words);
  const interpreter = entryOf(interpreters, name);
  if (interpreter !== undefined) return hiddenInInterpreter(name, words, interpreter);
  if (isDeveloperTool(name)) return hiddenAt(name, words, lastHiddenOption(name, words, 1));
  const list = entryOf(hiddenOptions, name);
  if (list === undefined) return undefined;
  return (name === "tar" ? hiddenInBundle(words, list) : undefined) ?? lastMatch(name, words, 1, list);
}

/** The first word of tar is letters of options even without a dash, and the words after it are their values in turn. */
function hiddenInBundle(words: readonly string[], list: string): Hidden | undefined {
  const [, first = ""] = words;
  if (first.startsWith("-")) return undefined;
  const found = lastMatch("tar", ["tar", `-${first}`], 1, list);
  return found === undefined ? undefined : { why: `${clipped(first)} of tar ${runs}.`, at: words.length - 1 };
}

function hiddenInGit(words: readonly string[]): Hidden | undefined {
  let at = 1;
  while (at < words.length && words[at]?.startsWith("-")) at += 1;
  const global = lastMatch("git", words.slice(0, at), 1, hiddenGitGlobal);
  // An option before the subcommand may take the next word, so that the subcommand is not known.
  if (global !== undefined) return { why: global.why, at: words.length - 1 };
  const subcommand = words[at] ?? "";
  const own = entryOf(hiddenGit, subcommand) ?? "";
  return lastMatch(`git ${subcommand}`, words, at + 1, `${hiddenGitCommon} ${own}`) ?? transport(words);
}

/** `ext::sh -c …` and its like: git runs a helper program for such an address. */
function transport(words: readonly string[]): Hidden | undefined {
  const at = words.findLastIndex((word) => /^[A-Za-z0-9+.-]+::/.test(word));
  return at === -1 ? undefined : { why: "git runs a helper program for an address with ::.", at };
}

function lastMatch(name: string, words: readonly string[], from: number, list: string): Hidden | undefined {
  const entries = list.trim().split(" ");
  const joined = !singleDash.has(name);
  const other = entryOf(hiddenWords, name);
  for (let at = words.length - 1; at >= from; at -= 1) {
    const word = words[at] ?? "";
    const option = plainOption(name, word);
    if (other?.test(word) || entries.some((entry) => matches(option, entry, joined))) return hiddenAt(name, words, at);
  }
  return undefined;
}

/** An option as the lists write it. */
function plainOption(name: string, word: string): string {
  const option = eitherDash.has(name) ? word.replace(/^--/, "-") : word;
  if (name === "go") return option.replace(/^-test\./, "-");
  // The rest of such a word is a message or a file.
  if (/^git (?:commit|merge)$/.test(name)) return option.replace(/^(-[A-Za-z]*?[mF]).*/s, "$1");
  return option;
}

function hiddenAt(name: string, words: readonly string[], at: number | undefined): Hidden | undefined {
  if (at === undefined) return undefined;
  const word = words[at] ?? "";
  // The next word may be the value of the option, or the program.
  const end = word.includes("=") ? at : Math.min(at + 1, words.length - 1);
  return { why: `${clipped(word)} of ${name} ${runs}.`, at: end };
}

function clipped(word: string): string {
  return word.length > 40 ? `${word.slice(0, 40)}…` : word;
}

/** Whether a word is that option: with a value attached, abbreviated, or among single letters in one word. */
function matches(word: string, entry: string, joined: boolean): boolean {
  if (entry.startsWith("--")) {
    const equals = word.indexOf("=");
    const option = equals === -1 ? word : word.slice(0, equals);
    return option.length > 2 && entry.startsWith(option);
  }
  if (entry.length === 2 && entry.startsWith("-")) {
    if (!joined) return word.startsWith(entry);
    return word.startsWith("-") && !word.startsWith("--") && word.includes(entry.charAt(1));
  }
  // A word of its own (`exec`), the start of one (`SHELL=`, `@`, `+`), or an option with one dash and a long name.
  if (/[=@+]$/.test(entry)) return word.startsWith(entry);
  return word === entry || (entry.startsWith("-") && word.startsWith(`${entry}=`));
}

function hiddenInInterpreter(
  name: string,
  words: readonly string[],
  { plain, code }: { readonly plain: string; readonly code: string },
): Hidden | undefined {
  if (words.length === 2 && /^(?:--version|--help|-v|-V|-version)$/.test(words[1] ?? "")) return undefined;
  const plainOptions = plain.split(" ");
  const codeOptions = code.split(" ");
  let at = 1;
  while (at < words.length && plainOptions.includes(words[at] ?? "")) at += 1;
  const word = words[at];
  if (word === undefined) return { why: `${name} runs its input.`, at: words.length };
  const why = `${name} runs ${clipped(word)}.`;
  if (!word.startsWith("-")) return { why, at: codeOptions.includes(word) ? Math.min(at + 1, words.length - 1) : at };
  if (codeOptions.includes(word) && at + 1 < words.length) return { why, at: at + 1 };
  // Other options may load code, and whether they take the next word is not known here.
  return { why, at: words.length - 1 };
}
