import { constants, setPriority } from "node:os";
import type { Worker } from "node:worker_threads";
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
  /** Starts a job; `onMessage` gets what the thread says, `onDeath` why it ended by itself. */
  start(job: Job, onMessage: (message: WorkerMessage) => void, onDeath: (reason: string) => void): void;
  /** Lets every other thread go before this one, for a job that hangs. Linux only. */
  yieldToOthers(): void;
  /** Calls back once the thread has left its job; one that does not leave it soon is ended. */
  stop(onStopped: () => void): void;
  /** Ends the thread at once. */
  end(): void;
  /** Whether the thread keeps the process alive. */
  hold(held: boolean): void;
}

/** `onEnd` is called once, however the thread ends. */
export function startSearchThread(onEnd: () => void): SearchThread {
  const control = createControl();
  const flags = new Int32Array(control, 0, 4);
  const worker = startWorker(control);
  let busy = false;
  let ended = false;
  let lowered = false;
  let onMessage: ((message: WorkerMessage) => void) | undefined;
  let onDeath: ((reason: string) => void) | undefined;

  const end = (): void => {
    if (ended) return;
    ended = true;
    // A message that is already on its way must not make an ended thread look ready for the next job.
    onMessage = undefined;
    void worker.terminate();
    onEnd();
  };
  const die = (reason: string): void => {
    const tell = onDeath;
    onDeath = undefined;
    end();
    tell?.(reason);
  };
  worker.on("message", (message: WorkerMessage) => {
    if (message.kind === "done") busy = false;
    onMessage?.(message);
  });
  worker.on("error", (error: unknown) => die(deathReason(error)));
  worker.on("exit", () => die("the search thread ended"));

  return {
    control,
    get lowered() {
      return lowered;
    },
    start(job, tell, tellDeath) {
      if (ended) {
        tellDeath("the search thread ended");
        return;
      }
      flags.fill(0);
      busy = true;
      onMessage = tell;
      onDeath = tellDeath;
      worker.postMessage(job, job.kind === "help" ? [job.port] : []);
    },
    yieldToOthers() {
      const id = new Int32Array(control, threadIdStart, 1)[0] ?? 0;
      if (lowered || id === 0) return;
      lowered = true;
      try {
        setPriority(id, constants.priority.PRIORITY_LOW);
      } catch {
        // Forbidden here: the thread competes as before.
      }
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
      const timer = setTimeout(end, stopMs);
      onDeath = () => clearTimeout(timer);
      onMessage = (message) => {
        if (message.kind !== "done") return;
        clearTimeout(timer);
        onMessage = undefined;
        onDeath = undefined;
        onStopped();
      };
    },
    end,
    hold: (held) => (held ? worker.ref() : worker.unref()),
  };
}

function startWorker(control: SharedArrayBuffer): Worker {
  // Sources run as TypeScript, the published files as JavaScript.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  // Loaded with the first search: 5 ms, paid otherwise by whoever only imports this package.
  const threads = process.getBuiltinModule("node:worker_threads");
  return new threads.Worker(new URL(`./searchWorker.${extension}`, import.meta.url), {
    name: "toolcrib-search",
    workerData: control,
    resourceLimits: memoryLimits,
    execArgv: [],
    env: {},
    stdin: false,
  });
}

function deathReason(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return code === "ERR_WORKER_OUT_OF_MEMORY" ? "it needs too much memory" : String(error);
}
