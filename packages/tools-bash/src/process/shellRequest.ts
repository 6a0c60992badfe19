import type { CommandInput } from "./commandInput.ts";
import type { CommandOutput } from "./headTailBuffer.ts";
import type { RunningProcess } from "./processes.ts";

/** One command: a program, its arguments and its surroundings. */
export interface ShellRequest {
  file: string;
  args: readonly string[];
  /** Absolute, an existing directory. */
  cwd: string;
  /** The whole environment; one of its values contains `mark`. */
  env: Readonly<Record<string, string | undefined>>;
  /** The program's descriptors from 3 on: open descriptors, or bytes for it to read. */
  descriptors?: readonly (number | Uint8Array)[] | undefined;
  /** Unique to this call: a process with it in its environment belongs to the call. */
  mark: string;
  /** Milliseconds, up to 2^31 - 1. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Sinks that take output as it comes. Default: two of HeadTailBuffer. */
  output?: CommandOutput | undefined;
  /** Called with the id of the process once it has started. */
  onStart?: ((pid: number) => void) | undefined;
  /** Called with its standard input, before `onStart`, and given by callers that keep it open. Without it the input is closed. */
  onInput?: ((input: CommandInput) => void) | undefined;
  /** True if this process may end while the command runs. */
  unref?: boolean | undefined;
}

/** The end of a command. `stdout` and `stderr` are what the sinks show. */
export interface ShellResult {
  stdout: string;
  stderr: string;
  /** 128 + n for signal n; -1 at the time limit, and only then. */
  exitCode: number;
  /** Processes that outlive a command that ended by itself. */
  running: readonly RunningProcess[];
}

/** The end of a command that was watched. */
export interface EndedCommand extends ShellResult {
  /** Lines to add to the end of its standard error. */
  readonly notes: readonly string[];
}

/** Sinks and callbacks with which a command runs. */
export interface CommandWatch {
  readonly signal: AbortSignal | undefined;
  readonly output: CommandOutput;
  /** Called with the id of its shell, and with what is in the environment of its processes. */
  readonly onStart?: ((pid: number, mark: string) => void) | undefined;
  /** Called before that with its standard input, which stays open then. */
  readonly onInput?: ((input: CommandInput) => void) | undefined;
  /** True if this process may end while the command runs. */
  readonly unref?: boolean | undefined;
}

/** Runs one command. Rejects if it cannot start (a system error) or is aborted (a ToolError), not if it fails. */
export type ShellRunner = (request: ShellRequest) => Promise<ShellResult>;
