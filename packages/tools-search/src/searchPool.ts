import { type SearchThread, startSearchThread } from "./searchThread.ts";

/** Threads that search. None is started before the first call, and none keeps the process alive between calls. */
export interface SearchPool {
  /** Waits for a thread, which the caller then has for itself; rejects with the signal's reason. */
  acquire(signal: AbortSignal | undefined): Promise<SearchThread>;
  /** A thread if one is free or may be started now, while nobody waits. */
  tryAcquire(): SearchThread | undefined;
  /** Gives a thread back. One that is still at work is asked to stop, then ended. */
  release(thread: SearchThread): void;
}

/** Threads kept ready; as many serve ordinary calls. */
const warmThreads = 2;
/** Most threads at once: so many patterns may hang without holding up another call. */
const mostThreads = 24;
/** A call that has waited this long gets a thread of its own. */
const patienceMs = 40;
/** Threads started in one go: starting one takes some 30 ms of a core. */
const startedAtOnce = 4;
/** A thread with nothing to do is ended after this. */
const idleMs = 60_000;

export function createSearchPool(): SearchPool {
  const free: SearchThread[] = [];
  const idle = new Map<SearchThread, NodeJS.Timeout>();
  const waiting: ((thread: SearchThread) => void)[] = [];
  let alive = 0;
  let impatience: NodeJS.Timeout | undefined;

  const begin = (): SearchThread => {
    alive += 1;
    const thread = startSearchThread(() => {
      alive -= 1;
      const at = free.indexOf(thread);
      if (at !== -1) free.splice(at, 1);
      clearTimeout(idle.get(thread));
      idle.delete(thread);
      serve();
    });
    return thread;
  };

  const take = (limit: number): SearchThread | undefined => {
    const thread = free.pop() ?? (alive < limit ? begin() : undefined);
    if (thread === undefined) return undefined;
    clearTimeout(idle.get(thread));
    thread.hold(true);
    return thread;
  };

  const serve = (limit: number = warmThreads): void => {
    while (waiting.length > 0) {
      const thread = take(limit);
      if (thread === undefined) break;
      waiting.shift()?.(thread);
    }
    clearTimeout(impatience);
    if (waiting.length === 0) return;
    // Every thread may be hanging in somebody's pattern: those who wait do not wait for that.
    impatience = setTimeout(() => serve(Math.min(alive + startedAtOnce, mostThreads)), patienceMs);
  };

  return {
    tryAcquire: () => (waiting.length === 0 ? take(warmThreads) : undefined),
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
        const accept = (thread: SearchThread): void => {
          signal?.removeEventListener("abort", onAbort);
          resolve(thread);
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        waiting.push(accept);
        serve();
      });
    },
    release(thread) {
      thread.stop(() => {
        if (thread.lowered || (alive > warmThreads && waiting.length === 0)) {
          thread.end();
          return;
        }
        thread.hold(false);
        idle.set(thread, setTimeout(() => thread.end(), idleMs).unref());
        free.push(thread);
        serve();
      });
    },
  };
}

let shared: SearchPool | undefined;

/** The pool of the process, made by the first search: threads are kept warm once, however many tools there are. */
export function sharedSearchPool(): SearchPool {
  shared ??= createSearchPool();
  return shared;
}
