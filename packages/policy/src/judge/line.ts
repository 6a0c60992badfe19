import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { isInside } from "@toolcrib/core/files";
import { bareRule } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import { type ReadOnlyJudgement, readOnlyCommand, readShellLine } from "../shell/readCommand.ts";
import type { ShellLine, SimpleCommand } from "../shell/shellLine.ts";
import { type Budget, newBudget } from "./budget.ts";
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
  const { mode, scope, roots } = settings;
  const { command, shell, cwd = scope.cwd } = effect;
  const read = command === undefined ? untold : readShellLine(command, { shell });
  const vouched = mode === "full" || (mode !== "read-only" && bareRule(groups.allow) !== undefined);
  const directories = workingDirectories(read, command ?? "", cwd);
  const judged = read.commands.map((one) => ({ ...one, judged: readOnlyCommand(one) }));
  const changes = judged.some((one) => !one.judged.readOnly && !isPlainChange(one.words)) || writes(read);
  const foreign = vouched
    ? undefined
    : directories?.find((directory) => mayHoldForeignRepository(directory, roots, changes));
  const commands = judged.map((one): LineCommand => ({ ...one, judged: judgeReading(one.judged, foreign) }));
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

function writes({ redirections }: ShellLine): boolean {
  return redirections.some(({ kind, path }) => kind === "write" && path !== "/dev/null");
}

/**
 * Whether git may take another repository than the user's own, one that came with the files or that the line itself makes: a `.git`
 * below the root, or a bare repository, which is any folder with a `HEAD` (also a link to nothing) and some folders. Git looks from the
 * directory upwards, in each for `.git` first, so the root's own comes before anything that is made there.
 */
function mayHoldForeignRepository(directory: string, roots: readonly string[], changes: boolean): boolean {
  if (roots.includes(directory) && isThere(join(directory, ".git", "HEAD"))) return false;
  if (changes) return true;
  for (let at = directory; ; at = dirname(at)) {
    const isRoot = roots.includes(at);
    if (isThere(join(at, "HEAD")) || (!isRoot && isThere(join(at, ".git")))) return true;
    if (isRoot) return false;
    if (!roots.some((root) => isInside(root, at)) || dirname(at) === at) return true;
  }
}

/** Also a link that leads nowhere, and a `.git` that is a file. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
