import { basename } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { isInside, isOnOtherShare } from "@toolcrib/kit/files";
import { oneLine } from "../describe.ts";
import { beyondOf, type FoundBeyond } from "../programs/beyond.ts";
import { startedBy, startsAnother } from "../programs/started.ts";
import { findProgram, plainName } from "../programs/table.ts";
import { bareRule, type Groups } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import type { Settings } from "../settings.ts";
import { changeDirectory } from "../shell/builtins.ts";
import { readShellLine } from "../shell/readCommand.ts";
import type { ShellLine, SimpleCommand } from "../shell/shellLine.ts";
import { longestLine } from "../shell/text.ts";
import type { Subject } from "../verdict.ts";
import { shellPath } from "./folders.ts";
import type { Looks, Place } from "./looks.ts";

/** A simple command of a line. */
export interface LineCommand extends Omit<SimpleCommand, "reads"> {
  reads: SimpleCommand["reads"];
  /** Access of its program to files that its words do not name. */
  readonly beyond: readonly FoundBeyond[];
  /** True if it is `cd DIRECTORY`, and leads where that says. */
  readonly moves: boolean;
  /** Its words for what is known of its program: without that if it is a file of a root, and not what the name says. */
  readonly known: readonly string[];
  /** True if it may do more than read, and than that. */
  changes: boolean;
  /** The folder it may run in that is a repository of its own, whose configuration it would run. */
  unsafeRepository?: string | undefined;
  /** The rule of allow that covers it. */
  allowedBy?: Rule | undefined;
  /** True if that rule spells all of its words out. */
  spelledOut?: boolean;
}

/** A shell line with what its judgement needs. */
export interface CommandLine extends ShellLine {
  readonly commands: readonly LineCommand[];
  readonly effect: ToolEffect;
  /** The directories in which its commands may run; only the one where it starts if that cannot be told. */
  readonly directories: readonly string[];
  readonly isFollowed: boolean;
  /** True if a rule without a pattern, or the mode, lets every command run. */
  readonly allowsAll: boolean;
  /** True if a redirection of it may change files. */
  readonly writesFiles: boolean;
  /** True if it opens a file for reading that one of its commands may then write by another name (`/dev/stdin`). */
  readonly hasInput: boolean;
  readonly looks: Looks;
}

const untold: ShellLine = {
  unreadable: "The tool does not say what it runs.",
  commands: [],
  redirections: [],
  changesDirectory: true,
  behindFirst: false,
};

/** Text for a running command: its meaning depends on what reads it. */
const input: ShellLine = { ...untold, unreadable: "The text may run as commands in the program that reads it." };

export function readCommandLine(
  effect: ToolEffect,
  groups: Groups,
  { mode, scope, roots }: Settings,
  looks: Looks,
): CommandLine {
  const { command, shell, cwd = scope.cwd } = effect;
  const unseen = effect.input === undefined ? untold : input;
  const line = command === undefined || effect.input !== undefined ? unseen : readShellLine(command, { shell });
  const writesFiles = line.redirections.some(({ kind, path }) => kind === "write" && path !== "/dev/null");
  const directories = workingDirectories(line, effect, cwd, looks);
  const commands = line.commands.map((one): LineCommand => {
    const moves = isPlainChange(one.words);
    const known = isOfRoot(one.words, directories ?? [cwd], roots, looks) ? ["", ...one.words.slice(1)] : one.words;
    return { ...one, known, beyond: beyondOf(known), moves, changes: typeof one.reads === "string" && !moves };
  });
  return {
    ...line,
    commands,
    effect,
    directories: directories ?? [cwd],
    isFollowed: directories !== undefined,
    allowsAll: mode === "full" || (mode !== "read-only" && bareRule(groups.allow) !== undefined),
    writesFiles,
    hasInput: line.redirections.some(({ kind }) => kind === "read"),
    looks,
  };
}

/**
 * Lists the texts that a line which cannot be read may stand for: with the folder that it runs in, the home and the variables that it sets
 * written out. A variable that it sets again has one value in each text.
 */
export function writtenOut({ effect: { command = "" }, commands }: CommandLine, home: string): readonly string[] {
  const text = withHome(command.replace(/\$(?:PWD\b|\{PWD\}|\(pwd\))|`pwd`/g, "."), home);
  const values = new Map<string, string[]>();
  // A pattern is expanded where the variable is used, or not.
  for (const { name, value, literal } of commands.flatMap(({ assignments }) => assignments)) {
    // Not what comes from input or a command, nor a pattern, which may be expanded where the variable is used.
    if ((literal || value !== "") && !/[`(*?[]/.test(value)) values.set(name, [...(values.get(name) ?? []), value]);
  }
  const most = Math.min(mostValues, Math.max(1, ...[...values.values()].map(({ length }) => length)));
  return Array.from({ length: most }, (_, at) => {
    const write = (one: string): string =>
      one.replace(/\$(?:\{(\w+)\}|(\w+))/g, (all, braced, bare) => {
        const found = values.get(braced ?? bare);
        return found?.[at] ?? found?.at(-1) ?? all;
      });
    // A value may name another variable.
    const whole = values.size === 0 ? text : write(write(text));
    return whole.length > longestLine ? text : whole;
  });
}

/** A line that sets a variable more often is not followed. */
const mostValues = 20;

/** Returns a text with the home written out, as a shell would. */
export function withHome(text: string, home: string): string {
  return text.replace(/\$(?:HOME\b|\{HOME\})|(?<=^|[\s=:'"])~(?=[/\s'"]|$)/g, () => home);
}

/** Lists the words of each such text, and those that quotes within them join. */
export function wordsOfUnread(line: CommandLine, { bases: { home = "~" } }: Settings): (readonly string[])[] {
  const texts = writtenOut(line, home).flatMap((text) => [text, text.replace(/(?<=[\w./-])['"\\]+(?=[\w./-])/g, "")]);
  return [...new Set(texts.map((text) => rawWords(text).join("\0")))].map((words) => words.split("\0"));
}

/** Returns whether the program of a command is a file that came with those of a root. Packages put the programs of their names in `.bin`. */
function isOfRoot(
  [program = ""]: readonly string[],
  directories: readonly string[],
  roots: readonly string[],
  looks: Looks,
): boolean {
  if (!program.includes("/") || program.includes("/.bin/")) return false;
  return directories.every((directory) => {
    const { opened } = looks.place(directory, program);
    return looks.stats(opened)?.isFile() === true && roots.some((root) => isInside(root, opened));
  });
}

/** Returns the subject of a verdict about one command of a line. */
export function subjectOf({ text }: LineCommand, { effect }: CommandLine): Subject {
  return { what: `run: ${oneLine(text)}`, effect, command: text };
}

/** Returns the effect on a file that a word of a line names. */
export function fileEffect(
  kind: ToolEffect["kind"],
  { named, opened }: Place,
  remote: string | undefined,
  tree = false,
): ToolEffect {
  const around = tree ? { tree } : {};
  // Links of a remote cannot be followed from here.
  if (remote !== undefined) return { kind, path: named, ...around, remote };
  return { kind, path: opened, ...(named === opened ? {} : { givenPath: named }), ...around };
}

/** Returns whether a command starts another one that cannot be told, as the words of that are not in the line. */
export function handsOn({ words, moreWords }: LineCommand): boolean {
  const { starts } = findProgram(basename(words[0] ?? "")) ?? {};
  return moreWords === true ? startsAnother(words) : starts?.moreWords === true && startedBy(words).length === 0;
}

/** Returns whether nobody here knows if a command starts another: its program has no record. */
export function mayStartAny({ words: [program = ""] }: LineCommand): boolean {
  return program !== "" && !changeDirectory.has(program) && findProgram(plainName(program)) === undefined;
}

const mostDirectories = 16;

/**
 * Lists the directories in which commands of a line may run: where it starts, and where each `cd` of it may lead, whether those before it
 * succeeded or not; but where all of it stands behind `cd DIRECTORY &&`, nothing runs where it starts. Undefined if that cannot be told.
 */
function workingDirectories(
  line: ShellLine,
  { env = {} }: ToolEffect,
  cwd: string,
  looks: Looks,
): readonly string[] | undefined {
  if (!line.changesDirectory) return [cwd];
  const isElsewhere = line.commands.some(({ assignments }) => assignments.some(({ name }) => name === "CDPATH"));
  if (isElsewhere || env.CDPATH !== undefined) return undefined;
  const found = new Set([cwd]);
  // What cannot be read may run before the first command, or without it.
  const startsElsewhere = line.behindFirst && line.unreadable === undefined;
  let changes = 0;
  // Nothing comes after the last command, but for what a trap says, and redirections that stand alone.
  const goesOn = line.redirections.length > 0 || line.commands.some(({ words }) => words[0] === "trap");
  const last = goesOn ? undefined : line.commands.at(-1);
  for (const command of line.commands) {
    const { words } = command;
    const [program = "", target] = words;
    if (!changeDirectory.has(program)) continue;
    changes += 1;
    // In a loop the same `cd` may be taken again and again.
    if (command.repeats) return undefined;
    if (command === last) break;
    if (!isPlainChange(words) || target === undefined || isOnOtherShare(shellPath(cwd, target), [cwd]))
      return undefined;
    // A shell goes on from the path as written, a program from where it leads.
    const before = [...found];
    if (startsElsewhere && command === line.commands[0]) found.clear();
    for (const from of before) {
      const place = looks.place(from, target);
      if (looks.leadsThroughProcess(place)) return undefined;
      found.add(place.named).add(place.opened);
    }
    if (found.size > mostDirectories) return undefined;
  }
  // Something else changes it.
  return changes === 0 ? undefined : [...found];
}

/** Returns whether a command is `cd DIRECTORY`, which `CDPATH` cannot lead elsewhere. */
function isPlainChange(words: readonly string[]): boolean {
  const [program, target = "", ...more] = words;
  if (program !== "cd" || target === "" || more.length > 0 || /^[-~]|[*?[]/.test(target)) return false;
  return /^\.{0,2}\//.test(target) || target === "." || target === ".." || !process.env.CDPATH;
}

/** Splits a line that cannot be read into words, whatever stands between them. */
export function rawWords(line: string): readonly string[] {
  return line.replace(/\\\r?\n/g, "").match(/[^\s'"`;|&<>(){}$\\]+/g) ?? [];
}
