import { readMatchClock } from "./matchClock.ts";
import { type FilesJob, type Problem, salvageStart, slots, type TextJob, type WorkerMessage } from "./protocol.ts";
import type { SearchPool } from "./searchPool.ts";
import type { SearchThread } from "./searchThread.ts";

/** What a search gave, in the order of the paths. */
export interface SearchResult {
  /** Whole lines. */
  text: string;
  /** Matches or paths in `text`. */
  shown: number;
  /** Paths in all, for a search of files; whether there are more than `shown` matches otherwise. */
  total: number;
  problems: Problem[];
  problemCount: number;
  /** Set when the search did not end by itself: why. The result then holds what was found so far. */
  unfinished: string | undefined;
}

export interface RunOptions {
  signal: AbortSignal | undefined;
  /** Milliseconds that a caller's own pattern may match for; Infinity where the pattern is ours. */
  matchLimitMs: number;
}

type Matches = Extract<WorkerMessage, { kind: "matches" }>;

const pollMs = 50;
/** A stretch of this length is not let slow down anybody else. */
const slowMs = 200;
/** An ordinary file takes a fraction of this: a longer stretch is a pattern that hangs. */
const hangMs = 1000;

/** Runs one search on the pool. Rejects with the signal's reason, or with an Error for a pattern that does not compile. */
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
  const batches: Matches[] = [];
  const result: SearchResult = { text: "", shown: 0, total: 0, problems: [], problemCount: 0, unfinished: undefined };
  let running = 1;

  const settle = (unfinished?: string): void => {
    clearInterval(poll);
    signal?.removeEventListener("abort", onAbort);
    result.unfinished = unfinished;
    try {
      if (job.kind === "text") {
        joinBatches(batches, job, result);
        if (unfinished !== undefined) for (const thread of threads) addSalvage(thread.control, job.limit - 1, result);
      }
      resolve(result);
    } catch {
      // Longer than a string can be.
      reject(new Error("finds too much to answer; pass a smaller max_results"));
    }
  };
  const onAbort = (): void => {
    clearInterval(poll);
    reject(signal?.reason);
  };
  const onMessage = (message: WorkerMessage): void => {
    switch (message.kind) {
      case "matches":
        batches.push(message);
        return;
      case "files":
        Object.assign(result, { text: message.text, shown: message.shown, total: message.total });
        return;
      case "large": {
        const thread = pool.tryAcquire();
        if (thread === undefined || job.kind !== "text") {
          message.port.close();
          return;
        }
        threads.push(thread);
        running += 1;
        thread.start(
          { kind: "help", job, port: message.port, control: (threads[0] as SearchThread).control },
          onMessage,
          settle,
        );
        return;
      }
      case "failed":
        clearInterval(poll);
        signal?.removeEventListener("abort", onAbort);
        reject(new Error(message.message));
        return;
      case "done":
        result.problems.push(...message.problems);
        result.problemCount += message.problemCount;
        running -= 1;
        if (running === 0) settle();
    }
  };

  signal?.addEventListener("abort", onAbort, { once: true });
  const poll = Number.isFinite(matchLimitMs)
    ? setInterval(() => {
        const late = performance.now() - started > matchLimitMs;
        for (const thread of threads) {
          const { spent, stretch } = readMatchClock(thread.control);
          if (stretch >= slowMs) thread.yieldToOthers();
          // A call that waited for its thread is not kept waiting for what will not end anyway.
          if (spent >= matchLimitMs || (late && stretch >= hangMs)) {
            settle(`matching took longer than ${matchLimitMs} ms`);
            return;
          }
        }
      }, pollMs)
    : undefined;
  if (signal?.aborted) onAbort();
  else (threads[0] as SearchThread).start(job, onMessage, settle);
}

/** Puts the batches in order and keeps one match less than the limit: the last one only tells that there are more. */
function joinBatches(batches: Matches[], job: TextJob, result: SearchResult): void {
  const wanted = job.limit - 1;
  const parts: string[] = [];
  for (const { text, ends } of batches.sort((a, b) => a.index - b.index)) {
    result.total += ends.length;
    const taken = Math.min(ends.length, wanted - result.shown);
    if (taken === 0) continue;
    result.shown += taken;
    parts.push(text.slice(0, ends[taken - 1]));
  }
  result.text = parts.join(job.context > 0 ? "--\n" : "");
}

function addSalvage(control: SharedArrayBuffer, wanted: number, result: SearchResult): void {
  const length = new Int32Array(control, 0, 4)[slots.salvaged] ?? 0;
  const lines = Buffer.from(Buffer.from(control, salvageStart, length))
    .toString()
    .split("\n")
    .slice(0, -1);
  const taken = lines.slice(0, Math.max(0, wanted - result.shown));
  result.shown += taken.length;
  result.total += lines.length;
  result.text += taken.map((line) => `${line}\n`).join("");
}
