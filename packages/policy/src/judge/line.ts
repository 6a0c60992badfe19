import { basename } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import type { Reads } from "../programs/record.ts";
import { findProgram } from "../programs/table.ts";
import { bareRule } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import { readShellLine } from "../shell/readCommand.ts";
import type { ShellLine, SimpleCommand } from "../shell/shellLine.ts";
import { type Budget, newBudget } from "./budget.ts";
import { folderAsRemote, mayHoldForeignRepository } from "./foreignRepository.ts";
import { holdsRepository } from "./foreignSubmodules.ts";
import type { Groups } from "./judgeFile.ts";
import { mayBePlanted } from "./plantedProgram.ts";
import { readOnly } from "./readOnly.ts";
import { isPlainChange, workingDirectories } from "./workingDirectories.ts";

/** A shell line with what its judgement needs. */
export interface Line extends ShellLine {
  readonly commands: readonly LineCommand[];
  readonly effect: ToolEffect;
  readonly command: string;
  /** Where its commands may run; undefined where that cannot be told. */
  readonly directories: readonly string[] | undefined;
  /** Whether a rule without a pattern, or the mode, lets every command run. */
  readonly vouched: boolean;
  /** Whether something in it may change files. */
  readonly changes: boolean;
  /** For what its words may name: names looked at, and paths judged. */
  readonly budget: Budget;
}

/** As much as keeps a decision below about 0.1 s. */
const mostSteps = 5000;

/** A simple command, and what it reads if it only reads. */
export interface LineCommand extends SimpleCommand {
  /** A text says why it may do more. */
  readonly reads: Reads | string;
  /** The folder it may run in that is a repository of its own, whose configuration it would run. */
  readonly foreign?: string | undefined;
}

const untold: ShellLine = {
  unreadable: "The tool does not say what it runs.",
  commands: [],
  redirections: [],
  changesDirectory: true,
};

export function readLine(effect: ToolEffect, groups: Groups, settings: Settings): Line {
  const { mode, scope } = settings;
  const { command, shell, cwd = scope.cwd } = effect;
  const read = command === undefined ? untold : readShellLine(command, { shell });
  const vouched = mode === "full" || (mode !== "read-only" && bareRule(groups.allow) !== undefined);
  const directories = workingDirectories(read, command ?? "", cwd);
  const found = read.commands.map((one): LineCommand => ({ ...one, reads: readOnly(one) }));
  const changes = writes(read) || found.some(isChanging);
  const isHere = effect.remote === undefined && !vouched;
  const ofRepository = isHere ? found.filter(isOfRepository) : [];
  const adds = ofRepository.some(addsFiles) && !ofRepository.every(looksAtNoSubmodule);
  const foreignIf = (changed: boolean): string | undefined =>
    directories?.find((one) => mayHoldForeignRepository(one, changed, settings) || (adds && holdsRepository(one)));
  const foreignToRead = ofRepository.every(isChanging) ? undefined : foreignIf(changes);
  // What git itself changes makes no repository that runs what its files say.
  const changedByOthers = writes(read) || found.some((one) => isChanging(one) && !isOfRepository(one));
  const foreignToChange = ofRepository.some(isChanging) ? foreignIf(changedByOthers) : undefined;
  const changed = [
    ...found.filter(isChanging).flatMap(({ words }) => words),
    ...read.redirections.map(({ path }) => path),
  ];
  const remoteFolder = (words: readonly string[]): string | undefined =>
    first(directories ?? [], (one) => folderAsRemote(words, one, changedByOthers, settings));
  const mayPut = (folder: string): boolean => changed.some((word) => word.includes(basename(folder)));
  const commands = found.map((one): LineCommand => {
    if (effect.remote !== undefined) return { ...one, reads: elsewhere(one.reads) };
    const ofOne = isChanging(one) ? foreignToChange : foreignToRead;
    const foreign = ofOne ?? (ofRepository.includes(one) ? remoteFolder(one.words) : undefined);
    if (foreign !== undefined && isOfRepository(one)) return { ...one, reads: ofForeign(foreign), foreign };
    if (!isHere || isChanging(one)) return one;
    return { ...one, reads: mayBePlanted(one, directories ?? [cwd], mayPut, settings) ?? one.reads };
  });
  return {
    ...read,
    commands,
    effect,
    command: command ?? "",
    directories,
    vouched,
    changes,
    budget: newBudget(mostSteps),
  };
}

function first<Found>(all: readonly string[], find: (one: string) => Found | undefined): Found | undefined {
  for (const one of all) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isChanging({ reads, words }: LineCommand): boolean {
  return typeof reads === "string" && !isPlainChange(words);
}

/** `git add` makes a submodule of a repository in the folder. */
function addsFiles({ words }: SimpleCommand): boolean {
  return words.includes("add") || words.includes("stage");
}

function looksAtNoSubmodule({ words }: SimpleCommand): boolean {
  return words.some((word) => /^(?:add|stage|commit|push)$/.test(word));
}

function isOfRepository({ words: [program = ""] }: SimpleCommand): boolean {
  return findProgram(program)?.repository === true;
}

function ofForeign(folder: string): string {
  return `${folder} is, or may become, a repository of its own, whose configuration git would run.`;
}

/** Says that what a program reads there, and what its configuration there has it do, cannot be looked at. */
function elsewhere(reads: Reads | string): string {
  return typeof reads === "string" ? reads : "It runs on a remote, whose files cannot be looked at.";
}

function writes({ redirections }: ShellLine): boolean {
  return redirections.some(({ kind, path }) => kind === "write" && path !== "/dev/null");
}
