import { readlinkSync } from "node:fs";
import { MessageChannel, type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { createDirectoryLister, type DirectoryLister } from "./listDirectory.ts";
import { createMatchClock } from "./matchClock.ts";
import { createMatchReport } from "./matchReport.ts";
import {
  type FilesJob,
  type HelperMessage,
  type HelpJob,
  type Job,
  type Problem,
  salvageStart,
  slots,
  type TextJob,
  threadIdStart,
  type WorkerMessage,
} from "./protocol.ts";
import { createFileSearch } from "./searchFile.ts";
import { shownPath } from "./shownPath.ts";
import { createWalker, type Walker } from "./walk.ts";

/** Files of the first batch (the first matches come soon) and of a later one. */
const firstBatch = 16;
const largestBatch = 96;
/** Files after which a second worker is asked for. */
const manyFiles = 128;
const mostProblems = 5;

const port = parentPort as MessagePort;
const control = workerData as SharedArrayBuffer;
const flags = new Int32Array(control, 0, 4);
const salvage = Buffer.from(control, salvageStart);
const clock = createMatchClock(control);
new Int32Array(control, threadIdStart, 1)[0] = threadId();
let listers = new Map<string, DirectoryLister>();

port.on("message", (job: Job) => {
  clock.reset();
  const problems = createProblems();
  try {
    if (job.kind === "help") {
      help(job, problems, () => finish(problems));
      return;
    }
    if (job.kind === "text") searchText(job, problems);
    else searchFiles(job, problems);
  } catch (error) {
    clock.pause();
    post({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
  finish(problems);
});

/** The system's id of this thread, by which its priority can be lowered. */
function threadId(): number {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").pop()) || 0;
  } catch {
    return 0;
  }
}

function post(message: WorkerMessage): void {
  port.postMessage(message);
}

function finish({ found, count }: Problems): void {
  post({ kind: "done", problems: found, problemCount: count() });
}

function stopped(): boolean {
  return Atomics.load(flags, slots.stop) === 1;
}

interface Problems {
  found: Problem[];
  count(): number;
  add(path: string, error: unknown): void;
}

function createProblems(): Problems {
  const found: Problem[] = [];
  let count = 0;
  return {
    found,
    count: () => count,
    add(path, error) {
      const code = (error as { code?: unknown }).code;
      if (typeof code !== "string") throw error;
      // Gone since it was listed: as if it had never been there. A name that is no UTF-8 only looks gone.
      if ((code === "ENOENT" || code === "ENOTDIR") && !path.includes("\ufffd")) return;
      count += 1;
      if (found.length < mostProblems) found.push({ path, code });
    },
  };
}

/** One lister for each set of roots, kept from call to call with what it learned. */
function walkerFor(roots: readonly string[] | undefined): Walker {
  const key = JSON.stringify(roots ?? null);
  if (listers.size > 16) listers = new Map();
  const lister = listers.get(key) ?? createDirectoryLister(roots);
  listers.set(key, lister);
  return createWalker({
    rulesAbove: lister.rulesAbove,
    list: (path, inherited) => clock.without(() => lister.list(path, inherited)),
  });
}

type SearchBatch = (index: number, start: number, paths: readonly string[]) => number;

/** Searches the files of one batch, posts what it found and returns how many matches that was. */
function createBatchSearch(job: TextJob, problems: Problems): SearchBatch {
  const searchFile = createFileSearch(job, clock, stopped);
  return (index, start, paths) => {
    const from = job.starts[start] ?? job.starts[0];
    if (from === undefined) return 0;
    const prefix = from.path.endsWith("/") ? from.path : `${from.path}/`;
    flags[slots.salvaged] = 0;
    const report = createMatchReport(job.context, job.query.regex ? saveLine : undefined);
    for (const path of paths) {
      const full = from.isDirectory ? prefix + path : from.path;
      try {
        const isText = searchFile(full, from.isDirectory ? from.shown + path : from.shown, report, job.limit);
        // Passed over in silence on a walk; who names a file is told.
        if (!isText && !from.isDirectory) problems.add(full, { code: "binary" });
      } catch (error) {
        problems.add(full, error);
      }
      if (report.count >= job.limit || stopped()) break;
    }
    const { text, ends } = report.finish();
    if (ends.length > 0) port.postMessage({ kind: "matches", index, text, ends }, [ends.buffer]);
    flags[slots.salvaged] = 0;
    return report.count;
  };
}

/** Keeps a match where the caller's thread finds it, should the next match never end. */
function saveLine(line: string): void {
  const used = flags[slots.salvaged] ?? 0;
  const free = salvage.length - used;
  if (line.length * 3 <= free) flags[slots.salvaged] = used + salvage.write(line, used);
}

function searchText(job: TextJob, problems: Problems): void {
  const searchBatch = createBatchSearch(job, problems);
  const helper = createHelper();
  const walker = walkerFor(job.roots);
  const seen = job.starts.length > 1 ? new Set<string>() : undefined;
  let index = 0;
  let files = 0;
  let matches = 0;
  try {
    for (const [number, start] of job.starts.entries()) {
      let batch: string[] = [];
      const flush = (): boolean => {
        if (batch.length > 0) {
          if (!helper.take(index, number, batch)) matches += searchBatch(index, number, batch);
          index += 1;
          files += batch.length;
          batch = [];
          if (files >= manyFiles) helper.call();
        }
        return matches < job.limit && !stopped();
      };
      for (const path of filesOf(start, job.include, walker, problems)) {
        if (seen !== undefined) {
          const full = start.isDirectory ? `${start.path}/${path}` : start.path;
          if (seen.has(full)) continue;
          seen.add(full);
        }
        batch.push(path);
        if (batch.length >= Math.min(firstBatch * (index + 1), largestBatch) && !flush()) return;
      }
      if (!flush()) return;
    }
  } finally {
    helper.end();
  }
}

function* filesOf(
  start: TextJob["starts"][number],
  include: string[] | undefined,
  walker: Walker,
  problems: Problems,
): Generator<string, void, undefined> {
  if (!start.isDirectory) yield "";
  else if (include === undefined) yield* walker.walk(start.path, problems.add);
  else {
    clock.run();
    const found = walker.glob(start.path, include, true, problems.add).sort();
    clock.pause();
    yield* found;
  }
}

/** The second worker of a large search: it is offered every batch, and takes one while it has fewer than two. */
function createHelper() {
  let channel: MessageChannel | undefined;
  return {
    call() {
      if (channel !== undefined) return;
      channel = new MessageChannel();
      channel.port1.unref();
      port.postMessage({ kind: "large", port: channel.port2 } satisfies WorkerMessage, [channel.port2]);
    },
    take(index: number, start: number, batch: readonly string[]): boolean {
      if (channel === undefined || Atomics.load(flags, slots.helperReady) === 0) return false;
      if (Atomics.load(flags, slots.pending) >= 2) return false;
      Atomics.add(flags, slots.pending, 1);
      channel.port1.postMessage({ kind: "batch", index, start, paths: batch.join("\0") } satisfies HelperMessage);
      return true;
    },
    end() {
      channel?.port1.postMessage({ kind: "end" } satisfies HelperMessage);
      channel?.port1.close();
    },
  };
}

function help(help: HelpJob, problems: Problems, onEnd: () => void): void {
  const searchBatch = createBatchSearch(help.job, problems);
  const helped = new Int32Array(help.control, 0, 4);
  const take = (message: HelperMessage): void => {
    if (message.kind === "end") {
      help.port.close();
      onEnd();
      return;
    }
    if (!stopped()) searchBatch(message.index, message.start, message.paths.split("\0"));
    Atomics.sub(helped, slots.pending, 1);
  };
  help.port.on("message", (first: HelperMessage) => {
    take(first);
    for (let next = receiveMessageOnPort(help.port); next !== undefined; next = receiveMessageOnPort(help.port)) {
      take(next.message as HelperMessage);
    }
  });
  Atomics.store(helped, slots.helperReady, 1);
}

function searchFiles(job: FilesJob, problems: Problems): void {
  const walker = walkerFor(job.roots);
  clock.run();
  const found = walker.glob(job.start.path, job.pattern, false, problems.add).sort();
  clock.pause();
  const lines = found.slice(0, job.limit).map((path) => `${shownPath(job.start.shown + path)}\n`);
  post({ kind: "files", text: lines.join(""), shown: lines.length, total: found.length });
}
