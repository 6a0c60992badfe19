import { constants, setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { createControl, type Job, slots, threadIdStart, type WorkerMessage } from "./protocol.ts";

/** A worker that one call has for itself. */
export interface Lease {
  /** Shared with the worker: flags, its clock and what it salvages. */
  readonly control: SharedArrayBuffer;
  /** Starts the job; `onMessage` gets what the worker says, `onDeath` why it ended by itself. */
  start(job: Job, onMessage: (message: WorkerMessage) => void, onDeath: (reason: string) => void): void;
  /** Lets every other thread go before this one, for a job that hangs. Linux only. */
  yieldToOthers(): void;
  /** Gives the worker back. One that is still at work is asked to stop, then ended. */
  release(): void;
}

/** Threads that search. None is started before the first call, and none keeps the process alive between calls. */
export interface SearchPool {
  /** Waits for a worker; rejects with the signal's reason. */
  acquire(signal: AbortSignal | undefined): Promise<Lease>;
  /** A worker if one is free or may be started now, while nobody waits. */
  tryAcquire(): Lease | undefined;
}

/** Workers kept ready; as many serve ordinary calls. */
const warmWorkers = 2;
/** Most workers at once: so many patterns may hang without holding up another call. */
const mostWorkers = 24;
/** A call that has waited this long gets a worker of its own. */
const patienceMs = 40;
/** Workers started in one go: starting one takes some 30 ms of a core. */
const startedAtOnce = 4;
/** How long a worker that is asked to stop may take. */
const stopMs = 50;
/** A worker with nothing to do is ended after this. */
const idleMs = 60_000;

const memoryLimits = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

interface Thread {
  worker: Worker;
  control: SharedArrayBuffer;
  flags: Int32Array;
  busy: boolean;
  alive: boolean;
  /** Its priority was lowered, which cannot be undone. */
  lowered: boolean;
  onMessage: ((message: WorkerMessage) => void) | undefined;
  onDeath: ((reason: string) => void) | undefined;
  idle: NodeJS.Timeout | undefined;
}

export function createSearchPool(): SearchPool {
  const free: Thread[] = [];
  const waiting: ((thread: Thread) => void)[] = [];
  let alive = 0;
  let impatience: NodeJS.Timeout | undefined;

  const end = (thread: Thread): void => {
    if (!thread.alive) return;
    thread.alive = false;
    alive -= 1;
    clearTimeout(thread.idle);
    const at = free.indexOf(thread);
    if (at !== -1) free.splice(at, 1);
    void thread.worker.terminate();
    serve();
  };

  const begin = (): Thread => {
    alive += 1;
    const thread = startThread();
    const die = (reason: string): void => {
      const { onDeath } = thread;
      thread.onDeath = undefined;
      end(thread);
      onDeath?.(reason);
    };
    thread.worker.on("message", (message: WorkerMessage) => {
      if (message.kind === "done") thread.busy = false;
      thread.onMessage?.(message);
    });
    thread.worker.on("error", (error: unknown) => die(deathReason(error)));
    thread.worker.on("exit", () => die("the search thread ended"));
    return thread;
  };

  const take = (limit: number): Thread | undefined => {
    const thread = free.pop() ?? (alive < limit ? begin() : undefined);
    if (thread !== undefined) {
      clearTimeout(thread.idle);
      thread.worker.ref();
    }
    return thread;
  };

  const serve = (limit: number = warmWorkers): void => {
    while (waiting.length > 0) {
      const thread = take(limit);
      if (thread === undefined) break;
      waiting.shift()?.(thread);
    }
    clearTimeout(impatience);
    // Every thread may be hanging in somebody's pattern: those who wait do not wait for that.
    impatience =
      waiting.length > 0
        ? setTimeout(() => serve(Math.min(alive + startedAtOnce, mostWorkers)), patienceMs)
        : undefined;
  };

  const giveBack = (thread: Thread): void => {
    if (!thread.alive) return;
    thread.onMessage = undefined;
    thread.onDeath = undefined;
    if (thread.lowered || (alive > warmWorkers && waiting.length === 0)) {
      end(thread);
      return;
    }
    thread.worker.unref();
    thread.idle = setTimeout(() => end(thread), idleMs);
    thread.idle.unref();
    free.push(thread);
    serve();
  };

  const lease = (thread: Thread): Lease => ({
    control: thread.control,
    start(job, onMessage, onDeath) {
      thread.flags.fill(0);
      thread.busy = true;
      thread.onMessage = onMessage;
      thread.onDeath = onDeath;
      thread.worker.postMessage(job, job.kind === "help" ? [job.port] : []);
    },
    yieldToOthers() {
      const id = new Int32Array(thread.control, threadIdStart, 1)[0] ?? 0;
      if (thread.lowered || id === 0) return;
      thread.lowered = true;
      try {
        setPriority(id, constants.priority.PRIORITY_LOW);
      } catch {
        // Forbidden here: the thread competes as before.
      }
    },
    release() {
      if (!thread.alive) return;
      if (!thread.busy) {
        giveBack(thread);
        return;
      }
      Atomics.store(thread.flags, slots.stop, 1);
      const timer = setTimeout(() => end(thread), stopMs);
      thread.onDeath = () => clearTimeout(timer);
      thread.onMessage = (message) => {
        if (message.kind !== "done") return;
        clearTimeout(timer);
        giveBack(thread);
      };
    },
  });

  return {
    tryAcquire() {
      const thread = waiting.length === 0 ? take(warmWorkers) : undefined;
      return thread && lease(thread);
    },
    acquire(signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const onAbort = (): void => {
          waiting.splice(waiting.indexOf(accept), 1);
          reject(signal?.reason);
        };
        const accept = (thread: Thread): void => {
          signal?.removeEventListener("abort", onAbort);
          resolve(lease(thread));
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        waiting.push(accept);
        serve();
      });
    },
  };
}

function startThread(): Thread {
  const control = createControl();
  // Sources run as TypeScript, the published files as JavaScript.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./searchWorker.${extension}`, import.meta.url), {
    name: "toolcrib-search",
    workerData: control,
    resourceLimits: memoryLimits,
    execArgv: [],
    env: {},
    stdin: false,
  });
  return {
    worker,
    control,
    flags: new Int32Array(control, 0, 4),
    busy: false,
    alive: true,
    lowered: false,
    onMessage: undefined,
    onDeath: undefined,
    idle: undefined,
  };
}

function deathReason(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return code === "ERR_WORKER_OUT_OF_MEMORY" ? "it needs too much memory" : String(error);
}

let shared: SearchPool | undefined;

/** The pool of the process, made by the first search: threads are kept warm once, however many tools there are. */
export function sharedSearchPool(): SearchPool {
  shared ??= createSearchPool();
  return shared;
}
