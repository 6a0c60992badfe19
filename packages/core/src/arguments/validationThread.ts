import { Worker } from "node:worker_threads";
import type { JsonSchema } from "../interface.ts";
import { NoThread } from "./notChecked.ts";
import type { ValidationError } from "./validator.ts";

/** How long one check may take: with a pattern that could run away, and without. An ordinary one takes under a millisecond. */
const patternLimitMs = 1000;
const checkLimitMs = 4000;
/** How long a check may wait for those before it. */
const waitLimitMs = 4000;
/** How long the thread may take to start on a busy machine. */
const startLimitMs = 20_000;

/** A regular expression cannot be interrupted, a thread can: the one warm thread is ended and replaced when it hangs. */
let ready: Promise<Worker> | undefined;
let queue: Promise<unknown> = Promise.resolve();

/**
 * Errors of `value` under `schema`, found off the main thread; a check that takes too long is an error of its own. Rejects
 * with NoThread where no thread can be started.
 */
export function validateInWorker(
  schema: JsonSchema,
  value: unknown,
  mayBacktrack: boolean,
): Promise<readonly ValidationError[]> {
  const deadline = Date.now() + waitLimitMs;
  const result = queue.then(async () => {
    if (Date.now() > deadline) return [failure("could not be checked: other checks take too long")];
    return check(await warmThread(), { schema, value }, mayBacktrack ? patternLimitMs : checkLimitMs);
  });
  queue = result.catch(() => undefined);
  return result;
}

interface Check {
  readonly schema: JsonSchema;
  readonly value: unknown;
}

function check(thread: Worker, question: Check, limitMs: number): Promise<readonly ValidationError[]> {
  return new Promise((resolve) => {
    const finish = (errors: readonly ValidationError[], broken: boolean): void => {
      clearTimeout(timer);
      thread.off("message", onMessage).off("error", onError).off("exit", onExit);
      thread.unref();
      if (broken) end(thread);
      resolve(errors);
    };
    const onMessage = (errors: readonly ValidationError[]): void => finish(errors, false);
    const onError = (error: unknown): void => finish([failure(`could not be checked: ${String(error)}`)], true);
    const onExit = (): void => finish([failure("could not be checked")], true);
    const timer = setTimeout(
      () => finish([failure(`could not be checked: the schema takes over ${limitMs} ms on it`)], true),
      limitMs,
    );
    thread.ref();
    thread.on("message", onMessage).on("error", onError).on("exit", onExit);
    try {
      thread.postMessage(question);
    } catch {
      finish([failure("holds a value that JSON has no form for")], false);
    }
  });
}

function warmThread(): Promise<Worker> {
  if (ready) return ready;
  const starting = start(() => {
    if (ready === starting) ready = undefined;
  });
  ready = starting;
  return starting;
}

/** A thread that has said it is ready. A host may refuse it at once (the permission model) or later (no such file in a bundle). */
function start(onEnd: () => void): Promise<Worker> {
  return new Promise((resolve, reject) => {
    // In this form bundlers find the file and carry it along. The build puts the built file's name here.
    const thread = new Worker(new URL("./validationWorker.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 128 },
      execArgv: [],
    });
    const fail = (cause: unknown): void => {
      clearTimeout(timer);
      end(thread);
      reject(cause);
    };
    const timer = setTimeout(() => fail(new Error(`it did not start within ${startLimitMs} ms`)), startLimitMs);
    thread.once("message", () => {
      clearTimeout(timer);
      thread.unref();
      resolve(thread);
    });
    // Kept for its whole life: an error while it is idle must not end the process.
    thread.on("error", fail).on("exit", () => {
      onEnd();
      fail(new Error("it ended at once"));
    });
  }).catch((cause: unknown) => {
    onEnd();
    throw new NoThread("no thread could be started", { cause });
  }) as Promise<Worker>;
}

function end(thread: Worker): void {
  ready = undefined;
  void thread.terminate();
}

function failure(error: string): ValidationError {
  return { keyword: "check", keywordLocation: "#", instanceLocation: "#", error };
}
