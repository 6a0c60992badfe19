export { harmlessVariables } from "./judge/variables.ts";
export { type ReadOnlyJudgement, readOnlyCommand, readShellLine, type ShellLineOptions } from "./shell/readCommand.ts";
export { type ReadOnlyGit, readOnlyGit } from "./shell/readOnlyGit.ts";
export { type ReadOnlyProgram, readOnlyPrograms, versionOptions } from "./shell/readOnlyTable.ts";
export type { Assignment, Redirection, ShellLine, SimpleCommand } from "./shell/shellLine.ts";
