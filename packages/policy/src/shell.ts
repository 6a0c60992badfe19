export { harmlessVariables } from "./judge/environment.ts";
export type { ProgramRecord } from "./programs/record.ts";
export { programs } from "./programs/table.ts";
export { readShellLine } from "./shell/readCommand.ts";
export type { ShellLine } from "./shell/shellLine.ts";
