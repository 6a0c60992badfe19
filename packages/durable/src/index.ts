export { type PlainError, reviveError, toPlainError } from "./errors.ts";
export type { AgentDefinition, DurableRuns, Run, RunInfo, RunStatus } from "./run.ts";
