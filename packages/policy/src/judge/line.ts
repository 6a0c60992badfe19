import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { isInside } from "@toolcrib/core/files";
import { bareRule } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import { type ReadOnlyJudgement, readOnlyCommand, readShellLine } from "../shell/readCommand.ts";
import type { ShellLine, SimpleCommand } from "../shell/shellLine.ts";
import { type Budget, newBudget } from "./expandWildcard.ts";
import type { Groups } from "./judgeFile.ts";
import { workingDirectories } from "./workingDirectories.ts";

/** A shell line with what its judgement needs. */
export interface Line extends ShellLine {
  readonly commands: readonly LineCommand[];
  readonly effect: ToolEffect;
  readonly command: string;
  /** Where its commands may run; undefined where that cannot be told. */
  readonly directories: readonly string[] | undefined;
  /** Whether a rule without a pattern, or the mode, lets every command run. */
  readonly vouched: boolean;
  /** For what its words may name. */
  readonly budget: Budget;
}

/** A simple command, and whether it only reads. */
export interface LineCommand extends SimpleCommand {
  readonly judged: ReadOnlyJudgement;
}

const untold: ShellLine = {
  unreadable: "The tool does not say what it runs.",
  commands: [],
  redirections: [],
  changesDirectory: true,
};

export function readLine(effect: ToolEffect, groups: Groups, settings: Settings): Line {
  const { mode, scope, roots } = settings;
  const { command, shell, cwd = scope.cwd } = effect;
  const read = command === undefined ? untold : readShellLine(command, { shell });
  const vouched = mode === "full" || (mode !== "read-only" && bareRule(groups.allow) !== undefined);
  const directories = workingDirectories(read, command ?? "", cwd);
  const foreign = vouched ? undefined : directories?.find((directory) => holdsForeignRepository(directory, roots));
  const commands = read.commands.map((one): LineCommand => ({ ...one, judged: judgeReading(one, foreign) }));
  return { ...read, commands, effect, command: command ?? "", directories, vouched, budget: newBudget() };
}

function judgeReading(command: SimpleCommand, foreign: string | undefined): ReadOnlyJudgement {
  const judged = readOnlyCommand(command);
  if (!judged.trustsRepository || foreign === undefined) return judged;
  return {
    readOnly: false,
    paths: [],
    why: `${foreign} is in a repository of its own, whose configuration git would run.`,
  };
}

/** Whether git would take another repository than that of the roots, one that came with the files: `.git`, or a bare one. */
function holdsForeignRepository(directory: string, roots: readonly string[]): boolean {
  for (let at = directory; !roots.includes(at); at = dirname(at)) {
    if (existsSync(join(at, ".git")) || existsSync(join(at, "HEAD"))) return true;
    if (!roots.some((root) => isInside(root, at)) || dirname(at) === at) return true;
  }
  return false;
}
