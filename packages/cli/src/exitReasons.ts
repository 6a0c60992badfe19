import { MarkedError } from "@toolcrib/core/internal";

/** The end of a command. `main.ts` gives each its exit code. */
export type ExitReason = "ok" | "failed" | "usage" | "provider" | "denied" | "limit" | "interrupted";

/** An error that the user can fix. Its message says what was wrong and what to do next. */
export class CliError extends MarkedError {
  readonly exitReason: ExitReason;

  constructor(exitReason: ExitReason, message: string) {
    super("CliError", message);
    this.exitReason = exitReason;
  }
}

export function usageError(message: string): CliError {
  return new CliError("usage", message);
}
