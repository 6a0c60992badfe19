import type { ParsedScript } from "unbash";
import { findProgram } from "../programs/table.ts";

/** Commands whose effect on the rest of the line is not followed: they rename commands or rewrite how words are read. */
const unfollowed = new Set(
  `. source alias unalias enable hash shopt bind declare typeset local let mapfile readarray complete compgen compopt fc history
  coproc newgrp suspend logout caller`.split(/\s+/),
);

const fileTests = /^-[bcdefghknprstuwxzGLNOS]$/;
const comparisons = new Set(["=", "!=", "==", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"]);

const name = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Tells of a place in a command whether a word that holds an expansion can only be data there. `words` holds such words as written,
 * and is read once.
 */
export function dataIndexes(words: readonly string[]): (at: number) => boolean {
  const [program = "", first] = words;
  if (program === "[" || program === "test") return testOperands(words);
  if (program === "git") return messages(words);
  const from = findProgram(program)?.dataFrom;
  if (from === undefined || (program === "printf" && first?.startsWith("-"))) return () => false;
  return (at) => at >= from;
}

/** Finds the operands of `[ -n "$x" ]` and `[ "$x" = y ]`, with `!` before: the shell knows operators by their place if there are few words. */
function testOperands(words: readonly string[]): (at: number) => boolean {
  const start = words[1] === "!" ? 2 : 1;
  const operands = words.slice(start, words[0] === "[" ? -1 : undefined);
  if (operands.length === 1) return () => true;
  if (operands.length === 2) return (at) => at === start + 1 && fileTests.test(operands[0] ?? "");
  return (at) => operands.length === 3 && at !== start + 1 && comparisons.has(operands[1] ?? "");
}

const messageFlags = new Set(
  "-a -q -s -v --all --quiet --signoff --verbose --amend --allow-empty --no-edit --annotate".split(" "),
);

/** Finds the message of `git commit -m "$(cat …)"`, if nothing before it can take `-m` for its value. */
function messages(words: readonly string[]): (at: number) => boolean {
  const found = new Set<number>();
  const [, subcommand] = words;
  if (subcommand !== "commit" && subcommand !== "tag") return () => false;
  for (let index = 2; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (/^-[aqs]*m$/.test(word) || word === "--message") {
      index += 1;
      found.add(index);
    } else if (!messageFlags.has(word)) break;
  }
  return (at) => found.has(at);
}

/** Builtins that `stateProblem` may find at fault. */
export const stateful: ReadonlySet<string> = new Set([
  ...unfollowed,
  "set",
  "printf",
  "test",
  "[",
  "unset",
  "wait",
  "getopts",
]);

/** Says why a builtin changes how the rest of the line is read. */
export function stateProblem(words: readonly string[]): string | undefined {
  const [program = "", first = ""] = words;
  if (unfollowed.has(program)) return `${program} changes what the commands after it mean.`;
  if (program === "set" && !isPlainSet(words)) return "set changes how the commands after it are read.";
  if (program === "printf" && (counts(words) || (first.startsWith("-") && first !== "--")))
    return "printf assigns a variable.";
  if ((program === "test" || program === "[") && words.some((word) => word === "-v" || word === "-R")) {
    return `${program} ${words.includes("-v") ? "-v" : "-R"} computes with its words.`;
  }
  if (program === "unset" && words.slice(1).some((word) => !name.test(word)))
    return "unset has a word that is not a name.";
  if (program === "wait" && words.slice(1).some((word) => !/^[0-9]+$/.test(word))) return "wait assigns a variable.";
  if (program === "getopts") return "getopts assigns variables.";
  return undefined;
}

/** Returns whether a format of `printf` has `%n`, by which bash assigns how much was printed to the variable that the next word names. */
function counts([, first = "", second = ""]: readonly string[]): boolean {
  const format = first === "--" ? second : first;
  return /%[^A-Za-z%]*[hjlqtzL]*n/.test(format.replaceAll("%%", ""));
}

/** Returns whether a `set` changes neither words nor commands: `set -e`, `set -euo pipefail`. */
function isPlainSet(words: readonly string[]): boolean {
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!/^[-+][euxvo]+$/.test(word)) return false;
    if (!word.includes("o")) continue;
    at += 1;
    if (
      word.indexOf("o") !== word.length - 1 ||
      !["pipefail", "errexit", "nounset", "xtrace"].includes(words[at] ?? "")
    )
      return false;
  }
  return words.length > 1;
}

export const changeDirectory: ReadonlySet<string> = new Set(["cd", "pushd", "popd", "chdir"]);

/** Returns whether a script is one list of `&&` behind a command that opens and starts nothing else. */
export function isBehindFirst({ commands: [only, ...others] }: ParsedScript): boolean {
  const list = only?.command;
  if (list?.type !== "AndOr" || only?.background || others.length > 0) return false;
  const [first] = list.commands;
  const isPlain = first?.type === "Command" && first.prefix.length === 0 && first.redirects.length === 0;
  return isPlain && list.operators.every((operator) => operator === "&&");
}

export const assigning: ReadonlySet<string> = new Set(["read", "export", "readonly", "unset"]);

/** Lists the names that a builtin assigns; undefined if a word of it is not understood, so that the line is asked. */
export function assignedNames(words: readonly string[]): readonly string[] | undefined {
  const [program = ""] = words;
  if (!assigning.has(program)) return [];
  const rest = program === "read" && words[1] === "-r" ? words.slice(2) : words.slice(1);
  const names = rest.map((word) => word.split("=", 1)[0] ?? "");
  const plain = names.every((each) => name.test(each)) && (program !== "read" || rest.every((word) => name.test(word)));
  return plain && names.length > 0 ? names : undefined;
}
