export { createBashTools, createRunBashTool } from "./bash.ts";
export { type RunBashOptions, sandboxProblem } from "./bashOptions.ts";
export type { ScrubEnv } from "./environment.ts";
export type { CommandOutput, OutputSink } from "./process/childOutput.ts";
export { createLeftovers, type Leftovers } from "./process/leftovers.ts";
export type { RunningProcess } from "./process/processes.ts";
export { runShell, type ShellRequest, type ShellResult, type ShellRunner } from "./process/runShell.ts";
export type { SandboxLimits } from "./sandbox/resourceLimits.ts";
export type { Refusal, SandboxOptions } from "./sandbox/sandbox.ts";
