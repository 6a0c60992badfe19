// The threads in which programs run: a few, each with one program at a time; further programs wait for one.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { isObject, messageOf } from "@toolcrib/core/text";
import {
  busySince,
  type FromThread,
  type ProgramStart,
  printedBytes,
  stopAsked,
  type ThreadData,
  type ToThread,
  words,
} from "./messages.ts";

/** Most programs that run at once. Most of the time they wait for tools, so there may be more of them than processors. */
const mostThreads = 4;
/** An idle thread ends after so long. */
const idleMs = 30_000;
/** Milliseconds beyond its limit after which a thread is ended from here: the engine looks at the time itself, late on a busy machine. */
const graceMs = 2000;
/** The same for one that is to stop. */
const stopMs = 1000;
/** Bytes of output that are kept of a program whose thread must be ended. */
const mostPrinted = 64 * 1024;
/** The stack of the thread holds the engine's own, of at most 512 KiB, several times. */
const resourceLimits = { stackSizeMb: 8 };
/** None of the program's flags, variables or input. */
const options = { name: "toolcrib-program", execArgv: [], env: {}, stdin: false, resourceLimits };

/** Is told what a program does, and nothing after its end. */
export type ProgramListener = (message: FromThread) => void;

/** A program in its thread. */
export type RunningProgram = Pick<ProgramThread, "send" | "stop" | "release">;

class ProgramThread {
  readonly #worker: Worker;
  readonly #shared = new Float64Array(new SharedArrayBuffer(24));
  readonly #printed = Buffer.from(new SharedArrayBuffer(mostPrinted));
  #listener: ProgramListener | undefined;
  #limitMs = 0;
  /** Messages to the program that it has not answered: its start, and results. */
  #unanswered = 0;
  #watch: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  hasEnded = false;

  constructor(module: WebAssembly.Module) {
    this.#worker = startWorker({ module, shared: this.#shared, printed: this.#printed });
    this.#worker.unref();
    this.#worker.on("message", (message: FromThread) => this.#take(message));
    this.#worker.on("error", (error) => this.#ended(whyEnded(error)));
    this.#worker.on("exit", () => this.#ended("its thread ended"));
  }

  start(program: ProgramStart, listener: ProgramListener): void {
    clearTimeout(this.#idle);
    this.#shared[printedBytes] = 0;
    this.#shared[stopAsked] = 0;
    this.#worker.ref();
    this.#listener = listener;
    this.#limitMs = program.limits.guestTimeoutMs;
    this.#unanswered = 0;
    this.send({ type: "start", program });
  }

  send(message: ToThread): void {
    if (!this.#listener) return;
    this.#worker.postMessage(message);
    this.#unanswered += 1;
    this.#watchFor(this.#limitMs + graceMs);
  }

  /** Ends the program at once if it runs, and otherwise where it waits; `end` is told either way. */
  stop(): void {
    if (!this.#listener) return;
    this.#shared[stopAsked] = 1;
    this.#worker.postMessage({ type: "stop" } satisfies ToThread);
    this.#watchFor(stopMs, 0);
  }

  /** Hands the thread on, or lets it wait for the next program for a while. Called once, after the end. */
  release(): void {
    if (!this.hasEnded) {
      resting.push(this);
      this.#worker.unref();
      this.#idle = setTimeout(() => {
        resting.splice(resting.indexOf(this), 1);
        this.#stopThread();
      }, idleMs).unref();
    }
    freeThread();
  }

  #take(message: FromThread): void {
    const listener = this.#listener;
    this.#unanswered -= 1;
    if (message.type === "end") {
      this.#listener = undefined;
      if (message.isSpent) this.#stopThread();
    }
    if (message.type === "end" || this.#unanswered === 0) clearTimeout(this.#watch);
    listener?.(message);
  }

  /** Ends the thread if the guest still runs then and has run for too long: some work of the engine does not look at the time. */
  #watchFor(afterMs: number, mostMs = afterMs): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => {
      const since = this.#shared[busySince];
      // Without it, the guest has not begun: a busy machine starts a thread late.
      const left = since ? since + mostMs - Date.now() : graceMs;
      // The same words as those of the thread, which on a busy machine may only be late to find its limit.
      if (left > 0) this.#watchFor(left, mostMs);
      else if (this.#shared[stopAsked] === 1) this.#ended(words.stopped, "stopped");
      else this.#ended(words.time(this.#limitMs), "time");
    }, afterMs).unref();
  }

  #ended(message: string, failed: "engine" | "time" | "stopped" = "engine"): void {
    clearTimeout(this.#idle);
    this.#stopThread();
    const output = { head: this.#printed.toString("utf8", 0, this.#shared[printedBytes]), tail: "", bytes: 0 };
    this.#take({ type: "end", end: { refusedCalls: 0, unhandled: 0, unseen: [], failed, message }, output, calls: [] });
  }

  #stopThread(): void {
    this.hasEnded = true;
    void this.#worker.terminate();
  }
}

function startWorker(workerData: ThreadData): Worker {
  // Bundlers recognise this form and copy the file. The build puts the built file's name here.
  if (process.versions.pnp === undefined)
    return new Worker(new URL("./programWorker.ts", import.meta.url), { ...options, workerData });
  // Yarn's loader, which reads files out of archives, is not in the thread. The built file imports nothing but Node's own.
  const text = readFileSync(new URL("./programWorker.ts", import.meta.url)).toString("base64");
  return new Worker(new URL(`data:text/javascript;base64,${text}`), { ...options, workerData });
}

function whyEnded(error: unknown): string {
  const isForbidden = isObject(error) && error.code === "ERR_ACCESS_DENIED";
  return isForbidden ? "Node's permission model forbids threads; start node with --allow-worker" : messageOf(error);
}

let module: Promise<WebAssembly.Module> | undefined;
const resting: ProgramThread[] = [];
const waiting: (() => void)[] = [];
let running = 0;

/** Compiles the engine, once for all threads. */
async function compileEngine(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm"))));
}

/**
 * Starts a program as soon as a thread is free. `isInner`: it runs within a call of another program, which holds a thread until this one has
 * ended, so it does not wait for one. Rejects with the signal's reason if that fires first.
 */
export async function startProgram(
  program: ProgramStart,
  listener: ProgramListener,
  { signal, isInner }: { readonly signal: AbortSignal | undefined; readonly isInner: boolean },
): Promise<RunningProgram> {
  module ??= compileEngine();
  // A file that cannot be read now may be there the next time.
  module.catch(() => {
    module = undefined;
  });
  const engine = await module;
  signal?.throwIfAborted();
  if (running >= mostThreads && !isInner) await threadFree(signal);
  else running += 1;
  try {
    let thread = resting.pop();
    while (thread?.hasEnded) thread = resting.pop();
    thread ??= new ProgramThread(engine);
    thread.start(program, listener);
    return thread;
  } catch (error) {
    freeThread();
    throw error;
  }
}

/** Resolves once another program hands its thread on. */
function threadFree(signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const begin = (): void => {
    signal?.removeEventListener("abort", leave);
    resolve();
  };
  const leave = (): void => {
    waiting.splice(waiting.indexOf(begin), 1);
    reject(signal?.reason);
  };
  signal?.addEventListener("abort", leave, { once: true });
  waiting.push(begin);
  return promise;
}

function freeThread(): void {
  const next = running > mostThreads ? undefined : waiting.shift();
  if (next) next();
  else running -= 1;
}
