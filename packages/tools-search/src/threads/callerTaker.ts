import { setTimeout as pause } from "node:timers/promises";
import type { Batch, BatchQueue } from "../engine/batchQueue.ts";
import type { BatchResult, SearchJob, WalkPosition } from "../engine/job.ts";
import { createFileLearner } from "../engine/learnFiles.ts";
import { createListers, DirectoryLister, quickLimits } from "../engine/listDirectory.ts";
import { WindowReader } from "../engine/readWindows.ts";
import { longestLine } from "../engine/searchFile.ts";
import { type TakerState, takeBatches } from "../engine/takeBatches.ts";
import { createFinder, startWalk, type Walk } from "../engine/walkBatches.ts";
import { FileMemory } from "../memory/fileMemory.ts";

/** The time for which the caller's thread is busy at once. */
const sliceMs = 4;

export interface CallerTakerOptions {
  job: SearchJob;
  queue: BatchQueue;
  /** True if it leaves to a thread what would hold the caller up. */
  isQuick: boolean;
  /** Returns its walk, until a thread takes it over. */
  getWalk(): Walk | undefined;
  onResult(result: BatchResult): void;
  onFound(files: number): void;
  isOver(): boolean;
  /** Files that were left, to be searched here. */
  left: Batch[];
  /** Called with a file that is left to a thread while there is none. */
  onLeft(batch: Batch): void;
  countThreads(): number;
  /** The number of threads that are enough. */
  takers: number;
}

/** Returns the walk of the caller's thread. If `isQuick` it is stuck at a directory that would hold the caller up. */
export function startWalkHere(job: SearchJob, position: WalkPosition, isQuick: boolean): Walk {
  const lister = isQuick ? quickListerFor(job) : new DirectoryLister(job.roots, job.deny);
  return startWalk(job, position, createFinder(job, lister));
}

/**
 * Has the caller's thread take part in a search, in slices. Resolves when nothing is left to take, there are enough threads, or only a
 * thread can go on and there is none.
 */
export async function takeBatchesHere(options: CallerTakerOptions): Promise<void> {
  const { job, queue, isQuick, left, getWalk, onResult, onFound, onLeft, isOver, countThreads, takers } = options;
  const memory = job.memory && new FileMemory(job.memory);
  if (job.query !== undefined) learner.start(memory);
  const nothing = (): void => undefined;
  let sliceEnd = 0;
  /** A file waits for room in the queue. */
  let isFull = false;
  const taker = {
    // Bounded work needs no clock, and cannot hang.
    clock: { run: nothing, pause: nothing },
    saveLine: nothing,
    dropSavedLines: nothing,
    memory,
    isDue: () => performance.now() >= sliceEnd,
    leave(batch: Batch) {
      // One slot stays for the thread that walks: it may be the only one that takes what is left.
      isFull = countThreads() > 0 && !queue.add(batch, 1);
      if (countThreads() === 0) onLeft(batch);
      return !isFull;
    },
    isQuick,
    // Quick, it leaves a file to a thread instead.
    longestLine: isQuick ? Infinity : longestLine,
    // Not shared: other searches may read between two slices.
    reader: new WindowReader(),
    onRead: learner.add,
    stopsNow: isOver,
    onFound,
    onResult,
  };
  const steps = takeBatches(job, queue, taker, getWalk, left);
  try {
    for (;;) {
      await nextTurn();
      sliceEnd = performance.now() + sliceMs;
      let state: TakerState;
      do {
        const step = steps.next();
        if (step.done || (step.value === "between" && countThreads() >= takers)) return;
        state = step.value;
      } while (state !== "without" && !isFull && !taker.isDue());
      if (state !== "without" && !isFull) continue;
      if (countThreads() === 0 && !isFull) return;
      await pause(1);
    }
  } finally {
    // Closes the file that is open.
    steps.return();
    learner.learn();
  }
}

const quickListerFor = createListers(quickLimits);

/** Learns files a millisecond of two, without keeping the process alive. */
const learner = createFileLearner((work) => {
  const timer = setTimeout(work, 1).unref();
  return () => clearTimeout(timer);
});

let turns: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other search has a slice in. */
function nextTurn(): Promise<void> {
  turns = turns.then(() => new Promise((resolve) => setImmediate(resolve)));
  return turns;
}
