import { setTimeout as pause } from "node:timers/promises";
import type { BatchQueue } from "../engine/batchQueue.ts";
import type { BatchResult, SearchJob, WalkPosition } from "../engine/job.ts";
import { createFileLearner } from "../engine/learnFiles.ts";
import { DirectoryLister, quickLimits } from "../engine/listDirectory.ts";
import { createReaders } from "../engine/readWindows.ts";
import { longestLine } from "../engine/searchFile.ts";
import { type Taker, type TakerState, takeBatches } from "../engine/takeBatches.ts";
import { createFinder, startWalk, type Walk } from "../engine/walkBatches.ts";
import { FileMemory } from "../memory/fileMemory.ts";

/** How long the caller's thread is busy at a time. */
const sliceMs = 4;

export interface CallerTakerOptions {
  job: SearchJob;
  queue: BatchQueue;
  /** Where it begins to walk. */
  position: WalkPosition;
  /** Whether it leaves to a thread what would hold the caller up. */
  isQuick: boolean;
  onResult(result: BatchResult): void;
  onFound(files: number): void;
  /** Called while only a thread could go on. */
  onWait(): void;
  isOver(): boolean;
  hasEnoughTakers(): boolean;
}

/** The caller's thread as a taker, in slices: it begins every search that can do it no harm, and leaves once there are enough threads. */
export class CallerTaker {
  readonly #options: CallerTakerOptions;
  readonly #memory: FileMemory | undefined;
  #isQuick: boolean;
  #walk: Walk | undefined;
  /** Whether only a thread could go on. */
  waits = false;

  constructor(options: CallerTakerOptions) {
    this.#options = options;
    this.#isQuick = options.isQuick;
    this.#memory = options.job.memory && new FileMemory(options.job.memory);
    this.#walk = this.#startWalk(options.position);
  }

  /** Where another thread is to walk on; undefined if the walk is over or elsewhere. */
  handOverWalk(): WalkPosition | undefined {
    const walk = this.#walk;
    this.#walk = undefined;
    this.waits = false;
    return walk?.state === "over" ? undefined : walk?.position;
  }

  /** There is no other thread. */
  giveUpThreads(): void {
    this.#isQuick = false;
    this.waits = false;
  }

  /** Resolves when nothing is left to take, or others take it. */
  async run(): Promise<void> {
    const { job, queue, isOver, hasEnoughTakers, onWait } = this.#options;
    if (job.query !== undefined) learner.start(this.#memory);
    const steps = takeBatches(job, queue, this.#createTaker(), () => this.#walk);
    try {
      for (;;) {
        await nextTurn();
        if (this.#walk?.state === "stuck" && !this.#isQuick) this.#walk = this.#startWalk(this.#walk.position);
        const end = performance.now() + sliceMs;
        let state: TakerState;
        do {
          const step = steps.next();
          if (step.done) return;
          state = step.value;
          if (state === "between" && this.#walk === undefined && hasEnoughTakers()) return;
        } while (state !== "without" && performance.now() < end);
        if (state !== "without" || isOver()) continue;
        if (!this.waits && this.#isQuick) {
          this.waits = true;
          onWait();
        }
        await pause(1);
      }
    } finally {
      // Closes the file that is open.
      steps.return();
      learner.learn();
    }
  }

  #startWalk(position: WalkPosition): Walk {
    const { job } = this.#options;
    const lister = this.#isQuick ? quickListerFor(job) : new DirectoryLister(job.roots, job.deny);
    return startWalk(job, position, createFinder(job, lister), this.#memory?.isEmpty === false);
  }

  #createTaker(): Taker {
    const { isOver, onFound, onResult } = this.#options;
    const nothing = (): void => undefined;
    return {
      // What is bounded needs no clock, and cannot hang.
      clock: { run: nothing, pause: nothing },
      saveLine: nothing,
      dropSavedLines: nothing,
      memory: this.#memory,
      isThread: false,
      isQuick: () => this.#isQuick,
      longestLine,
      // Not shared: other searches may read between two slices.
      reader: createReaders(),
      onRead: learner.add,
      stopsNow: isOver,
      onFound,
      onResult,
    };
  }
}

let last: { key: string; lister: DirectoryLister } | undefined;

/** The lister of the last search, with what it remembers, if it has the same limits. */
function quickListerFor({ roots, deny }: SearchJob): DirectoryLister {
  const key = JSON.stringify([roots, deny]);
  if (last?.key !== key) last = { key, lister: new DirectoryLister(roots, deny, quickLimits) };
  return last.lister;
}

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
