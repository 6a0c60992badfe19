import { Worker } from "node:worker_threads";
import type { JsonSchema } from "../interface.ts";
import { moduleAsData, processorMs, workerOptions } from "../workerThread.ts";
import type { ValidationError } from "./schemaLibrary.ts";
import { NoThread, TooMuchWork } from "./workLimit.ts";

/** How much work one check may be: with a pattern that could run away, and without. An ordinary one takes under a millisecond. */
const patternLimitMs = 1000;
const checkLimitMs = 4000;
/** How much work the checks before it may be. */
const waitLimitMs = 4000;
/** Work is the thread's processor time. Where the system does not report that, time on the clock counts, several times as much of it. */
const patience = 4;
/** How long the thread may take to start on a busy machine, and how long a failed start is not repeated. */
const startLimitMs = 60_000;
const startAgainMs = 60_000;

/** A regular expression cannot be interrupted, a thread can: the one warm thread is ended and replaced when it hangs. */
let ready: Promise<Thread> | undefined;
let live: Worker | undefined;
let failedStart: { readonly error: NoThread; readonly at: number } | undefined;
let queue: Promise<unknown> = Promise.resolve();
/** Work of all checks that have ended. */
let workedMs = 0;

interface Thread {
  readonly worker: Worker;
  /** Milliseconds on one clock. */
  readonly now: () => number;
  /** How many of them may pass for one of work. */
  readonly patience: number;
}

/**
 * Errors of `value` under `schema`, found off the main thread. Rejects with TooMuchWork for a check that takes too long, and with
 * NoThread where no thread can be started.
 */
export function validateInThread(
  schema: JsonSchema,
  value: unknown,
  mayBacktrack: boolean,
): Promise<readonly ValidationError[]> {
  const before = workedMs;
  const result = queue.then(async () => {
    if (workedMs - before > waitLimitMs) throw new TooMuchWork("other checks take too long; try again");
    return check(await warmThread(), { schema, value }, mayBacktrack ? patternLimitMs : checkLimitMs);
  });
  queue = result.catch(() => undefined);
  return result;
}

interface Check {
  readonly schema: JsonSchema;
  readonly value: unknown;
}

async function check(thread: Thread, question: Check, limitMs: number): Promise<readonly ValidationError[]> {
  const { worker, now } = thread;
  const { promise, resolve, reject } = Promise.withResolvers<readonly ValidationError[]>();
  const began = now();
  const workSoFar = (): number => (now() - began) / thread.patience;
  let timer: NodeJS.Timeout | undefined;
  const watch = (): void => {
    const left = limitMs - workSoFar();
    if (left <= 0) fail(new TooMuchWork(`that takes over ${limitMs} ms; pass fewer or smaller values`));
    else timer = setTimeout(watch, Math.max(left * thread.patience, 10));
  };
  const fail = (reason: unknown): void => {
    end(worker);
    reject(reason);
  };
  const onExit = (): void => fail(new Error("the thread ended"));
  worker.ref();
  worker.on("message", resolve).on("error", fail).on("exit", onExit);
  try {
    worker.postMessage(question);
    watch();
    return await promise;
  } finally {
    clearTimeout(timer);
    workedMs += Math.min(workSoFar(), limitMs);
    worker.off("message", resolve).off("error", fail).off("exit", onExit);
    worker.unref();
  }
}

function warmThread(): Promise<Thread> {
  if (failedStart && Date.now() - failedStart.at < startAgainMs) return Promise.reject(failedStart.error);
  ready ??= start();
  return ready;
}

/** A thread that has said it is ready. A host may refuse it at once (the permission model) or later (no such file in a bundle). */
async function start(): Promise<Thread> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let worker: Worker | undefined;
  const timer = setTimeout(() => reject(new Error(`it did not start within ${startLimitMs} ms`)), startLimitMs);
  try {
    worker = createWorker();
    live = worker;
    const made = worker;
    // Kept for its whole life: an error while it is idle must not end the process.
    made.on("error", (error: unknown) => {
      end(made);
      reject(error);
    });
    made.on("exit", () => {
      end(made);
      reject(new Error("it ended at once"));
    });
    made.once("message", resolve);
    const id = await promise;
    made.unref();
    const known = processorMs(id) !== undefined;
    return {
      worker: made,
      now: known ? () => processorMs(id) ?? Number.POSITIVE_INFINITY : () => performance.now(),
      patience: known ? 1 : patience,
    };
  } catch (cause) {
    if (worker) end(worker);
    ready = undefined;
    failedStart = { error: new NoThread("no thread could be started", { cause }), at: Date.now() };
    throw failedStart.error;
  } finally {
    clearTimeout(timer);
  }
}

function createWorker(): Worker {
  const options = { ...workerOptions, name: "toolcrib-arguments", resourceLimits: { maxOldGenerationSizeMb: 128 } };
  // In this form bundlers find the file and carry it along. The build puts the built file's name here.
  return process.versions.pnp === undefined
    ? new Worker(new URL("./validationWorker.ts", import.meta.url), options)
    : new Worker(moduleAsData(new URL("./validationWorker.ts", import.meta.url)), options);
}

function end(worker: Worker): void {
  if (live === worker) ready = undefined;
  void worker.terminate();
}
