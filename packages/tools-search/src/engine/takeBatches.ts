import { printableName } from "@toolcrib/core/text";
import type { Batch, BatchQueue } from "./batchQueue.ts";
import type { BatchResult, Query, SearchJob, SearchStart } from "./job.ts";
import { createFileReport, createMatchReport, type MatchReport, ResultText } from "./matchReport.ts";
import { createFileSearch, type FileSearchHost } from "./searchFile.ts";
import { hasNotes, Notes, type Walk, type WalkedBatch, wholePath } from "./walkBatches.ts";

/** Files after which it is asked whether to stop. */
const filesAtOnce = 16;

/** A taker of batches: a thread, or the caller's in slices. */
export interface Taker extends FileSearchHost {
  /** Returns whether to give others a turn; asked after each file. */
  isDue(): boolean;
  /** Leaves a file to a thread, if `isQuick`; false where that is not possible yet. */
  leave(batch: Batch): boolean;
  onResult(result: BatchResult): void;
  /** Called with the files of each batch that the walk has found, and with 0 for each step that finds none: more takers may pay. */
  onFound(files: number): void;
  /** Called with each match line of a regular expression as soon as it is found. */
  saveLine(line: string): void;
  /** Called before and after each batch, whose lines are then reported in another way. */
  dropSavedLines(): void;
}

/** The state of a taker: between two batches, where it may leave; without any, where it may wait for a change; undefined within one. */
export type TakerState = "between" | "without" | undefined;

/**
 * Takes part in a search until nothing is left of it: fills the queue, while `getWalk` gives a walk, and searches batches, those in `left`
 * first. If `isQuick`, it takes none that was left. Throws a SyntaxError for an invalid regular expression.
 */
export function* takeBatches(
  job: SearchJob,
  queue: BatchQueue,
  taker: Taker,
  getWalk: () => Walk | undefined,
  left: Batch[],
): Generator<TakerState, void, undefined> {
  const searchBatch = job.query && createBatchSearch(job, job.query, queue, taker);
  while (!taker.stopsNow()) {
    const walk = getWalk();
    const isWalking = walk?.state === "going" && !queue.stopped;
    if (isWalking && queue.wantsMore) {
      takeStep(walk, job, queue, taker);
      yield "between";
      continue;
    }
    const batch = searchBatch && (left.shift() ?? queue.take(taker.isQuick));
    if (batch) {
      yield* searchBatch(batch);
      yield "between";
    } else if (queue.isEmptied) {
      return;
    } else {
      yield isWalking ? "between" : "without";
    }
  }
}

/** Walks on: queues the next batch that is found, or lists its files if that is the search. */
function takeStep(walk: Walk, job: SearchJob, queue: BatchQueue, taker: Taker): void {
  const { done, value: batch } = walk.batches.next();
  if (done) walk.state = batch ? "over" : "stuck";
  if (walk.state === "over") queue.end();
  if (done || batch === undefined) {
    taker.onFound(0);
    return;
  }
  const { order, below, paths, notes } = batch;
  if (job.query === undefined) {
    taker.onResult(listFiles(batch, job, queue));
  } else {
    // A batch left by the caller's thread may take the slot that was free.
    while (paths.length > 0 && !queue.add(batch));
    if (hasNotes(notes)) {
      taker.onResult({ order, ...new ResultText(job).finish(false), ...notes });
    }
  }
  const { seen } = walk.position;
  for (const path of seen ? paths : []) seen?.add(wholePath(below, path));
  walk.position = { ...batch.next, seen };
  taker.onFound(paths.length);
}

/** Writes the paths of a batch. Behind enough of them the others are only counted. */
function listFiles({ order, below, paths, notes }: WalkedBatch, job: SearchJob, queue: BatchQueue): BatchResult {
  const results = new ResultText(job);
  const isEnough = queue.count(0, 0, job);
  for (const path of paths) {
    if (isEnough || results.isFull) break;
    const name = printableName(below.shown + path);
    results.add(`${name}\n`, name.length);
  }
  queue.count(results.ends.length, results.text.length, job);
  return { order, ...results.finish(false), count: paths.length, ...notes };
}

function createBatchSearch(job: SearchJob, query: Query, queue: BatchQueue, taker: Taker) {
  let hole = 0;
  const searchFile = createFileSearch(job, query, taker, (bytes) => {
    hole = bytes;
  });
  const options = { limit: job.limit, maxBytes: job.maxBytes, onLine: query.regex ? taker.saveLine : undefined };
  const createReport = (): MatchReport =>
    job.mode === "lines" ? createMatchReport(job.context, options) : createFileReport(job.mode === "count", options);
  let seen = 0;
  return function* searchBatch({ order, start: number, paths }: Batch): Generator<TakerState, void, undefined> {
    const start = job.starts[number] as SearchStart;
    const notes = new Notes();
    let part = order;
    let report = createReport();
    const finishPart = (): void => {
      const result = report.finish();
      const { count, more, text } = result;
      if (more || queue.count(count, text.length, job)) queue.stop();
      const noted = notes.take();
      if (count > 0 || hasNotes(noted)) taker.onResult({ order: part, ...result, ...noted });
    };
    taker.dropSavedLines();
    for (let at = 0; at < paths.length; at += 1) {
      if (report.full() || (seen % filesAtOnce === 0 && taker.stopsNow())) break;
      const path = paths[at] as string;
      const whole = wholePath(start, path);
      hole = 0;
      try {
        const found = searchFile(whole, start.shown + path, report);
        if (found === undefined) {
          finishPart();
          report = createReport();
          part = order + 2 * at + 2;
          while (!taker.stopsNow() && !taker.leave({ order: part - 1, start: number, paths: [path] })) yield;
        } else {
          const isText = typeof found === "boolean" ? found : yield* found;
          if (isText && hole > 0) notes.addHole(whole, hole);
          // Skipped on a walk, but reported if the caller named the file.
          if (!isText && start.isDirectory) notes.skipBinary();
          if (!isText && !start.isDirectory) notes.add(whole, { code: "binary" });
        }
      } catch (error) {
        notes.add(whole, error);
      }
      seen += 1;
      if (taker.isDue()) yield;
    }
    finishPart();
    taker.dropSavedLines();
  };
}
