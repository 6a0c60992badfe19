import { Worker } from "node:worker_threads";
import type { JsonSchema } from "./interface.ts";
import type { ValidationError } from "./validator.ts";

/** How long one check may take. An ordinary one takes under a millisecond. */
const checkLimitMs = 1000;
/** How long a check may wait for those before it. */
const waitLimitMs = 4000;

/** A regular expression cannot be interrupted, a thread can: the one warm thread is ended and replaced when it hangs. */
let worker: Worker | undefined;
let queue: Promise<unknown> = Promise.resolve();

/** Errors of `value` under `schema`, found off the main thread; a check that takes too long is an error of its own. */
export function validateInWorker(schema: JsonSchema, value: unknown): Promise<readonly ValidationError[]> {
  const deadline = Date.now() + waitLimitMs;
  const result = queue.then(() =>
    Date.now() > deadline ? [failure("could not be checked: other checks take too long")] : check(schema, value),
  );
  queue = result.catch(() => undefined);
  return result;
}

function check(schema: JsonSchema, value: unknown): Promise<readonly ValidationError[]> {
  return new Promise((resolve) => {
    worker ??= start();
    const thread = worker;
    const finish = (errors: readonly ValidationError[], broken: boolean): void => {
      clearTimeout(timer);
      thread.off("message", onMessage).off("error", onError).off("exit", onExit);
      thread.unref();
      if (broken) {
        worker = undefined;
        thread.on("error", () => undefined);
        void thread.terminate();
      }
      resolve(errors);
    };
    const onMessage = (errors: readonly ValidationError[]): void => finish(errors, false);
    const onError = (error: unknown): void => finish([failure(`could not be checked: ${String(error)}`)], true);
    const onExit = (): void => finish([failure("could not be checked")], true);
    const timer = setTimeout(
      () =>
        finish([failure(`could not be checked: a pattern of the schema takes over ${checkLimitMs} ms on it`)], true),
      checkLimitMs,
    );
    thread.ref();
    thread.on("message", onMessage).on("error", onError).on("exit", onExit);
    try {
      thread.postMessage({ schema, value });
    } catch {
      finish([failure("holds a value that JSON has no form for")], false);
    }
  });
}

function start(): Worker {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const started = new Worker(new URL(`./validationWorker.${extension}`, import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 128 },
    execArgv: [],
  });
  started.unref();
  return started;
}

function failure(error: string): ValidationError {
  return { keyword: "check", keywordLocation: "#", instanceLocation: "#", error };
}
