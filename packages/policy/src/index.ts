export type { ShellLine, SimpleCommand } from "./shell/shellLine.ts";
