export { type PlainError, reviveError, toPlainError } from "./errors.ts";
export type {
  AgentDefinition,
  AgentSource,
  DurableRuns,
  ListOptions,
  ResultOptions,
  Run,
  RunInfo,
  RunStatus,
  StartOptions,
} from "./run.ts";
