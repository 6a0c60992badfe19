import { availableParallelism } from "node:os";
import { NoThreadsError, type SearchThread, startSearchThread } from "./searchThread.ts";

/** A search, to the pool. */
export interface PoolMember {
  /** Threads that take part. */
  readonly joined: number;
  /** The number that could, and how many of them are worth starting. */
  readonly wanted: { readonly ready: number; readonly started: number };
  /** True if it can do nothing before a thread joins. */
  readonly waits: boolean;
  join(thread: SearchThread): void;
  /** Tells that no thread can be started, and none will. */
  giveUp(reason: NoThreadsError): void;
}

/** Takers of a search at most, whatever the machine has. */
const mostTakers = 8;
/** Most threads at once: so many patterns can hang before another call has to wait. */
const mostThreads = 24;
/** A call that has waited this long gets a thread of its own. */
const overflowAfterMs = 40;
/** Threads started at the same time: starting one takes some 30 ms of a core. */
const startedAtOnce = 4;
/** A thread with nothing to do is ended after this. */
const idleMs = 60_000;

/** The part of a pool that a search uses. */
export type SearchPool = Pick<ThreadPool, "takers" | "alive" | "ask" | "leave" | "release">;

/** Makes a pool of its own, with so many takers for a search at most. */
export function createSearchPool(takers: number = Math.min(mostTakers, availableParallelism())): SearchPool {
  return new ThreadPool(takers);
}

/** Shares threads among searches. None is started before a search wants it, and none keeps the process alive. */
class ThreadPool {
  /** Takers that one search has at most. */
  readonly takers: number;
  /** Threads kept ready: a second one even on one processor, so that an expression that takes long holds up no other search. */
  readonly #warmThreads: number;
  readonly #members = new Set<PoolMember>();
  readonly #free: SearchThread[] = [];
  readonly #idle = new WeakMap<SearchThread, NodeJS.Timeout>();
  #alive = 0;
  #starting = 0;
  #hasWorked = false;
  /** Set once threads are known not to start in this process. */
  #problem: NoThreadsError | undefined;
  #overflowTimer: NodeJS.Timeout | undefined;

  constructor(takers: number) {
    this.takers = takers;
    this.#warmThreads = Math.max(2, takers);
  }

  /** Threads that are there, or being started. */
  get alive(): number {
    return this.#alive;
  }

  /** Adds a search, or looks again at what it wants. */
  ask(member: PoolMember): void {
    this.#members.add(member);
    if (this.#problem === undefined) this.#serve();
    else if (member.waits || member.wanted.started > 0) member.giveUp(this.#problem);
  }

  /** Takes a search that is over out of the pool. */
  leave(member: PoolMember): void {
    this.#members.delete(member);
    this.#serve();
  }

  /** Takes a thread back. One that is still at work is asked to stop, then ended. */
  release(thread: SearchThread): void {
    thread.stop(() => {
      // Only free threads count: the others may hang for long, and starting a thread for each call meanwhile is slow.
      if (thread.lowered || this.#free.length >= this.#warmThreads) thread.end();
      else this.#keep(thread);
    });
  }

  #keep(thread: SearchThread): void {
    this.#idle.set(thread, setTimeout(() => thread.end(), idleMs).unref());
    this.#free.push(thread);
    this.#serve();
  }

  /** Gives free threads to the searches that have the fewest, and starts those that are worth it. */
  #serve(limit: number = this.#warmThreads): void {
    let toStart = -this.#starting;
    for (const member of [...this.#members].sort((a, b) => a.joined - b.joined)) {
      while (member.joined < member.wanted.ready && this.#free.length > 0) this.#join(member);
      const worth = Math.max(0, member.wanted.started - member.joined);
      toStart += limit === this.#warmThreads ? worth : Number(member.waits);
    }
    for (let more = Math.min(toStart, limit - this.#alive); more > 0; more -= 1) this.#start();
    clearTimeout(this.#overflowTimer);
    // Every thread may be busy with a pattern that hangs, so waiting searches get threads of their own.
    if (![...this.#members].some(({ waits }) => waits)) return;
    const overflow = (): void => this.#serve(Math.min(this.#alive + startedAtOnce, mostThreads));
    this.#overflowTimer = setTimeout(overflow, overflowAfterMs);
  }

  #join(member: PoolMember): void {
    // The thread that walked last knows the most directories: it joins first, and walks again.
    this.#free.sort((a, b) => b.walkedAt - a.walkedAt);
    const thread = member.joined === 0 ? this.#free.shift() : this.#free.pop();
    if (!thread) return;
    clearTimeout(this.#idle.get(thread));
    member.join(thread);
  }

  #start(): void {
    let isReady = false;
    const onReady = (): void => {
      isReady = true;
      this.#hasWorked = true;
      this.#starting -= 1;
      this.#keep(thread);
    };
    const onEnd = (reason: unknown): void => {
      this.#alive -= 1;
      const at = this.#free.indexOf(thread);
      if (at !== -1) this.#free.splice(at, 1);
      clearTimeout(this.#idle.get(thread));
      if (!isReady) {
        this.#starting -= 1;
        this.#fail(reason);
      }
      this.#serve();
    };
    let thread: SearchThread;
    try {
      thread = startSearchThread(onReady, onEnd);
      this.#alive += 1;
      this.#starting += 1;
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(reason: unknown): void {
    if (this.#alive > 0) return;
    const problem = new NoThreadsError(reason);
    // If a thread has worked before, the machine may only be short of threads for a while.
    if (!this.#hasWorked && this.#problem === undefined) {
      this.#problem = problem;
      process.emitWarning(
        `@toolcrib/tools-search searches on the main thread and refuses patterns that could run away: ${problem.message}`,
        { code: "TOOLCRIB_SEARCH_THREADS" },
      );
    }
    for (const member of [...this.#members]) member.giveUp(problem);
  }
}
