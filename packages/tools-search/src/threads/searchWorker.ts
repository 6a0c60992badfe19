import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { messageOf } from "@toolcrib/core/text";
import { BatchQueue } from "../engine/batchQueue.ts";
import { ControlBlock } from "../engine/controlBlock.ts";
import { loadFastGlobs } from "../engine/fastGlobs.ts";
import { compilePlainGlobs } from "../engine/globs.ts";
import { filesPerTaker, type SearchJob, type TakerJob, type WorkerMessage } from "../engine/job.ts";
import { createFileLearner } from "../engine/learnFiles.ts";
import { createListers } from "../engine/listDirectory.ts";
import { systemThreadId } from "../engine/processorTime.ts";
import { WindowReader } from "../engine/readWindows.ts";
import { type Taker, takeBatches } from "../engine/takeBatches.ts";
import { createFinder, startWalk } from "../engine/walkBatches.ts";
import { FileMemory } from "../memory/fileMemory.ts";

const port = parentPort as MessagePort;
const control = new ControlBlock(workerData as SharedArrayBuffer);
const learner = createFileLearner();
const listerFor = createListers();

/** Files that were found and not told yet. */
let found = 0;

const taker: Omit<Taker, "memory"> = {
  clock: control,
  isDue: () => false,
  leave: () => false,
  isQuick: false,
  longestLine: undefined,
  reader: new WindowReader(),
  onRead: learner.add,
  stopsNow: () => control.stopsNow,
  onFound(files) {
    found += files;
    if (found < filesPerTaker) return;
    post({ kind: "found", files: found });
    found = 0;
  },
  onResult: (result) => post({ kind: "batch", result }),
  saveLine: (line) => control.saveLine(line),
  dropSavedLines: () => control.dropSavedLines(),
};

// By which its priority can be lowered.
control.threadId = systemThreadId();
post({ kind: "ready" });

port.on("message", (message: TakerJob) => void takePart(message));

async function takePart({ job, queue: shared, left, walk: position }: TakerJob): Promise<void> {
  found = 0;
  const queue = new BatchQueue(shared);
  const memory = job.memory && new FileMemory(job.memory);
  if (job.query !== undefined) learner.start(memory);
  try {
    const finder = position && createFinder(job, listerFor(job), await globMatcherOf(job));
    const walk = finder && startWalk(job, position, finder);
    for (const state of takeBatches(job, queue, { ...taker, memory }, () => walk, left))
      if (state === "without") queue.wait();
  } catch (error) {
    control.pause();
    post({ kind: "failed", message: messageOf(error) });
  }
  learner.learn();
  post({ kind: "done" });
}

/** Matches globs that are not plain, against the clock. */
async function globMatcherOf({ globs }: SearchJob): Promise<((files: string[]) => string[]) | undefined> {
  if (globs === undefined || compilePlainGlobs(globs) !== undefined) return undefined;
  const match = await loadFastGlobs(globs);
  return (files) => {
    control.run();
    const found = match(files);
    control.pause();
    return found;
  };
}

function post(message: WorkerMessage): void {
  const { ends, pathLengths } = message.kind === "batch" ? message.result : {};
  port.postMessage(message, ends && pathLengths ? [ends.buffer, pathLengths.buffer] : []);
}
