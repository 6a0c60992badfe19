import { isToolError, ToolError } from "@toolcrib/core";
import { messageOf } from "@toolcrib/core/text";
import type { CommandInput } from "../process/commandInput.ts";
import { killLeft, killTree } from "../process/platform.ts";
import type { RunningProcess } from "../process/processes.ts";
import type { CommandWatch, EndedCommand } from "../process/shellRequest.ts";
import { type StreamOutput, type StreamText, textWithNotes } from "../process/streamOutput.ts";

export interface JobCommand {
  readonly command: string;
  readonly cwd: string;
  /** Its confinement, as its effect says. */
  readonly confinement?: string | undefined;
  /** True if its standard input stays open. */
  readonly keepsInput?: boolean | undefined;
  /** Makes the sink that keeps a stream from one reading to the next. */
  readonly newOutput: (stream: "stdout" | "stderr", onPush: () => void) => StreamOutput;
}

/** The output of a job since the last reading. */
export interface JobReading {
  readonly running: boolean;
  /** Null while it runs. */
  readonly exitCode: number | null;
  readonly stdout: StreamText;
  readonly stderr: StreamText;
}

/** After output, a reading that waits goes on until nothing has come for this long. */
const quietMs = 300;
/** The exit code of what was killed. */
const killedCode = 128 + 9;

/** One command in the background. */
export class Job {
  readonly id: string;
  readonly command: string;
  readonly cwd: string;
  readonly confinement: string | undefined;
  readonly startedAt: number = Date.now();
  /** Rejects if the command could not be started. */
  readonly started: Promise<this>;
  /** Never rejects. */
  readonly ended: Promise<void>;
  pid = 0;
  running = true;
  exitCode: number | null = null;
  /** Undefined where it was closed from the start. */
  input: CommandInput | undefined;
  readonly #abort = new AbortController();
  readonly #stdout: StreamOutput;
  readonly #stderr: StreamOutput;
  readonly #watchers = new Set<() => void>();
  #notes: readonly string[] = [];
  #mark: string | undefined;
  #left: readonly RunningProcess[] = [];

  constructor(id: string, what: JobCommand, run: (watch: CommandWatch) => Promise<EndedCommand>) {
    const { command, cwd, confinement, keepsInput, newOutput } = what;
    this.id = id;
    this.command = command;
    this.cwd = cwd;
    this.confinement = confinement;
    this.#stdout = newOutput("stdout", () => this.#changed());
    this.#stderr = newOutput("stderr", () => this.#changed());
    const { promise, resolve, reject } = Promise.withResolvers<this>();
    this.started = promise;
    const ended = run({
      signal: this.#abort.signal,
      output: { stdout: this.#stdout, stderr: this.#stderr },
      unref: true,
      onInput: keepsInput
        ? (input) => {
            this.input = input;
          }
        : undefined,
      onStart: (pid, mark) => {
        this.pid = pid;
        this.#mark = mark;
        resolve(this);
      },
    });
    this.ended = ended.then(
      (result) => {
        this.#left = result.running;
        this.#end(result.exitCode, result.notes);
        reject(notStarted());
      },
      (error: unknown) => {
        const isStopped = this.#abort.signal.aborted && isToolError(error) && error.code === "aborted";
        this.#end(killedCode, isStopped ? [] : [`[${messageOf(error)}]`]);
        reject(error);
      },
    );
  }

  /** Returns whether it runs, or has left something running. */
  get needsEnd(): boolean {
    return this.running || this.#left.length > 0;
  }

  get hasUnread(): boolean {
    return !this.#stdout.isEmpty || !this.#stderr.isEmpty;
  }

  /** Returns what is new; nothing of it is given again. */
  read(): JobReading {
    const { running, exitCode } = this;
    const [stdout, stderr] = [this.#stdout.take(), this.#stderr.take()];
    const notes = this.#notes;
    this.#notes = [];
    return { running, exitCode, stdout, stderr: textWithNotes(stderr, notes) };
  }

  /** Resolves when it has ended, when it has printed something and then nothing for a moment, or after `ms`; rejects on an abort. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      let quiet: NodeJS.Timeout | undefined;
      const finish = (): void => {
        clearTimeout(limit);
        clearTimeout(quiet);
        this.#watchers.delete(onChange);
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const onChange = (): void => {
        clearTimeout(quiet);
        if (!this.running) finish();
        else if (this.hasUnread) quiet = setTimeout(finish, quietMs);
      };
      const onAbort = (): void => {
        reject(readingAborted(signal));
        finish();
      };
      const limit = setTimeout(finish, ms);
      this.#watchers.add(onChange);
      signal?.addEventListener("abort", onAbort, { once: true });
      if (signal?.aborted) onAbort();
      else onChange();
    });
  }

  /** Kills everything that it started. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.ended;
    this.#killLeft();
  }

  /** Does the same at once, for a process that ends. */
  kill(): void {
    if (this.running && this.pid > 0 && this.#mark !== undefined) {
      killTree(this.pid, this.#mark);
      this.#left = [{ pid: this.pid, command: this.command }];
    }
    this.#killLeft();
  }

  /** Kills what its shell left running. By its mark: the ids may be those of others by now. */
  #killLeft(): void {
    if (this.#left.length > 0 && this.#mark !== undefined) killLeft(new Map([[this.#mark, this.#left]]));
    this.#left = [];
  }

  #end(exitCode: number, notes: readonly string[]): void {
    this.#stdout.end();
    this.#stderr.end();
    this.running = false;
    this.exitCode = exitCode;
    this.#notes = notes;
    this.#changed();
  }

  #changed(): void {
    for (const onChange of [...this.#watchers]) onChange();
  }
}

function readingAborted(signal: AbortSignal | undefined): ToolError {
  return new ToolError({
    code: "aborted",
    toolName: "read_output",
    message: "Aborted; the command goes on, and its output is kept",
    details: { reason: signal?.reason },
  });
}

function notStarted(): ToolError {
  return new ToolError({
    code: "execution_failed",
    toolName: "run_bash",
    message: "The runner did not say that the command started: for background commands it must call onStart",
    recoverable: false,
  });
}
