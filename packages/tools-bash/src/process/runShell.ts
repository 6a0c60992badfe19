import type { ChildProcess, StdioOptions } from "node:child_process";
import type { Socket } from "node:net";
import { ToolError } from "@toolcrib/core";
import { HeadTailBuffer } from "./headTailBuffer.ts";
import { inheritedDescriptors, nullDescriptor } from "./inheritedDescriptors.ts";
import { childProcess, exitCodeOf, findLeft, isAlive, killTree, ownGroup } from "./platform.ts";
import type { RunningProcess } from "./processes.ts";

/** One command: a program and its arguments, and what it runs in. */
export interface ShellRequest {
  file: string;
  args: readonly string[];
  /** Absolute, an existing directory. */
  cwd: string;
  /** The whole environment; holds `mark` somewhere. */
  env: Readonly<Record<string, string | undefined>>;
  /** The program's descriptors from 3 on: open ones, or bytes that it reads. */
  descriptors?: readonly (number | Uint8Array)[] | undefined;
  /** Unique to this call: what carries it in its environment belongs to the call. */
  mark: string;
  /** Milliseconds, up to 2^31 - 1. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** How a command ended. `stdout` and `stderr` are cut as HeadTailBuffer says. */
export interface ShellResult {
  stdout: string;
  stderr: string;
  /** 128 + n for signal n; -1 at the time limit, and only then. */
  exitCode: number;
  /** What a command that ended by itself left running. */
  running: readonly RunningProcess[];
}

/** Runs one command; rejects when it cannot start (a system error) or is aborted (a ToolError), never for how it ends. */
export type ShellRunner = (request: ShellRequest) => Promise<ShellResult>;

/** No bytes for so long after the exit, and the output is taken to be complete though a background child holds the pipe. */
const quietMs = 100;
const longestDrainMs = 2000;
/** The first descriptor after standard error. */
const firstOwn = 3;
/** How long a killed tree may take to be gone. */
const longestKillMs = 500;

/**
 * Runs it as a process tree of its own, standard input closed. Settles within the limit + 1 s: at the limit, and on abort,
 * the tree is killed.
 */
export async function runShell(request: ShellRequest): Promise<ShellResult> {
  const started = performance.now();
  const child = childProcess().spawn(request.file, request.args, {
    cwd: request.cwd,
    env: request.env as NodeJS.ProcessEnv,
    detached: ownGroup,
    windowsHide: true,
    stdio: descriptorsOf(request),
  });
  feed(child, request);
  const output = new Output(child);
  const stop = waitForStop(request);
  try {
    const first = await Promise.race([output.exited, stop.promise]);
    // The limit cuts the drain of a command that has ended by itself short; an abort kills what it left.
    const end = typeof first === "number" ? await Promise.race([output.drained(), stop.promise]) : first;
    if (end === "abort" || typeof first !== "number") await endTree(child.pid as number, request.mark, output);
    if (end === "abort") throw abortError(request.signal);
    if (typeof first !== "number") return { ...output.texts(), exitCode: -1, running: [] };
    const running = findLeft(child.pid as number, performance.now() - started, request.mark);
    return { ...output.texts(), exitCode: first, running };
  } finally {
    stop.clear();
    output.release();
  }
}

/** Standard input closed, standard output and error piped, then the request's own; nothing that this process inherited. */
function descriptorsOf({ descriptors = [] }: ShellRequest): StdioOptions & unknown[] {
  const given = descriptors.map((descriptor) => (typeof descriptor === "number" ? descriptor : "pipe"));
  const stdio: (number | "ignore" | "pipe")[] = ["ignore", "pipe", "pipe", ...given];
  for (const inherited of inheritedDescriptors().replaceable) {
    while (stdio.length <= inherited) stdio.push("ignore");
    if (stdio[inherited] === "ignore") stdio[inherited] = nullDescriptor();
  }
  return stdio;
}

/** Without descriptors left the child has no streams; its error event follows. */
function feed(child: ChildProcess, { descriptors = [] }: ShellRequest): void {
  const streams: readonly unknown[] | undefined = child.stdio;
  descriptors.forEach((bytes, index) => {
    if (typeof bytes === "number") return;
    const pipe = streams?.[firstOwn + index] as Socket | null | undefined;
    pipe?.on("error", () => {});
    pipe?.end(bytes);
  });
}

async function endTree(shell: number, mark: string, output: Output): Promise<void> {
  const giveUp = performance.now() + longestKillMs;
  for (let pauseMs = 1; performance.now() < giveUp; pauseMs *= 2) {
    let tree = killTree(shell, mark);
    if (tree.length === 0 && output.isClosed) return;
    // Looking at a few that are dying costs less than looking for others.
    do {
      await afterPoll(pauseMs, true);
      tree = tree.filter(isAlive);
    } while (tree.length > 0 && performance.now() < giveUp);
  }
}

function abortError(signal: AbortSignal | undefined): ToolError {
  return new ToolError({
    code: "aborted",
    toolName: "run_bash",
    message: "Aborted; the command and everything it started were killed",
    details: { reason: signal?.reason },
  });
}

/** Resolves at the time limit or the abort, whichever comes first. */
function waitForStop({ timeoutMs, signal }: ShellRequest): { promise: Promise<"limit" | "abort">; clear(): void } {
  let clear = (): void => {};
  const promise = new Promise<"limit" | "abort">((resolve) => {
    const onAbort = (): void => resolve("abort");
    // Through the poll phase first: an exit that came while the process was busy counts as one.
    const timer = setTimeout(() => setImmediate(resolve, "limit"), timeoutMs);
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    clear = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
  });
  return { promise, clear };
}

/** After `ms` and a poll phase, so that bytes waiting in a pipe have been read. */
function afterPoll(ms: number, keepsAlive: boolean): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(resolve), ms);
    if (!keepsAlive) timer.unref();
  });
}

/** Frees a chunk that has been read now: left to the garbage collector, some 50 MB of them pile up. */
function free(chunk: Buffer): void {
  const memory = chunk.buffer as ArrayBuffer & { transfer(length: number): ArrayBuffer };
  // A chunk that shares its memory with others is not ours to free.
  if (chunk.length === memory.byteLength) memory.transfer(0);
}

/** What a child prints, and when it is over. */
class Output {
  readonly #stdout = new HeadTailBuffer();
  readonly #stderr = new HeadTailBuffer();
  readonly #pipes: Socket[] = [];
  readonly #closed: Promise<void>;
  readonly exited: Promise<number>;
  isClosed = false;

  constructor(child: ChildProcess) {
    // Without descriptors left the child has no streams; its error event follows.
    for (const [stream, buffer] of [
      [child.stdout, this.#stdout],
      [child.stderr, this.#stderr],
    ] as const) {
      if (!stream) continue;
      this.#pipes.push(stream as Socket);
      stream.on("error", () => {});
      stream.on("data", (chunk: Buffer) => {
        buffer.push(chunk);
        free(chunk);
      });
    }
    this.exited = new Promise((resolve, reject) => {
      child.once("error", reject).once("exit", (code, signal) => resolve(exitCodeOf(code, signal)));
    });
    this.#closed = new Promise((resolve) => {
      child.once("close", () => {
        this.isClosed = true;
        resolve();
      });
    });
  }

  /** After the exit: when both pipes have ended, or nothing has come for a moment, or for the longest time to wait. */
  async drained(): Promise<void> {
    const giveUp = performance.now() + longestDrainMs;
    for (let seen = -1; seen !== this.#total && performance.now() < giveUp; ) {
      seen = this.#total;
      // The pipes keep the process alive while they are held.
      await Promise.race([this.#closed, afterPoll(quietMs, false)]);
      if (this.isClosed) return;
    }
  }

  texts(): { stdout: string; stderr: string } {
    return { stdout: this.#stdout.toString(), stderr: this.#stderr.toString() };
  }

  /**
   * A background child that holds a pipe would die of writing to a closed one, so what it writes is read and dropped, slowly,
   * for as long as it and this process live.
   */
  release(): void {
    for (const pipe of this.#pipes) {
      if (pipe.destroyed) continue;
      pipe.removeAllListeners("data");
      pipe.on("data", (chunk) => {
        free(chunk);
        pipe.pause();
        setTimeout(() => pipe.resume(), 10).unref();
      });
      pipe.unref();
    }
  }

  get #total(): number {
    return this.#stdout.total + this.#stderr.total;
  }
}
