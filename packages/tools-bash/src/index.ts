export { createBashTools } from "./bash.ts";
export { type BashToolOptions, sandboxProblem } from "./bashOptions.ts";
export { type BackgroundJobs, createBackgroundJobs } from "./jobs/backgroundJobs.ts";
export { createLeftovers, type Leftovers } from "./process/leftovers.ts";
export { runShell } from "./process/runShell.ts";
export type { ShellRequest, ShellResult, ShellRunner } from "./process/shellRequest.ts";
export { createRunBashTool } from "./runBash.ts";
export type { CommandToWrap, OwnSandbox, SandboxConfinement, WrappedCommand } from "./sandbox/ownSandbox.ts";
export type { SandboxOptions } from "./sandbox/sandbox.ts";
