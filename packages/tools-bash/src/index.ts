export { createBashTools, createRunBashTool } from "./bash.ts";
export { type RunBashOptions, sandboxProblem } from "./bashOptions.ts";
export type { ScrubEnv } from "./environment.ts";
export { createLeftovers, type Leftovers } from "./leftovers.ts";
export type { SandboxLimits } from "./limits.ts";
export type { RunningProcess } from "./processes.ts";
export type { Refusal } from "./refusals.ts";
export { runShell, type ShellRequest, type ShellResult, type ShellRunner } from "./runShell.ts";
export type { SandboxOptions } from "./sandbox.ts";
