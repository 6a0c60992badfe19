import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { CommandOutput } from "./headTailBuffer.ts";
import type { PipeEnds } from "./outputPipes.ts";
import { exitCodeOf, isBun, openSocket } from "./platform.ts";
import { PolledReader } from "./polledPipe.ts";

/** After the exit, output counts as complete when nothing has come for this long, even if a background child holds the pipe. */
const quietMs = 100;
const longestDrainMs = 2000;

/** Frees the memory of a chunk at once: up to 50 MB would wait for the garbage collector. */
function free(chunk: Buffer): void {
  const memory = chunk.buffer as ArrayBuffer & { transfer(length: number): ArrayBuffer };
  // Not if other chunks share the memory.
  if (chunk.length === memory.byteLength) memory.transfer(0);
}

/** The output of a child, and when it has ended. */
export class ChildOutput {
  readonly #sinks: CommandOutput;
  #total = 0;
  readonly #pipes: Socket[] = [];
  readonly exited: Promise<number>;
  isClosed = false;
  /** Handles its close. */
  #onClose = (): void => {};

  /** Reads the child's own streams if there are no `pipes`. */
  constructor(child: ChildProcess, sinks: CommandOutput, pipes: readonly PipeEnds[] | undefined) {
    this.#sinks = sinks;
    const streams = pipes?.map(({ read }) =>
      isBun ? new PolledReader(read) : openSocket({ fd: read, readable: true, writable: false }),
    );
    // Those of a child that was not started are of no kind that could be used.
    const [stdout, stderr] = streams ?? (child.pid === undefined ? [] : [child.stdout, child.stderr]);
    for (const [stream, sink] of [
      [stdout, sinks.stdout],
      [stderr, sinks.stderr],
    ] as const) {
      if (!stream) continue;
      this.#pipes.push(stream as Socket);
      stream.once("close", () => this.#closed());
      stream.on("error", () => {});
      stream.on("data", (chunk: Buffer) => {
        this.#total += chunk.length;
        sink.push(chunk);
        free(chunk);
      });
    }
    this.exited = new Promise((resolve, reject) => {
      child.once("error", reject).once("exit", (code, signal) => resolve(exitCodeOf(code, signal)));
    });
  }

  /** Records that one of the pipes has ended. */
  #closed(): void {
    this.isClosed = this.#pipes.every(({ destroyed }) => destroyed);
    if (this.isClosed) this.#onClose();
  }

  /** Resolves, when called after the exit, once both pipes have ended, nothing has come for a moment, or the longest wait is over. */
  async drained(): Promise<void> {
    const giveUp = performance.now() + longestDrainMs;
    for (let seen = -1; !this.isClosed && seen !== this.#total && performance.now() < giveUp; ) {
      seen = this.#total;
      await this.#closedOrQuiet();
    }
  }

  #closedOrQuiet(): Promise<void> {
    return new Promise((resolve) => {
      // After a poll phase. It need not keep this process alive: the open pipes do.
      const timer = setTimeout(() => setImmediate(resolve), quietMs).unref();
      this.#onClose = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Lets this process end while the pipes are open. */
  unref(): void {
    for (const pipe of this.#pipes) pipe.unref();
  }

  texts(): { stdout: string; stderr: string } {
    return { stdout: this.#sinks.stdout.toString(), stderr: this.#sinks.stderr.toString() };
  }

  /**
   * Keeps reading pipes that a background child still holds, slowly, and drops the bytes: writing to a closed pipe would end the
   * child.
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
}

/** Resolves after `ms` and a poll phase, so that bytes waiting in a pipe have been read. */
export function afterPoll(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(() => setImmediate(resolve), ms));
}
