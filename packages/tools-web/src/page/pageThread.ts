// Reads a page in a thread of its own, within limits of time and memory.
import { Worker } from "node:worker_threads";
import { ToolError } from "@toolcrib/core";
import { isObject, messageOf } from "@toolcrib/core/text";
import { createSemaphore } from "@toolcrib/kit/files";
import { moduleAsData, workerOptions } from "@toolcrib/kit/threads";

const limitMs = 5000;
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };
/** Most pages that are read at once. */
const threads = createSemaphore(2);

/** Returns the page as Markdown. Throws a ToolError in words if that takes too long or too much memory, or no thread can be started. */
export async function convertPage(html: string, url: string, signal: AbortSignal): Promise<string> {
  return threads(async () => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const fail = (reason: string, cause?: unknown): void => {
      reject(new ToolError({ code: "execution_failed", message: `Cannot read the page ${url}: ${reason}`, cause }));
    };
    let worker: Worker;
    try {
      worker = startWorker({ html, url });
    } catch (error) {
      throw new ToolError({ code: "execution_failed", message: whyNoThread(error), cause: error, recoverable: false });
    }
    const timer = setTimeout(() => fail(`it took more than ${limitMs} ms`), limitMs);
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    worker.once("message", resolve);
    worker.once("error", (error) => {
      const isMemory = isObject(error) && error.code === "ERR_WORKER_OUT_OF_MEMORY";
      fail(isMemory ? "it takes more memory than a page may" : messageOf(error), error);
    });
    worker.once("exit", () => fail("its thread ended"));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      await worker.terminate();
    }
  });
}

function startWorker(workerData: { html: string; url: string }): Worker {
  const options = { name: "toolcrib-web", workerData, resourceLimits, ...workerOptions };
  // Bundlers recognise this form and copy the file. The build puts the built file's name here.
  return process.versions.pnp === undefined
    ? new Worker(new URL("./pageWorker.ts", import.meta.url), options)
    : new Worker(moduleAsData(new URL("./pageWorker.ts", import.meta.url)), options);
}

function whyNoThread(error: unknown): string {
  const isForbidden = isObject(error) && error.code === "ERR_ACCESS_DENIED";
  const reason = isForbidden ? "Node's permission model forbids it; start node with --allow-worker" : messageOf(error);
  return `Pages of HTML are read in a thread, and none can be started: ${reason}`;
}
