// Reads pages in threads, within limits of time and memory.
import { Worker } from "node:worker_threads";
import { ToolError } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { isObject, messageOf } from "@toolcrib/core/text";
import { createSemaphore } from "@toolcrib/kit/files";
import { moduleAsData, workerOptions } from "@toolcrib/kit/threads";

const limitMs = 5000;
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };
/** Most pages that are read at once, and most threads that wait for the next one. */
const mostThreads = 2;
const threads = createSemaphore(mostThreads);
/** A thread with nothing to do is ended after this. */
const idleMs = 30_000;
/** Characters of a page after which a thread is not kept, as it would keep much memory too. */
const longestKept = 2 ** 20;

/** A thread that reads one page after another. */
interface PageThread {
  /** Resolves to the page as Markdown; rejects with the error that ended the thread. */
  read(html: string, url: string): Promise<string>;
  end(): Promise<unknown>;
  /** Lets the process end while it waits. */
  keep(): void;
}

const free = new Set<PageThread>();

/** Starts a thread for a page that is on its way, unless one is free. Whoever needs it learns why if none can be started. */
export function preparePageThread(): void {
  if (free.size === 0) attempt(() => startThread().keep());
}

/** Returns the page as Markdown. Throws a ToolError in words if that takes too long or too much memory, or no thread can be started. */
export async function convertPage(html: string, url: string, signal: AbortSignal): Promise<string> {
  return threads(async () => {
    signal.throwIfAborted();
    const fail = (reason: string, cause?: unknown): ToolError =>
      new ToolError({ code: "execution_failed", message: `Cannot read the page ${url}: ${reason}`, cause });
    let thread: PageThread;
    try {
      thread = free.values().next().value ?? startThread();
    } catch (error) {
      throw new ToolError({ code: "execution_failed", message: whyNoThread(error), cause: error, recoverable: false });
    }
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(fail(`it took more than ${limitMs} ms`)), limitMs);
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    const reading = thread.read(html, url).catch((error: unknown) => {
      const isMemory = isObject(error) && error.code === "ERR_WORKER_OUT_OF_MEMORY";
      throw fail(isMemory ? "it takes more memory than a page may" : messageOf(error), error);
    });
    let isKept = false;
    try {
      const text = await Promise.race([reading, stopped]);
      isKept = html.length <= longestKept && free.size < mostThreads;
      return text;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      if (isKept) thread.keep();
      else await thread.end();
    }
  });
}

/** Throws where no thread can be started. */
function startThread(): PageThread {
  const worker = startWorker();
  let current: PromiseWithResolvers<string> | undefined;
  let idle: NodeJS.Timeout | undefined;
  const gone = (error: unknown): void => {
    free.delete(thread);
    clearTimeout(idle);
    current?.reject(error);
  };
  worker.on("message", (text: string) => current?.resolve(text));
  worker.on("error", gone);
  worker.on("exit", () => gone(new Error("its thread ended")));
  const thread: PageThread = {
    read(html, url) {
      free.delete(thread);
      clearTimeout(idle);
      worker.ref();
      current = Promise.withResolvers();
      worker.postMessage({ html, url });
      return current.promise;
    },
    end: () => worker.terminate(),
    keep() {
      current = undefined;
      worker.unref();
      idle = setTimeout(() => void worker.terminate(), idleMs).unref();
      free.add(thread);
    },
  };
  return thread;
}

function startWorker(): Worker {
  const options = { name: "toolcrib-web", resourceLimits, ...workerOptions };
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
