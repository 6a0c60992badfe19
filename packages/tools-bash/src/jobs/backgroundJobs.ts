import { invalidArgument, ToolError } from "@toolcrib/core";
import { clip } from "@toolcrib/core/text";
import type { CommandWatch, EndedCommand } from "../process/shellRequest.ts";
import { Job, type JobCommand } from "./job.ts";

/** Most commands that run in the background at once. */
export const mostRunning = 16;
/** Most that are remembered, those that have ended included. */
const mostRemembered = 32;
/** Signals that end a process which nobody handles. */
const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Tells our listeners from those of others. */
const marker: unique symbol = Symbol.for("toolcrib.endWithProcess");

/** A command that was started in the background. */
export interface BackgroundJob {
  readonly id: string;
  /** The process of its shell. */
  readonly pid: number;
  readonly command: string;
  readonly cwd: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly running: boolean;
  /** Null while it runs. */
  readonly exitCode: number | null;
}

/** The commands that run in the background. They end with this process, also by a signal, but not if it is killed (SIGKILL). */
export interface BackgroundJobs {
  /** Returns the oldest first; of those that have ended, only the latest. */
  list(): BackgroundJob[];
  /** Kills a command with everything that it started; false for an unknown id. */
  stop(id: string): Promise<boolean>;
  /** Kills all of them at once, and what they left running. Synchronous. Returns how many ran. */
  end(): number;
  /** Starts a command, for `run_bash`. */
  start(what: JobCommand, run: (watch: CommandWatch) => Promise<EndedCommand>): Promise<BackgroundJob>;
  /** Finds a command, for the other tools. Throws a ToolError for an unknown id. */
  find(id: unknown): Job;
}

/** Pass one as `background` to `createBashTools`, to list and end its commands. */
export function createBackgroundJobs(): BackgroundJobs {
  const jobs = new Map<string, Job>();
  const running = (): Job[] => [...jobs.values()].filter((job) => job.running);
  const end = (): number => {
    const ended = running();
    for (const job of jobs.values()) job.kill();
    return ended.length;
  };
  const forget = (job: Job): void => {
    job.kill();
    jobs.delete(job.id);
  };
  let stayWithProcess: (() => void) | undefined;

  return {
    end,
    list: () => [...jobs.values()].filter(({ pid }) => pid > 0).map(toBackgroundJob),
    async stop(id) {
      const job = jobs.get(id);
      await job?.stop();
      return job !== undefined;
    },
    async start(what, run) {
      if (running().length >= mostRunning) throw tooMany();
      for (const job of jobs.values()) if (jobs.size >= mostRemembered && !job.running) forget(job);
      const job = new Job(newId(jobs), what, run);
      jobs.set(job.id, job);
      stayWithProcess ??= endWithProcess(end);
      void job.ended.then(() => {
        if ([...jobs.values()].some((one) => one.needsEnd)) return;
        stayWithProcess?.();
        stayWithProcess = undefined;
      });
      try {
        await job.started;
      } catch (error) {
        jobs.delete(job.id);
        throw error;
      }
      return toBackgroundJob(job);
    },
    find(id) {
      const job = typeof id === "string" ? jobs.get(id) : undefined;
      if (job) return job;
      if (typeof id !== "string") throw invalidArgument("id", "is required, expected string");
      throw invalidArgument("id", `no background command has the id ${JSON.stringify(clip(id, 40))}; ${known(jobs)}`);
    },
  };
}

function toBackgroundJob({ id, pid, command, cwd, startedAt, running, exitCode }: Job): BackgroundJob {
  return { id, pid, command, cwd, startedAt, running, exitCode };
}

/** Makes a short id, not that of another process's command: a saved conversation may go on in a new process. */
function newId(jobs: ReadonlyMap<string, Job>): string {
  for (;;) {
    const id = `job-${crypto.randomUUID().slice(0, 6)}`;
    if (!jobs.has(id)) return id;
  }
}

function known(jobs: ReadonlyMap<string, Job>): string {
  return jobs.size === 0 ? "none was started, or this is another process" : `there are ${[...jobs.keys()].join(", ")}`;
}

function tooMany(): ToolError {
  return new ToolError({
    code: "execution_failed",
    toolName: "run_bash",
    message: `${mostRunning} commands already run in the background; stop one first`,
  });
}

/**
 * Calls `end` when this process exits, and when a signal is about to end it that nobody else handles. It must be synchronous. Returns
 * what takes that back. Nothing can be called if the process is killed (SIGKILL).
 */
function endWithProcess(end: () => void): () => void {
  const onSignal = Object.assign(
    (signal: NodeJS.Signals) => {
      // Another listener decides whether the process ends; when it does so in order, it exits.
      if (!process.listeners(signal).every((listener) => marker in listener)) return;
      end();
      takeBack();
      process.kill(process.pid, signal);
    },
    { [marker]: true },
  );
  const takeBack = (): void => {
    process.removeListener("exit", end);
    for (const signal of endingSignals) process.removeListener(signal, onSignal);
  };
  process.on("exit", end);
  for (const signal of endingSignals) process.on(signal, onSignal);
  return takeBack;
}
