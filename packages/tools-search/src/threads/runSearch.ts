import { ToolError } from "@toolcrib/core";
import { clip, isObject } from "@toolcrib/core/text";
import { type Batch, BatchQueue } from "../engine/batchQueue.ts";
import { createClockReader } from "../engine/controlBlock.ts";
import { expressionSteps, quickSteps } from "../engine/expressionSteps.ts";
import { compilePlainGlobs } from "../engine/globs.ts";
import { type BatchResult, filesPerStart, filesPerTaker, type SearchJob, type WorkerMessage } from "../engine/job.ts";
import { longestLine } from "../engine/searchFile.ts";
import { createResult, joinBatches, type SearchResult, takeLines } from "../engine/searchResult.ts";
import type { Walk } from "../engine/walkBatches.ts";
import { startWalkHere, takeBatchesHere } from "./callerTaker.ts";
import { createSearchPool, type PoolMember, type SearchPool } from "./searchPool.ts";
import type { NoThreadsError, SearchThread } from "./searchThread.ts";

export interface RunOptions {
  signal: AbortSignal | undefined;
  /** Milliseconds that a caller's own pattern may match for; Infinity if the call has no pattern of its own. */
  matchLimitMs: number;
}

const pollMs = 50;
/** A thread that matches for this long without a pause gets a lower priority. */
const slowMs = 200;
/** An ordinary file takes a fraction of this: a pattern that matches for longer hangs. */
const hangMs = 1000;
/** Folders, or files that match no glob in sixteens, after which a thread walks: it remembers more of them for the next search. */
const mostEmptySteps = 200;
/** Few lines are longer. An expression that takes long on such a line is not begun on the caller's thread. */
const usualLine = 200;
/** Steps that an expression may take on one line where there is no other thread: 100 milliseconds. */
const mostSteps = 1e8;

/**
 * Runs one search: takers, threads of the pool and the caller's own until there are enough, empty its queue. Rejects with the signal's
 * reason, with a ToolError where no thread can be started for a pattern that needs one, or with an Error for one that does not compile.
 */
export function runSearch(pool: SearchPool, job: SearchJob, options: RunOptions): Promise<SearchResult> {
  if (options.signal?.aborted) return Promise.reject(options.signal.reason);
  return new RunningSearch(pool, job, options).result;
}

let shared: SearchPool | undefined;

/** Searches with the pool of the process: threads are kept warm once, however many tools there are. */
export function search(job: SearchJob, options: RunOptions): Promise<SearchResult> {
  shared ??= createSearchPool();
  return runSearch(shared, job, options);
}

class RunningSearch implements PoolMember {
  readonly #result = Promise.withResolvers<SearchResult>();
  readonly #pool: SearchPool;
  readonly #job: SearchJob;
  readonly #options: RunOptions;
  readonly #queue: BatchQueue;
  readonly #batches: BatchResult[] = [];
  readonly #threads = new Map<SearchThread, () => boolean>();
  readonly #started = performance.now();
  readonly #poll: NodeJS.Timeout;
  /** True if the caller's thread takes part. */
  #isHere = false;
  /** The walk of the caller's thread, until another takes it over. */
  #walk: Walk | undefined;
  /** The caller's thread is a taker while others start. */
  readonly #mostStarted: number;
  /** Files that the caller's thread has left to one that has yet to join. */
  readonly #left: Batch[] = [];
  #files = 0;
  /** Steps of the walk that found nothing. */
  #emptySteps = 0;
  /** The most threads that the pool was asked for: it knows, and gives them when they are free. */
  #asked = 0;
  #noThreads: NoThreadsError | undefined;
  #isOver = false;

  constructor(pool: SearchPool, job: SearchJob, options: RunOptions) {
    this.#pool = pool;
    this.#job = job;
    this.#options = options;
    this.#queue = job.query === undefined ? BatchQueue.forList() : new BatchQueue();
    this.#mostStarted = Math.min(pool.takers, pool.alive + Math.max(1, pool.takers - 1));
    const seen = job.starts.length > 1 ? new Set<string>() : undefined;
    this.#walk = startWalkHere(job, { start: 0, after: "", order: 0, seen }, true);
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
    // It keeps the process alive too, which threads do not.
    this.#poll = setInterval(() => this.#checkClocks(), pollMs);
    if (isBounded(job, usualLine, quickSteps)) this.#takeHere(true);
    else pool.ask(this);
  }

  get result(): Promise<SearchResult> {
    return this.#result.promise;
  }

  get joined(): number {
    return this.#threads.size;
  }

  get waits(): boolean {
    return this.joined === 0 && !this.#isHere && !this.#isOver && this.#noThreads === undefined;
  }

  get wanted(): { ready: number; started: number } {
    if (this.#noThreads || this.#isOver || this.#isEmptied) return { ready: 0, started: 0 };
    const least = this.waits || this.#left.length > 0 || this.#emptySteps > mostEmptySteps ? 1 : 0;
    // A list of files is made by whoever walks.
    const isList = this.#job.query === undefined;
    const per = (files: number, most: number): number =>
      Math.max(least, Math.min(most, Math.floor(this.#files / files)));
    return {
      ready: per(isList ? filesPerStart : filesPerTaker, isList ? 1 : this.#pool.takers),
      started: per(filesPerStart, isList ? 1 : this.#mostStarted),
    };
  }

  join(thread: SearchThread): void {
    const walk = this.#walk?.state === "over" ? undefined : this.#walk?.position;
    this.#walk = undefined;
    if (walk !== undefined) thread.walkedAt = performance.now();
    this.#threads.set(thread, this.#watch(thread));
    const { memory } = this.#queue;
    thread.start(
      { job: this.#job, queue: memory, left: this.#left.splice(0), walk },
      (message) => this.#onMessage(thread, message),
      (reason) => this.#finish(whyEnded(reason)),
    );
  }

  giveUp(reason: NoThreadsError): void {
    this.#noThreads = reason;
    if (!this.#isHere) this.#goOnAlone(reason);
  }

  #goOnAlone(reason: NoThreadsError): void {
    this.#walk &&= startWalkHere(this.#job, this.#walk.position, false);
    if (isBounded(this.#job, longestLine, mostSteps)) this.#takeHere(false);
    else this.#fail(refusal(this.#job, reason.message));
  }

  #takeHere(isQuick: boolean): void {
    this.#isHere = true;
    takeBatchesHere({
      job: this.#job,
      queue: this.#queue,
      isQuick,
      left: isQuick ? [] : this.#left.splice(0),
      getWalk: () => this.#walk,
      onResult: (batch) => this.#batches.push(batch),
      onFound: (files) => this.#count(files),
      onLeft: (batch) => {
        // A search that is over would never leave the pool again.
        if (this.#isOver) return;
        this.#left.push(batch);
        this.#pool.ask(this);
      },
      isOver: () => this.#isOver,
      countThreads: () => this.joined,
      takers: this.#pool.takers,
    }).then(
      () => this.#leaveHere(),
      (error) => this.#fail(error),
    );
  }

  #leaveHere(): void {
    this.#isHere = false;
    this.#goOn();
  }

  get #isEmptied(): boolean {
    return this.#left.length === 0 && this.#queue.isEmptied;
  }

  /** Ends the search if the last taker has left, or finds another for what the caller's thread left after that one had looked. */
  #goOn(): void {
    if (this.#isOver || this.#isHere || this.joined > 0) return;
    if (this.#isEmptied) this.#finish();
    else if (this.#noThreads === undefined) this.#pool.ask(this);
    else this.#goOnAlone(this.#noThreads);
  }

  #count(files: number): void {
    this.#files += files;
    if (files === 0) this.#emptySteps += 1;
    const { ready, started } = this.wanted;
    if (ready <= this.joined || ready + started <= this.#asked) return;
    this.#asked = ready + started;
    this.#pool.ask(this);
  }

  #onMessage(thread: SearchThread, message: WorkerMessage): void {
    if (message.kind === "batch") this.#batches.push(message.result);
    if (message.kind === "failed") this.#fail(new Error(message.message));
    if (message.kind === "found") this.#count(message.files);
    if (message.kind === "done" && this.#threads.delete(thread)) {
      this.#pool.release(thread);
      this.#goOn();
    }
  }

  #onAbort = (): void => this.#fail(this.#options.signal?.reason);

  #fail(reason: unknown): void {
    this.#result.reject(reason);
    this.#end();
  }

  #finish(unfinished?: SearchResult["unfinished"]): void {
    if (this.#isOver) return;
    const result = { ...createResult(), unfinished };
    try {
      joinBatches(this.#batches, this.#job, result);
      if (unfinished !== undefined) {
        for (const { control } of this.#threads.keys()) takeLines(control.savedLines(), this.#job, result);
      }
      this.#result.resolve(result);
    } catch {
      // The text is longer than a string can be.
      this.#result.reject(new Error("finds more than one reply can hold; pass a smaller max_results"));
    }
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#poll);
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#queue.stop();
    this.#pool.leave(this);
    for (const thread of this.#threads.keys()) this.#pool.release(thread);
    this.#threads.clear();
  }

  #checkClocks(): void {
    if (!Number.isFinite(this.#options.matchLimitMs)) return;
    for (const check of [...this.#threads.values()]) if (check()) return;
  }

  /** Makes a check of a thread's clock that ends the search once its pattern has taken too long. */
  #watch(thread: SearchThread): () => boolean {
    const readClock = createClockReader(thread.control, () => thread.lowered);
    const { matchLimitMs } = this.#options;
    return () => {
      const late = performance.now() - this.#started > matchLimitMs;
      const { spent, stretch } = readClock();
      if (stretch >= slowMs) thread.lowerPriority();
      // A call that waited long for its thread ends as soon as its pattern is seen to hang.
      if (spent < matchLimitMs && !(late && stretch >= hangMs)) return false;
      this.#finish({ kind: "time", reason: `matching took longer than ${matchLimitMs} ms` });
      return true;
    };
  }
}

/** Returns whether nothing in the job can hold up the thread it runs on: its globs are plain, and an expression takes so few steps on a line. */
function isBounded({ query, globs }: SearchJob, length: number, most: number): boolean {
  if (query?.regex) {
    const steps = expressionSteps(query.text, query.caseSensitive);
    const starts = steps?.prefix.length && length === usualLine ? 1 : undefined;
    if (steps === undefined || steps.on(length, starts) > most) return false;
  }
  return globs === undefined || compilePlainGlobs(globs) !== undefined;
}

/** Makes the error of a refusal. `reason` says why there is no other thread. */
function refusal({ query, globs }: SearchJob, reason: string): ToolError {
  const isGlob = globs !== undefined && compilePlainGlobs(globs) === undefined;
  const pattern = isGlob ? (globs.patterns[0] ?? "") : (query?.text ?? "");
  const instead = isGlob
    ? "a glob of *, **, ?, [a-z] and {a,b} only"
    : "a literal, or an expression with one * or + at most";
  const message = `Not searched: ${clip(pattern)} could run for very long, and ${reason}. Here pass ${instead}.`;
  return new ToolError({ code: "execution_failed", message });
}

function whyEnded(reason: unknown): SearchResult["unfinished"] {
  const { code, message } = isObject(reason) ? reason : {};
  if (code === "ERR_WORKER_OUT_OF_MEMORY") return { kind: "memory", reason: "it needs too much memory" };
  return { kind: "ended", reason: typeof message === "string" ? message : String(reason) };
}
