import { constants, setPriority } from "node:os";
import type { Worker } from "node:worker_threads";
import { isObject } from "@toolcrib/core/text";
import { moduleAsData, workerOptions } from "@toolcrib/kit/threads";
import { ControlBlock } from "../engine/controlBlock.ts";
import type { TakerJob, WorkerMessage } from "../engine/job.ts";

/** The time that a thread that is asked to stop may take. */
const stopMs = 50;

const memoryLimits = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 6, stackSizeMb: 4 };

/** No thread can be started in this process. */
export class NoThreadsError extends Error {
  constructor(cause: unknown) {
    super(`no thread can be started: ${whyNoThread(cause)}`, { cause });
    this.name = "NoThreadsError";
  }
}

/** A thread that searches, one job at a time. */
export interface SearchThread {
  readonly control: ControlBlock;
  /** Its priority was lowered, which cannot be undone. */
  readonly lowered: boolean;
  /** The time at which it last began to walk. */
  walkedAt: number;
  /** Starts a job. `onMessage` gets the thread's messages; `onFailure` gets the reason if the thread ends by itself. */
  start(job: TakerJob, onMessage: (message: WorkerMessage) => void, onFailure: (reason: unknown) => void): void;
  /** Lets every other thread run before this one, for a job that hangs. Linux only. */
  lowerPriority(): void;
  /** Calls back once the thread has left its job. Ends a thread that does not leave it soon. */
  stop(onStopped: () => void): void;
  /** Ends the thread at once. */
  end(): void;
}

/**
 * Starts a thread, which does not keep the process alive. `onReady` is called once it has loaded its file, `onEnd` once, however it ends.
 * Throws where no thread can be started.
 */
export function startSearchThread(onReady: () => void, onEnd: (reason: unknown) => void): SearchThread {
  const control = new ControlBlock();
  const worker = startWorker(control.memory);
  worker.unref();
  let busy = false;
  let ended = false;
  let onMessage: ((message: WorkerMessage) => void) | undefined;
  let onFailure: ((reason: unknown) => void) | undefined;

  const end = (reason?: unknown): void => {
    if (ended) return;
    ended = true;
    // A message that is already on its way must not make an ended thread look ready for the next job.
    onMessage = undefined;
    void worker.terminate();
    onEnd(reason);
  };
  const fail = (reason: unknown): void => {
    const report = onFailure;
    onFailure = undefined;
    end(reason);
    report?.(reason);
  };
  worker.on("message", (message: WorkerMessage) => {
    if (message.kind === "ready" && !ended) {
      // Said before it runs, it does not hold.
      worker.unref();
      onReady();
    }
    if (message.kind === "done") busy = false;
    onMessage?.(message);
  });
  worker.on("error", (error: unknown) => fail(error));
  worker.on("exit", () => fail(new Error("the search thread ended")));

  const thread: { -readonly [Name in keyof SearchThread]: SearchThread[Name] } = {
    control,
    lowered: false,
    walkedAt: 0,
    start(job, messageListener, failureListener) {
      if (ended) {
        failureListener(new Error("the search thread ended"));
        return;
      }
      control.reset();
      busy = true;
      onMessage = messageListener;
      onFailure = failureListener;
      worker.postMessage(job);
    },
    lowerPriority() {
      thread.lowered ||= lowerPriority(control.threadId);
    },
    stop(onStopped) {
      onMessage = undefined;
      onFailure = undefined;
      if (ended) return;
      if (!busy) {
        onStopped();
        return;
      }
      control.stopNow();
      const timer = setTimeout(() => end(), stopMs);
      onFailure = () => clearTimeout(timer);
      onMessage = (message) => {
        if (message.kind !== "done") return;
        clearTimeout(timer);
        onMessage = undefined;
        onFailure = undefined;
        onStopped();
      };
    },
    end: () => end(),
  };
  return thread;
}

/** Lowers the priority; false if the system's id of the thread is not known. */
function lowerPriority(threadId: number): boolean {
  if (threadId === 0) return false;
  try {
    setPriority(threadId, constants.priority.PRIORITY_LOW);
  } catch {
    // Not allowed here: the thread keeps its priority.
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
  // Loaded with the first thread: many searches need none.
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  // Bundlers recognise this form and copy the file. The build puts the built file's name here.
  return process.versions.pnp === undefined
    ? new Worker(new URL("./searchWorker.ts", import.meta.url), options)
    : new Worker(moduleAsData(new URL("./searchWorker.ts", import.meta.url)), options);
}

/** Says why a thread did not start, and what would change that. */
function whyNoThread(cause: unknown): string {
  const { code, message } = isObject(cause) ? cause : {};
  if (code === "ERR_ACCESS_DENIED") return "Node's permission model forbids it; start node with --allow-worker";
  if (typeof code === "string" && missingFile.has(code)) {
    return "searchWorker.mjs of @toolcrib/tools-search is not beside the bundled program; copy it there, or leave the package out of the bundle";
  }
  return typeof message === "string" ? message : String(cause);
}

const missingFile: ReadonlySet<string> = new Set([
  "ERR_WORKER_PATH",
  "ERR_INVALID_URL",
  "ERR_INVALID_ARG_TYPE",
  "ERR_MODULE_NOT_FOUND",
  "MODULE_NOT_FOUND",
  "ENOENT",
]);
