import { NoThreadsError, type SearchThread, startSearchThread } from "./searchThread.ts";

/** Threads that search. None is started before the first call, and none keeps the process alive between calls. */
export interface SearchPool {
  /**
   * Waits for a thread, which the caller then has for itself. Rejects with the signal's reason, and with a `NoThreadsError` where
   * none can be started.
   */
  acquire(signal: AbortSignal | undefined): Promise<SearchThread>;
  /** A thread if one is free or may be started now, while nobody waits. */
  tryAcquire(): SearchThread | undefined;
  /** Why there is no thread at all: none could be started. */
  readonly problem: NoThreadsError | undefined;
  /** Whether a free thread is loaded. */
  readonly ready: boolean;
  /** Gives a thread back. One that is still at work is asked to stop, then ended. */
  release(thread: SearchThread): void;
}

/** Threads kept ready; ordinary calls use no more than these. */
const warmThreads = 2;
/** Most threads at once: so many patterns can hang before another call has to wait. */
const mostThreads = 24;
/** A call that has waited this long gets a thread of its own. */
const overflowAfterMs = 40;
/** Threads started at the same time: starting one takes some 30 ms of a core. */
const startedAtOnce = 4;
/** A thread with nothing to do is ended after this. */
const idleMs = 60_000;

interface Waiting {
  accept(thread: SearchThread): void;
  reject(reason: unknown): void;
}

export function createSearchPool(): SearchPool {
  const free: SearchThread[] = [];
  const idle = new WeakMap<SearchThread, NodeJS.Timeout>();
  const waiting: Waiting[] = [];
  let alive = 0;
  let overflowTimer: NodeJS.Timeout | undefined;

  /** Undefined where a thread cannot be started; waiting calls are rejected if there is no other thread to wait for. */
  const startThread = (): SearchThread | undefined => {
    try {
      const thread = startSearchThread((reason) => {
        alive -= 1;
        remove(free, thread);
        clearTimeout(idle.get(thread));
        if (!thread.ready && reason !== undefined) rejectWaiting(reason);
        serve();
      });
      alive += 1;
      pool.problem = undefined;
      return thread;
    } catch (error) {
      rejectWaiting(error);
      return undefined;
    }
  };

  const rejectWaiting = (reason: unknown): void => {
    if (alive > 0) return;
    pool.problem = new NoThreadsError(reason);
    for (const { reject } of waiting.splice(0)) reject(pool.problem);
  };

  // The thread that walked last knows the most directories: it walks again, and the other one helps.
  const take = (limit: number, asHelper = false): SearchThread | undefined => {
    const thread = (asHelper ? free.pop() : free.shift()) ?? (alive < limit ? startThread() : undefined);
    if (thread === undefined) return undefined;
    clearTimeout(idle.get(thread));
    thread.keepProcessAlive(true);
    return thread;
  };

  const serve = (limit: number = warmThreads): void => {
    while (waiting.length > 0) {
      const thread = take(limit);
      if (thread === undefined) break;
      waiting.shift()?.accept(thread);
    }
    clearTimeout(overflowTimer);
    if (waiting.length === 0) return;
    // Every thread may be busy with a pattern that hangs, so waiting calls get threads of their own.
    overflowTimer = setTimeout(() => serve(Math.min(alive + startedAtOnce, mostThreads)), overflowAfterMs);
  };

  const pool: SearchPool & { problem: NoThreadsError | undefined } = {
    problem: undefined,
    get ready() {
      return free.some((thread) => thread.ready);
    },
    tryAcquire: () => (waiting.length === 0 ? take(warmThreads, true) : undefined),
    acquire(signal) {
      const acquired = enqueue(waiting, signal);
      serve();
      return acquired;
    },
    release(thread) {
      thread.keepProcessAlive(false);
      thread.stop(() => {
        // Only free threads count: the others may hang for long, and starting a thread for each call meanwhile is slow.
        if (thread.lowered || (free.length >= warmThreads && waiting.length === 0)) {
          thread.end();
          return;
        }
        idle.set(thread, setTimeout(() => thread.end(), idleMs).unref());
        free.push(thread);
        serve();
      });
    },
  };
  return pool;
}

function remove<Item>(list: Item[], item: Item): void {
  const at = list.indexOf(item);
  if (at !== -1) list.splice(at, 1);
}

/** Adds a call to the waiting ones; an abort removes it. */
function enqueue(waiting: Waiting[], signal: AbortSignal | undefined): Promise<SearchThread> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<SearchThread>();
  const onAbort = (): void => {
    remove(waiting, own);
    reject(signal?.reason);
  };
  const own: Waiting = {
    accept(thread) {
      signal?.removeEventListener("abort", onAbort);
      resolve(thread);
    },
    reject(reason) {
      signal?.removeEventListener("abort", onAbort);
      reject(reason);
    },
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  waiting.push(own);
  return promise;
}

let shared: SearchPool | undefined;

/** The pool of the process, made by the first search: threads are kept warm once, however many tools there are. */
export function sharedSearchPool(): SearchPool {
  shared ??= createSearchPool();
  return shared;
}
