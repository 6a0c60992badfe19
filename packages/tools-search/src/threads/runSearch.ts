import type { BatchResult, FilesJob, TextJob, WorkerMessage } from "../shared/jobs.ts";
import { createClockReader } from "../shared/matchClock.ts";
import { createResult, joinBatches, type SearchResult, takeLines } from "../shared/searchResult.ts";
import type { SearchPool } from "./searchPool.ts";
import { NoThreadsError, type SearchThread } from "./searchThread.ts";

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

/**
 * Runs one search on the pool. Rejects with the signal's reason, with a `NoThreadsError` where none can be started, or with an
 * Error for a pattern that does not compile.
 */
export async function runSearch(pool: SearchPool, job: TextJob | FilesJob, options: RunOptions): Promise<SearchResult> {
  const started = performance.now();
  const first = await pool.acquire(options.signal);
  const threads: SearchThread[] = [first];
  try {
    return await new Promise((resolve, reject) => follow(pool, job, { ...options, started }, threads, resolve, reject));
  } finally {
    for (const thread of threads) pool.release(thread);
  }
}

function follow(
  pool: SearchPool,
  job: TextJob | FilesJob,
  { signal, matchLimitMs, started }: RunOptions & { started: number },
  threads: SearchThread[],
  resolve: (result: SearchResult) => void,
  reject: (reason: unknown) => void,
): void {
  const first = threads[0] as SearchThread;
  const batches: BatchResult[] = [];
  const result = createResult();
  let running = 1;

  const leave = (end: () => void): void => {
    clearInterval(poll);
    signal?.removeEventListener("abort", onAbort);
    end();
  };
  const finish = (unfinished?: SearchResult["unfinished"]): void =>
    leave(() => {
      result.unfinished = unfinished;
      try {
        if (job.kind === "text") joinBatches(batches, job, result);
      } catch {
        // The text is longer than a string can be.
        reject(new Error("finds too much to answer; pass a smaller max_results"));
      }
      if (job.kind === "text" && unfinished !== undefined) {
        for (const { control } of threads) takeLines(control.savedLines(), job, result);
      }
      resolve(result);
    });
  const onAbort = (): void => leave(() => reject(signal?.reason));
  const onFailure = (thread: SearchThread, reason: unknown): void => {
    if (thread.ready) finish(whyEnded(reason));
    // A helper that never started took nothing over.
    else if (thread !== first) endOne();
    else leave(() => reject(new NoThreadsError(reason)));
  };
  const endOne = (): void => {
    running -= 1;
    if (running === 0) finish();
  };
  const onMessage = (message: WorkerMessage): void => {
    switch (message.kind) {
      case "ready":
        return;
      case "matches":
        batches.push(message);
        if (message.more) first.control.stopBeforeNextBatch();
        return;
      case "files": {
        const { text, shown, total } = message;
        Object.assign(result, { text, shown, total, more: shown < total });
        return;
      }
      case "large": {
        const helper = job.kind === "text" ? pool.tryAcquire() : undefined;
        if (helper === undefined || job.kind !== "text") {
          message.port.close();
          return;
        }
        threads.push(helper);
        running += 1;
        helper.start({ kind: "help", job, port: message.port, control: first.control.memory }, onMessage, (reason) =>
          onFailure(helper, reason),
        );
        return;
      }
      case "failed":
        leave(() => reject(new Error(message.message)));
        return;
      case "done":
        result.problems.push(...message.problems);
        result.problemCount += message.problemCount;
        result.leftOut += message.leftOut;
        endOne();
    }
  };

  const watch = watchClock(matchLimitMs, started, finish);
  const checks = new Map<SearchThread, () => boolean>();
  signal?.addEventListener("abort", onAbort, { once: true });
  const poll = Number.isFinite(matchLimitMs)
    ? setInterval(() => {
        for (const thread of threads) {
          const check = checks.get(thread) ?? watch(thread);
          checks.set(thread, check);
          if (check()) return;
        }
      }, pollMs)
    : undefined;
  if (signal?.aborted) onAbort();
  else first.start(job, onMessage, (reason) => onFailure(first, reason));
}

/** Makes a check of one thread's clock that ends the search once its pattern has taken too long. */
function watchClock(matchLimitMs: number, started: number, finish: (unfinished: SearchResult["unfinished"]) => void) {
  return (thread: SearchThread): (() => boolean) => {
    const readClock = createClockReader(thread.control, () => thread.lowered);
    return () => {
      const late = performance.now() - started > matchLimitMs;
      const { spent, stretch } = readClock();
      if (stretch >= slowMs) thread.lowerPriority();
      // A call that waited long for its thread ends as soon as its pattern is seen to hang.
      if (spent < matchLimitMs && !(late && stretch >= hangMs)) return false;
      finish({ kind: "time", reason: `matching took longer than ${matchLimitMs} ms` });
      return true;
    };
  };
}

function whyEnded(reason: unknown): SearchResult["unfinished"] {
  const { code, message } = (reason ?? {}) as { code?: unknown; message?: unknown };
  if (code === "ERR_WORKER_OUT_OF_MEMORY") return { kind: "memory", reason: "it needs too much memory" };
  return { kind: "ended", reason: typeof message === "string" ? message : String(reason) };
}
