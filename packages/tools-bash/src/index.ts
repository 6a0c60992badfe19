export { createBashTools, createRunBashTool, type RunBashOptions } from "./bash.ts";
export type { ScrubEnv } from "./environment.ts";
export { createLeftovers, type Leftovers } from "./leftovers.ts";
export type { RunningProcess } from "./processes.ts";
export { runShell, type ShellRequest, type ShellResult, type ShellRunner } from "./runShell.ts";
export type { SandboxOptions } from "./sandbox.ts";
