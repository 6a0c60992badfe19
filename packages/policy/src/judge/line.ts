import type { ToolEffect } from "@toolcrib/core";
import { bareRule } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import { type ReadOnlyJudgement, readOnlyCommand, readShellLine } from "../shell/readCommand.ts";
import type { ShellLine, SimpleCommand } from "../shell/shellLine.ts";
import { type Budget, newBudget } from "./budget.ts";
import { mayHoldForeignRepository } from "./foreignRepository.ts";
import type { Groups } from "./judgeFile.ts";
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
  /** For what its words may name: names looked at, and paths judged. */
  readonly budget: Budget;
}

/** As much as keeps a decision below about 0.1 s. */
const mostSteps = 5000;

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
  const { mode, scope } = settings;
  const { command, shell, cwd = scope.cwd } = effect;
  const read = command === undefined ? untold : readShellLine(command, { shell });
  const vouched = mode === "full" || (mode !== "read-only" && bareRule(groups.allow) !== undefined);
  const directories = workingDirectories(read, command ?? "", cwd);
  const judged = read.commands.map((one) => ({ ...one, judged: readOnlyCommand(one) }));
  const changes = judged.some((one) => !one.judged.readOnly && !isPlainChange(one.words)) || writes(read);
  const isTrusting = effect.place === undefined && !vouched && judged.some((one) => one.judged.trustsRepository);
  const foreign = isTrusting
    ? directories?.find((directory) => mayHoldForeignRepository(directory, changes, settings))
    : undefined;
  const judge = (one: ReadOnlyJudgement): ReadOnlyJudgement =>
    effect.place === undefined ? judgeReading(one, foreign) : judgeElsewhere(one);
  const commands = judged.map((one): LineCommand => ({ ...one, judged: judge(one.judged) }));
  return { ...read, commands, effect, command: command ?? "", directories, vouched, budget: newBudget(mostSteps) };
}

function judgeReading(judged: ReadOnlyJudgement, foreign: string | undefined): ReadOnlyJudgement {
  if (!judged.trustsRepository || foreign === undefined) return judged;
  return {
    readOnly: false,
    paths: [],
    why: `${foreign} is, or may become, a repository of its own, whose configuration git would run.`,
  };
}

/** What a program reads there, and what its configuration there has it do, cannot be looked at. */
function judgeElsewhere(judged: ReadOnlyJudgement): ReadOnlyJudgement {
  if (!judged.readOnly) return judged;
  return { readOnly: false, paths: [], why: "It runs in another place, whose files cannot be looked at." };
}

function writes({ redirections }: ShellLine): boolean {
  return redirections.some(({ kind, path }) => kind === "write" && path !== "/dev/null");
}
