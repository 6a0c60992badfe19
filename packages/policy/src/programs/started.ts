import { invocationOf, onceForWords } from "./invocation.ts";
import type { Starting } from "./record.ts";
import { findProgram } from "./table.ts";

/** A command that another one starts. */
export interface Started {
  /** The index of its first word; undefined if it is a script. */
  readonly start?: number | undefined;
  /** The index after its last word; the end of the words when undefined. */
  readonly end?: number | undefined;
  /** A script that a shell runs, and whether that shell is bash; undefined when it is the shell that reads the line. */
  readonly script?: { readonly text: string; readonly isBash: boolean | undefined; readonly at: number };
  /** Variables that are set for it. */
  readonly assignments?: readonly { readonly name: string; readonly value: string }[];
  /** Set if it gets further words that the line does not show; says whether these may be options. */
  readonly moreWords?: "paths" | "options" | undefined;
}

/** Returns whether a command starts another one, understood or not. */
export function startsAnother(words: readonly string[]): boolean {
  const [program = "", first] = words;
  const starts = findProgram(program)?.starts;
  if (starts === undefined || first === undefined) return false;
  if (starts.actions !== undefined) return words.some((word) => starts.actions?.split(" ").includes(word));
  return !(program === "command" && /^-[vV]$/.test(first));
}

/** Lists the commands that the words start; empty if they start none, or none that is exactly understood. */
export const startedBy: (words: readonly string[]) => readonly Started[] = onceForWords((words) => {
  const starts = findProgram(words[0] ?? "")?.starts;
  if (starts === undefined) return [];
  if (starts.actions !== undefined) return startedByActions(words, starts.actions.split(" "));
  if (starts.script !== undefined) return startedAsScript(words, starts.script);
  return startedByWords(words, starts);
});

const assignment = /^[A-Za-z_][A-Za-z0-9_]*=/;

function startedByWords(words: readonly string[], { operands = 0, assigns, moreWords }: Starting): readonly Started[] {
  const { unknown, names, values, inner } = invocationOf(words);
  if (inner === undefined) return [];
  let start = inner + operands;
  const assignments = assigns ? unsetBy(names, values) : [];
  for (; assigns && assignment.test(words[start] ?? ""); start += 1) {
    const [name = "", ...value] = (words[start] ?? "").split("=");
    assignments.push({ name, value: value.join("=") });
  }
  const program = words[start];
  // To env, a name that no shell accepts is still an assignment.
  if (unknown.length > 0 || program === undefined || (assigns && program.includes("="))) return [];
  if (!moreWords) return [{ start, ...(assignments.length > 0 || assigns ? { assignments } : {}) }];
  // `xargs -I WORD` may replace the program itself.
  const replaced = names.includes("-I") && values.some((value) => value === "" || program.includes(value));
  return replaced ? [] : [{ start, moreWords: "options" }];
}

/** Lists the variables that `env` takes away, as empty ones. Without PATH, bash looks for programs in the folder it runs in, too. */
function unsetBy(names: readonly string[], values: readonly string[]): { name: string; value: string }[] {
  const all = names.some((name) => name === "-i" || name === "--ignore-environment") ? ["PATH"] : [];
  return [...all, ...values].map((name) => ({ name, value: "" }));
}

function startedByActions(words: readonly string[], actions: readonly string[]): readonly Started[] {
  const started: Started[] = [];
  // Paths that find hands on start with a start folder, so they are no options unless that is one.
  const first = words.slice(1).find((word) => !/^-[HLP]$/.test(word)) ?? "";
  const plainPaths = !first.startsWith("-") || actions.includes(first) || /^-[a-z]+$/.test(first);
  for (let at = 1; at < words.length; at += 1) {
    if (!actions.includes(words[at] ?? "")) continue;
    const start = at + 1;
    let end = start;
    while (end < words.length && words[end] !== ";" && !(words[end] === "+" && words[end - 1] === "{}")) end += 1;
    if (end === start || end === words.length) return [];
    started.push({ start, end, moreWords: plainPaths ? "paths" : "options" });
    at = end;
  }
  return started;
}

function startedAsScript(words: readonly string[], kind: NonNullable<Starting["script"]>): readonly Started[] {
  const [, first] = words;
  if (first === undefined) return [];
  if (kind === "all")
    return first.startsWith("-")
      ? []
      : [{ script: { text: words.slice(1).join(" "), isBash: undefined, at: words.length - 1 } }];
  if (kind === "first")
    return words.length < 3 || first.startsWith("-") ? [] : [{ script: { text: first, isBash: undefined, at: 1 } }];
  const at = words.findIndex((word, index) => index > 0 && !/^-[eux]+$/.test(word));
  const text = words[at + 1];
  if (at < 0 || !/^-[eux]*c$/.test(words[at] ?? "") || text === undefined || text.startsWith("-")) return [];
  return [{ script: { text, isBash: kind === "bash -c", at: at + 1 } }];
}
