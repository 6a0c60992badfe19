import type { ExecutableTool, ExecuteOptions } from "../interface.ts";
import { checkSpelling, type KnownOptions } from "../options.ts";
import { longestDelayMs } from "./deadline.ts";

/** Milliseconds a tool may run where neither it nor the caller says otherwise. */
export const defaultTimeoutMs = 30_000;

const optionNames: KnownOptions<ExecuteOptions> = {
  signal: true,
  callId: true,
  labels: true,
  onProgress: true,
  timeoutMs: true,
  onOutcome: true,
};

/** Throws a TypeError for a misspelt option. Not for every unknown one: a tool may hand on the call that it was given. */
export function checkExecuteOptions(options: ExecuteOptions): void {
  checkSpelling("execute", options, optionNames);
}

/** The caller's limit, else the tool's, else the default. Throws for a caller's limit that is none. */
export function limitOf(tool: ExecutableTool, args: Record<string, unknown>, fromCaller: number | undefined): number {
  if (fromCaller !== undefined) {
    if (fromCaller > 0) return fromCaller;
    throw new RangeError(`timeoutMs must be a number of milliseconds above 0, at most ${longestDelayMs}, or Infinity`);
  }
  let own: unknown;
  try {
    own = tool.timeoutMs;
    if (typeof own === "function") own = own.call(tool, args);
  } catch {
    // As if it gave no limit.
  }
  return typeof own === "number" && own > 0 ? own : defaultTimeoutMs;
}
