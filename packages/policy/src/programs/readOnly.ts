import { type Invocation, invocationOf } from "./invocation.ts";
import { isListed } from "./parseWords.ts";
import type { ParsedWords, ProgramRecord, Reading, Reads } from "./record.ts";
import { findProgram } from "./table.ts";

/** Variables that hold nothing secret. */
const plainVariables =
  /^(?:[a-z][a-z0-9_]*|HOME|PWD|OLDPWD|PATH|USER|LOGNAME|SHELL|LANG|TERM|TMPDIR|CI|[?#$!0-9@*_-])$/;

/** A path that leads up or starts at the root, or a pattern that may. */
const mayLeave = /^\/|(?:^|\/)(?:\.\.(?:\/|$)|\.[^/]*[*?[])/;

/** A command as far as it matters here. */
interface CommandWords {
  readonly words: readonly string[];
  /** Indexes of words in which the shell replaces a file pattern. */
  readonly patterns?: readonly number[] | undefined;
  /** Names of the variables that its words expand. */
  readonly variables?: readonly string[] | undefined;
  /** True if it gets further words that the line does not show. */
  readonly moreWords?: boolean | undefined;
  /** True if the commands that it starts are judged by themselves. */
  readonly opened?: boolean | undefined;
}

/** Returns what a command that only prints reads; else a sentence that says why it may do more. Its assignments are not judged here. */
export function readOnly({ words, patterns = [], variables = [], opened, moreWords }: CommandWords): Reads | string {
  const [program] = words;
  const secret = variables.find((name) => !plainVariables.test(name));
  if (secret !== undefined) return `It reads the variable ${secret}.`;
  if (program === undefined) return { paths: [] };
  const record = findProgram(program);
  if (opened === true && record?.starts?.transparent) return { paths: [] };
  if (record === undefined) return `${program} is not in the table of read-only commands.`;
  if (
    moreWords === true &&
    !(record.reads !== undefined && words.length >= (record.dataFrom ?? Number.POSITIVE_INFINITY))
  )
    return "It gets further words that the line does not show.";
  if (words.length === 2 && record.versionOptions?.split(" ").includes(words[1] ?? "")) return { paths: [] };
  const expanded = patterns.map((at) => words[at] ?? "");
  const reads = readWords(invocationOf(words), expanded);
  return typeof reads === "string" || patterns.length === 0 ? reads : withPatterns(words, patterns, record, reads);
}

function readWords(invocation: Invocation, patterns: readonly string[]): Reads | string {
  const { words, program, record, unlisted, operands, changing } = invocation;
  const { reads } = record;
  const name = [words[0], ...invocation.name.split(" ").slice(1)].join(" ");
  if (unlisted !== undefined || reads === undefined || program === undefined) {
    const named = unlisted === undefined ? name : `${name} ${words[unlisted] ?? ""}`.trim();
    return `${named} is not in the table of read-only commands.`;
  }
  const asked = words.find((word) => program.asked?.test(word));
  if (asked !== undefined) return `${asked} makes ${name} run a program, or show any file.`;
  const unknown = [...invocation.unknown, ...changing].sort((one, other) => one - other);
  if (reads.interpret !== undefined) return reads.interpret(words, { ...invocation, unknown });
  const [first] = unknown;
  if (first !== undefined) return `${words[first]} is not among the options of ${name} that are known to only read.`;
  const outside = program.repository && operands.find((word) => mayLeave.test(word));
  return outside
    ? `${outside} may lie outside the repository.`
    : (whyNot(reads, invocation, name) ?? readsOf(reads, invocation, program, patterns));
}

function whyNot(
  { operands: kind, most, operand, operandsNeed }: Reading,
  { operands, names }: ParsedWords,
  name: string,
): string | undefined {
  if (operands.length === 0) return undefined;
  if (kind === undefined) return `${name} is only read-only without further words.`;
  if (most !== undefined && operands.length > most) return `${name} may write to one of its words.`;
  if (operandsNeed !== undefined && !isListed(names, operandsNeed))
    return `${name} would make or change what its words name.`;
  return operand === undefined || operands.every((word) => operand.test(word))
    ? undefined
    : `${name} may do more with such a word.`;
}

function readsOf(
  { operands: kind, data = 0, insteadOfData = "", contents }: Reading,
  { operands, names, paths }: ParsedWords,
  { starts }: ProgramRecord,
  patterns: readonly string[],
): Reads {
  const first = isListed(names, insteadOfData) ? 0 : data;
  // A pattern may become several words, and then those after the first are files.
  const files = kind === "paths" ? operands.filter((word, at) => at >= first || patterns.includes(word)) : [];
  const isSearch = contents === true || (contents !== undefined && isListed(names, contents));
  // Without a start find takes the folder, as a search does that only names files of patterns.
  const takesFolder = starts?.actions !== undefined || (isSearch && kind === "paths" && paths.length > 0);
  const all = takesFolder && files.length === 0 ? [".", ...paths] : [...paths, ...files];
  return { paths: all.filter((path) => path !== "-"), contents: isSearch };
}

/** Adds what file patterns read. Each may become several words: it must be one of many paths, or data, whose folder is then read. */
function withPatterns(
  words: readonly string[],
  patterns: readonly number[],
  program: ProgramRecord,
  reads: Reads,
): Reads | string {
  const name = words[0] ?? "";
  const { most, operands, options } = program.reads ?? {};
  if (most !== undefined) return `${name} takes so many words, and a file pattern may become more.`;
  const found = patterns.map((at) => words[at] ?? "");
  const added = found.filter((word) => !reads.paths.includes(word) && !/^--[A-Za-z-]+=/.test(word));
  const isOfRepository =
    program.repository && patterns.every((at) => !words[at - 1]?.startsWith("-") || words[at - 1] === "--");
  if (added.length > 0 && !(operands === "data" && options === undefined) && !isOfRepository)
    return `A file pattern of ${name} stands where none is expected.`;
  return { ...reads, paths: [...reads.paths, ...added] };
}
