import { printableName } from "@toolcrib/core/text";
import type { Batch, BatchQueue } from "./batchQueue.ts";
import type { BatchResult, SearchJob, SearchStart } from "./job.ts";
import { createFileReport, createMatchReport, type MatchReport, ResultText } from "./matchReport.ts";
import { createFileSearch, type FileSearchHost } from "./searchFile.ts";
import { Notes, type Walk, type WalkedBatch, wholePath } from "./walkBatches.ts";

/** Files after which it is asked whether to stop. */
const filesAtOnce = 16;

/** A taker of batches: a thread, or the caller's in slices. */
export interface Taker extends FileSearchHost {
  readonly isThread: boolean;
  onResult(result: BatchResult): void;
  /** Called with the files of each batch that the walk has found, and with 0 for each step that finds none: more takers may pay. */
  onFound(files: number): void;
  /** Called with each match line of a regular expression as soon as it is found. */
  saveLine(line: string): void;
  /** Called before and after each batch, whose lines are then reported in another way. */
  dropSavedLines(): void;
}

/** Where a taker is: between two batches, where it may leave; without any, where it may wait for a change; undefined within one. */
export type TakerState = "between" | "without" | undefined;

/**
 * Takes part in a search until nothing is left of it: fills the queue, while `getWalk` gives a walk, and searches batches. Throws a
 * SyntaxError for an invalid regular expression.
 */
export function* takeBatches(
  job: SearchJob,
  queue: BatchQueue,
  taker: Taker,
  getWalk: () => Walk | undefined,
): Generator<TakerState, void, undefined> {
  const searchBatch = createBatchSearch(job, queue, taker);
  let walked: WalkedBatch | undefined;
  while (!taker.stopsNow()) {
    const walk = getWalk();
    const isWalking = walk?.state === "going" && !queue.stopped;
    if (isWalking && walked === undefined && queue.wantsMore) {
      const next = walk.batches.next();
      if (next.done) walk.state = next.value ? "over" : "stuck";
      if (walk.state === "over") queue.end();
      walked = next.done ? undefined : next.value;
      if (walked === undefined) {
        taker.onFound(0);
        yield "between";
        continue;
      }
    }
    if (isWalking && walked !== undefined && accept(walked, job, queue, taker)) {
      for (const path of walked.paths) {
        walk.position.seen?.add(wholePath(job.starts[walked.start] as SearchStart, path));
      }
      walk.position = { ...walk.position, ...walked.next };
      taker.onFound(walked.paths.length);
      walked = undefined;
      continue;
    }
    if (!isWalking) walked = undefined;
    if (taker.isThread && !isWalking && queue.acceptLeaving()) return;
    const batch = queue.take(taker.isThread || !taker.isQuick());
    if (batch !== undefined) {
      yield* searchBatch(batch);
      yield "between";
    } else if (queue.isEmptied) {
      return;
    } else {
      // A thread that walks brings the change that others wait for. The caller's may have to wait for a thread even then.
      yield isWalking && taker.isThread ? "between" : "without";
    }
  }
}

/** Queues a batch, or lists its files if that is the search. False while there is no room. */
function accept(batch: WalkedBatch, job: SearchJob, queue: BatchQueue, taker: Taker): boolean {
  const { order, notes } = batch;
  if (job.query === undefined) {
    taker.onResult(listFiles(batch, job, queue));
    return true;
  }
  if (batch.paths.length > 0 && !queue.add(batch)) return false;
  if (notes.leftOut > 0 || notes.problemCount > 0) {
    taker.onResult({ order, ...new ResultText(job).finish(false), ...notes });
  }
  return true;
}

/** Writes the paths of a batch. Behind enough of them the others are only counted. */
function listFiles({ order, start, paths, notes }: WalkedBatch, job: SearchJob, queue: BatchQueue): BatchResult {
  const { shown } = job.starts[start] as SearchStart;
  const results = new ResultText(job);
  const isEnough = queue.count(0, 0, job);
  for (const path of paths) {
    if (isEnough || results.isFull) break;
    const name = printableName(shown + path);
    results.add(`${name}\n`, name.length);
  }
  queue.count(results.ends.length, results.text.length, job);
  return { order, ...results.finish(false), count: paths.length, ...notes };
}

function createBatchSearch(job: SearchJob, queue: BatchQueue, taker: Taker) {
  const searchFile = createFileSearch(job, taker);
  const options = { limit: job.limit, maxBytes: job.maxBytes, onLine: job.query?.regex ? taker.saveLine : undefined };
  let seen = 0;
  return function* searchBatch({ order, start: number, paths }: Batch): Generator<TakerState, void, undefined> {
    const start = job.starts[number] as SearchStart;
    const notes = new Notes();
    const report: MatchReport =
      job.mode === "lines" ? createMatchReport(job.context, options) : createFileReport(job.mode === "count", options);
    taker.dropSavedLines();
    for (let at = 0; at < paths.length && !report.full() && !(seen % filesAtOnce === 0 && taker.stopsNow()); ) {
      const path = paths[at] as string;
      const whole = wholePath(start, path);
      try {
        const found = searchFile(whole, start.shown + path, report);
        if (found === undefined) {
          // It stays here until there is room, or no thread to take it.
          if (queue.add({ order: order + 1, start: number, paths: paths.slice(at), forThreads: true })) break;
          yield "without";
          continue;
        }
        const isText = typeof found === "boolean" ? found : yield* found;
        // Skipped silently on a walk, but reported if the caller named the file.
        if (!isText && !start.isDirectory) notes.add(whole, { code: "binary" });
      } catch (error) {
        notes.add(whole, error);
      }
      at += 1;
      seen += 1;
      if (!taker.isThread) yield;
    }
    const result = report.finish();
    const { count, more, text } = result;
    if (more || queue.count(count, text.length, job)) queue.stop();
    const noted = notes.take();
    if (count > 0 || noted.problemCount > 0) taker.onResult({ order, ...result, ...noted });
    taker.dropSavedLines();
  };
}
