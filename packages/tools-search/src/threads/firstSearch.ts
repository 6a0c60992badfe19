import { MessageChannel } from "node:worker_threads";
import { BeginAnew, sizesHere } from "../shared/beginAnew.ts";
import { ControlBlock } from "../shared/controlBlock.ts";
import type { FilesJob, Help, HelperMessage, HelpJob, HelpResults, TextJob, WorkerMessage } from "../shared/jobs.ts";
import type { SearchResult } from "../shared/searchResult.ts";
import type { SearchPool } from "./searchPool.ts";
import type { NoThreadsError, SearchThread } from "./searchThread.ts";

/** Files after which a thread is started to help: a smaller tree is searched before one could begin. */
const manyFiles = 1000;
/** Longest glob that is tried on the caller's thread. */
const longestGlob = 100;
/** A program that ends with its first search starts no thread for a second one. */
const warmUpMs = 50;
/** After a search of a small tree the next one of it needs no thread. */
const lateWarmUpMs = 500;
const pathsJoined = 256;
/** Small trees that are known at most. */
const mostTrees = 16;

let running = false;
let warmUp: { timer: NodeJS.Timeout; now: (() => void) | undefined } | undefined;
/** What is searched here though a thread is ready: there it takes longer to get going. */
const small = new Set<string>();

/**
 * Whether a search can begin on the caller's thread, while none of the pool is ready or in a tree that was found to be small: its
 * pattern cannot run away.
 */
export function mayBeginHere(pool: SearchPool, job: TextJob | FilesJob): boolean {
  if (running || (pool.ready && !small.has(treeOf(job)))) return false;
  const globs = job.kind === "text" ? (job.include ?? []) : [job.pattern];
  return !(job.kind === "text" && job.query.regex) && globs.join().length <= longestGlob;
}

/**
 * Searches on the caller's thread, in slices of a few milliseconds; a thread that is started meanwhile helps. Rejects with
 * `BeginAnew` where something would hold the caller up. `onNoThreads` is called, also later, where no thread can be started.
 */
export async function searchFirst(
  pool: SearchPool,
  job: TextJob | FilesJob,
  signal: AbortSignal | undefined,
  onNoThreads: (problem: NoThreadsError) => void = () => undefined,
): Promise<SearchResult> {
  running = true;
  clearTimeout(warmUp?.timer);
  // Searches of a large tree follow each other so soon that the timer never ends.
  warmUp?.now?.();
  const helper = job.kind === "text" ? createHelper(pool, job) : undefined;
  const memory = job.kind === "text" ? job.memory : undefined;
  const read = createPathList();
  let walked = 0;
  let result: SearchResult | undefined;
  try {
    const { searchHere, learnHere } = await import("../worker/searchHere.ts");
    const onWalk = (): void => {
      walked += 1;
    };
    result = await searchHere(job, signal, { help: helper, onRead: memory && read.add, onWalk, sizes: sizesHere });
    learnHere(walked < manyFiles ? read.take() : []);
    return result;
  } finally {
    running = false;
    helper?.release();
    // A search that was cut short does not tell how large the tree is.
    if (result?.more !== true) noteSize(treeOf(job), result === undefined ? Infinity : walked);
    const isLarge = walked >= manyFiles;
    const start = (): void => {
      warmUp = undefined;
      startThread(pool, memory, read.take(), onNoThreads);
    };
    const timer = setTimeout(start, isLarge ? warmUpMs : lateWarmUpMs).unref();
    warmUp = { timer, now: isLarge ? start : undefined };
  }
}

/** Paths, joined by NUL some at a time: each by itself would take three times the room. */
function createPathList() {
  let joined: string[] = [];
  let recent: string[] = [];
  return {
    add(path: string): void {
      recent.push(path);
      if (recent.length < pathsJoined) return;
      joined.push(recent.join("\0"));
      recent = [];
    },
    take(): string[] {
      const paths = [...joined, ...recent];
      joined = [];
      recent = [];
      return paths;
    },
  };
}

function treeOf(job: TextJob | FilesJob): string {
  const starts = job.kind === "text" ? job.starts : [job.start];
  return starts.map(({ path }) => path).join("\0");
}

function noteSize(tree: string, files: number): void {
  small.delete(tree);
  if (files < manyFiles) small.add(tree);
  const [oldest] = small;
  if (small.size > mostTrees && oldest !== undefined) small.delete(oldest);
}

/** The thread that takes batches of a search on the caller's thread, once it has started. */
function createHelper(pool: SearchPool, job: TextJob): Help & { release(): void } {
  const control = new ControlBlock();
  const results: HelpResults = { batches: [], problems: [], problemCount: 0, leftOut: 0 };
  let thread: SearchThread | undefined;
  let channel: MessageChannel | undefined;
  let files = 0;
  let given = 0;
  let starting: NodeJS.Timeout | undefined;
  let state: "working" | "done" | "failed" = "working";
  let onEnd: (() => void) | undefined;

  const endAs = (end: typeof state): void => {
    if (state === "working") state = end;
    onEnd?.();
  };
  const onMessage = (message: WorkerMessage): void => {
    if (message.kind === "matches") results.batches.push(message);
    if (message.kind === "failed") endAs("failed");
    if (message.kind !== "done") return;
    Object.assign(results, { ...message, batches: results.batches });
    endAs("done");
  };
  const start = (): void => {
    thread = pool.tryAcquire();
    if (thread === undefined) return;
    channel = new MessageChannel();
    channel.port1.unref();
    const help: HelpJob = { kind: "help", job, port: channel.port2, control: control.memory };
    thread.start(help, onMessage, () => endAs("failed"));
  };
  const post = (message: HelperMessage): void => channel?.port1.postMessage(message);
  return {
    offer(index, startNumber, batch) {
      files += batch.length;
      // In a turn of its own: it takes as long as a slice.
      if (files >= manyFiles) starting ??= setTimeout(start);
      if (channel === undefined || state !== "working" || !control.addPending()) return false;
      post({ kind: "batch", index, start: startNumber, paths: batch.join("\0") });
      given += 1;
      return true;
    },
    get full() {
      return results.batches.some(({ more }) => more);
    },
    async end(signal) {
      post({ kind: "end" });
      if (given > 0 && state === "working") {
        await new Promise<void>((resolve) => {
          onEnd = resolve;
          signal?.addEventListener("abort", onEnd, { once: true });
        });
        if (onEnd !== undefined) signal?.removeEventListener("abort", onEnd);
        signal?.throwIfAborted();
      }
      if (given > 0 && state !== "done") throw new BeginAnew();
      return results;
    },
    release() {
      clearTimeout(starting);
      post({ kind: "end" });
      channel?.port1.close();
      if (thread !== undefined) pool.release(thread);
    },
  };
}

/** Starts a thread for the next search, which first learns what this one read. It does not keep the process alive. */
function startThread(
  pool: SearchPool,
  memory: SharedArrayBuffer | undefined,
  paths: string[],
  onNoThreads: (problem: NoThreadsError) => void,
): void {
  const thread = pool.tryAcquire();
  if (pool.problem) onNoThreads(pool.problem);
  if (thread === undefined) return;
  thread.keepProcessAlive(false);
  const release = (): void => {
    pool.release(thread);
    if (pool.problem) onNoThreads(pool.problem);
  };
  const onMessage = ({ kind }: WorkerMessage): void => {
    if (kind === "done") release();
  };
  thread.start({ kind: "learn", memory, paths }, onMessage, release);
}
