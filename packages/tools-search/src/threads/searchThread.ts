import { constants, setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { moduleAsData, workerOptions } from "@toolcrib/core/files";
import { createControl, type Job, slots, threadIdStart, type WorkerMessage } from "./protocol.ts";

/** How long a thread that is asked to stop may take. */
const stopMs = 50;

const memoryLimits = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

/** A thread that searches, one job at a time. */
export interface SearchThread {
  /** Shared with the thread: flags, its clock and what it salvages. */
  readonly control: SharedArrayBuffer;
  /** Its priority was lowered, which cannot be undone. */
  readonly lowered: boolean;
  /** It was loaded once: a thread that ends before could not be started. */
  readonly ready: boolean;
  /** Starts a job; `onMessage` gets what the thread says, `onDeath` why it ended by itself. */
  start(job: Job, onMessage: (message: WorkerMessage) => void, onDeath: (reason: unknown) => void): void;
  /** Lets the job end before its next files: what they hold is not shown any more. */
  enough(): void;
  /** Lets every other thread go before this one, for a job that hangs. Linux only. */
  yieldToOthers(): void;
  /** Calls back once the thread has left its job; one that does not leave it soon is ended. */
  stop(onStopped: () => void): void;
  /** Ends the thread at once. */
  end(): void;
  /** Whether the thread keeps the process alive. */
  hold(held: boolean): void;
}

/** `onEnd` is called once, however the thread ends. Throws where no thread can be started. */
export function startSearchThread(onEnd: (reason: unknown) => void): SearchThread {
  const control = createControl();
  const flags = new Int32Array(control, 0, 4);
  const worker = startWorker(control);
  let busy = false;
  let ended = false;
  let onMessage: ((message: WorkerMessage) => void) | undefined;
  let onDeath: ((reason: unknown) => void) | undefined;

  const end = (reason?: unknown): void => {
    if (ended) return;
    ended = true;
    // A message that is already on its way must not make an ended thread look ready for the next job.
    onMessage = undefined;
    void worker.terminate();
    onEnd(reason);
  };
  const die = (reason: unknown): void => {
    const tell = onDeath;
    onDeath = undefined;
    end(reason);
    tell?.(reason);
  };
  worker.on("message", (message: WorkerMessage) => {
    if (message.kind === "ready") {
      thread.ready = true;
      return;
    }
    if (message.kind === "done") busy = false;
    onMessage?.(message);
  });
  worker.on("error", (error: unknown) => die(error));
  worker.on("exit", () => die(new Error("the search thread ended")));

  const thread: { -readonly [Name in keyof SearchThread]: SearchThread[Name] } = {
    control,
    lowered: false,
    ready: false,
    start(job, tell, tellDeath) {
      if (ended) {
        tellDeath(new Error("the search thread ended"));
        return;
      }
      flags.fill(0);
      busy = true;
      onMessage = tell;
      onDeath = tellDeath;
      worker.postMessage(job, job.kind === "help" ? [job.port] : []);
    },
    enough() {
      Atomics.compareExchange(flags, slots.stop, 0, 2);
    },
    yieldToOthers() {
      thread.lowered ||= lowerPriority(control);
    },
    stop(onStopped) {
      onMessage = undefined;
      onDeath = undefined;
      if (ended) return;
      if (!busy) {
        onStopped();
        return;
      }
      Atomics.store(flags, slots.stop, 1);
      // One that is still being loaded takes what that takes.
      const timer = thread.ready ? setTimeout(() => end(), stopMs) : undefined;
      onDeath = () => clearTimeout(timer);
      onMessage = (message) => {
        if (message.kind !== "done") return;
        clearTimeout(timer);
        onMessage = undefined;
        onDeath = undefined;
        onStopped();
      };
    },
    end: () => end(),
    hold: (held) => (held ? worker.ref() : worker.unref()),
  };
  return thread;
}

/** False where the system's id of the thread is not known. */
function lowerPriority(control: SharedArrayBuffer): boolean {
  const id = new Int32Array(control, threadIdStart, 1)[0] ?? 0;
  if (id === 0) return false;
  try {
    setPriority(id, constants.priority.PRIORITY_LOW);
  } catch {
    // Forbidden here: the thread competes as before.
  }
  return true;
}

function startWorker(control: SharedArrayBuffer): Worker {
  const options = {
    name: "toolcrib-search",
    workerData: control,
    resourceLimits: memoryLimits,
    ...workerOptions,
  };
  // In this form bundlers find the file and carry it along. The build puts the built file's name here.
  return process.versions.pnp === undefined
    ? new Worker(new URL("../worker/searchWorker.ts", import.meta.url), options)
    : new Worker(moduleAsData(new URL("../worker/searchWorker.ts", import.meta.url)), options);
}
