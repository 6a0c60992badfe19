import { MessageChannel, type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { systemThreadId } from "@toolcrib/core/files";
import { messageOf } from "@toolcrib/core/text";
import { FileMemory } from "../memory/fileMemory.ts";
import { ControlBlock } from "../shared/controlBlock.ts";
import type {
  FilesJob,
  HelperMessage,
  HelpJob,
  Job,
  LearnJob,
  SearchStart,
  TextJob,
  WorkerMessage,
} from "../shared/jobs.ts";
import { createMatchClock } from "../shared/matchClock.ts";
import { loadGlobFiles } from "./globFiles.ts";
import { createFileLearner } from "./learnFiles.ts";
import { createDirectoryLister, type DirectoryLister } from "./listDirectory.ts";
import { compileWalkGlob } from "./pathGlob.ts";
import { createWindowReader, type WindowReader } from "./readWindows.ts";
import {
  createBatchSearch,
  createProblems,
  type JobHost,
  listFound,
  type Problems,
  type SearchBatch,
  searchFilesOf,
} from "./searchJob.ts";
import { walkFiles } from "./walk.ts";

/** Files after which a second worker is asked for. */
const manyFiles = 128;

const port = parentPort as MessagePort;
const control = new ControlBlock(workerData as SharedArrayBuffer);
const clock = createMatchClock(control);
const learner = createFileLearner();
const listers = new Map<string, DirectoryLister>();

const readers = new Map<boolean, WindowReader>();

const host: JobHost = {
  clock,
  reader(confined) {
    const reader = readers.get(confined) ?? createWindowReader(confined);
    readers.set(confined, reader);
    return reader;
  },
  memory: undefined,
  onRead: learner.add,
  yieldsAfterFiles: false,
  stopsNow: () => control.stopsNow,
  stopsBeforeNextBatch: () => control.stopsBeforeNextBatch,
  onBatch(result) {
    if (result.more) control.stopBeforeNextBatch();
    const { ends, pathLengths } = result;
    port.postMessage({ kind: "matches", ...result } satisfies WorkerMessage, [ends.buffer, pathLengths.buffer]);
  },
  saveLine: (line) => control.saveLine(line),
  dropSavedLines: () => control.dropSavedLines(),
};

// By which its priority can be lowered.
control.threadId = systemThreadId();
post({ kind: "ready" });

port.on("message", (job: Job) => void serve(job));

async function serve(job: Job): Promise<void> {
  const problems = createProblems();
  try {
    if (job.kind === "help") {
      remember(job.job);
      help(job, problems, () => finish(problems));
      return;
    }
    if (job.kind !== "files") remember(job);
    if (job.kind === "learn") for (const some of job.paths) for (const path of some.split("\0")) learner.add(path);
    else if (job.kind === "files") searchFiles(job, await finderOf(job, [job.pattern], false, problems));
    else searchText(job, problems, await finderOf(job, job.include, true, problems));
  } catch (error) {
    clock.pause();
    post({ kind: "failed", message: messageOf(error) });
  }
  finish(problems);
}

function post(message: WorkerMessage): void {
  port.postMessage(message);
}

function remember({ memory }: TextJob | LearnJob): void {
  host.memory = memory && new FileMemory(memory);
  learner.start(host.memory);
}

function finish({ found, count, leftOut }: Problems): void {
  host.memory = undefined;
  learner.learn();
  post({ kind: "done", problems: found, problemCount: count, leftOut });
}

/** One lister for each set of limits, kept from call to call with what it remembers. */
function listerFor({ roots, deny }: TextJob | FilesJob, problems: Problems): DirectoryLister {
  const key = JSON.stringify([roots, deny]);
  if (listers.size > 16) listers.clear();
  const lister = listers.get(key) ?? createDirectoryLister(roots, deny);
  listers.set(key, lister);
  return {
    rulesAbove: lister.rulesAbove,
    list(path, inherited) {
      const visible = clock.without(() => lister.list(path, inherited));
      problems.leftOut += visible.leftOut;
      return visible;
    },
  };
}

/** Runs all steps at once. */
function run<Result>(steps: Generator<void, Result, undefined>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The files below a directory that match, in the order of their paths. */
type FindFiles = (directory: string) => Iterable<string | undefined>;

/** Without globs all files, as they are walked. fast-glob is loaded only for a glob that needs it. */
async function finderOf(
  job: TextJob | FilesJob,
  globs: readonly string[] | undefined,
  anyDepth: boolean,
  problems: Problems,
): Promise<FindFiles> {
  const lister = listerFor(job, problems);
  const walk: FindFiles = (directory) => walkFiles(lister, directory, problems.add);
  if (globs === undefined) return walk;
  const matches = compileWalkGlob(globs, anyDepth);
  const globFiles = matches === undefined ? await loadGlobFiles() : undefined;
  return (directory) => {
    clock.run();
    const found =
      globFiles?.(lister, directory, globs, anyDepth, problems.add).sort() ??
      [...walk(directory)].filter((path) => path !== undefined && matches?.(path));
    clock.pause();
    return found;
  };
}

function searchText(job: TextJob, problems: Problems, findFiles: FindFiles): void {
  const searchBatch = createBatchSearch(job, host, problems);
  const helper = createHelper();
  const filesOf = (start: SearchStart): Iterable<string | undefined> =>
    start.isDirectory ? findFiles(start.path) : [""];
  try {
    run(searchFilesOf(job, filesOf, searchBatch, host, helper.offer));
  } finally {
    helper.end();
  }
}

/** The second worker of a large search. It is offered every batch and takes one while it has fewer than two. */
function createHelper() {
  let channel: MessageChannel | undefined;
  let files = 0;
  const take = (index: number, start: number, batch: readonly string[]): boolean => {
    if (channel === undefined || !control.addPending()) return false;
    channel.port1.postMessage({ kind: "batch", index, start, paths: batch.join("\0") } satisfies HelperMessage);
    return true;
  };
  return {
    offer(index: number, start: number, batch: readonly string[]): boolean {
      const taken = take(index, start, batch);
      if (files >= manyFiles && channel === undefined) {
        channel = new MessageChannel();
        channel.port1.unref();
        port.postMessage({ kind: "large", port: channel.port2 } satisfies WorkerMessage, [channel.port2]);
      }
      files += batch.length;
      return taken;
    },
    end() {
      channel?.port1.postMessage({ kind: "end" } satisfies HelperMessage);
      channel?.port1.close();
    },
  };
}

function help(help: HelpJob, problems: Problems, onEnd: () => void): void {
  // Another thread walks: what is remembered for it need not be held twice.
  listers.clear();
  const searchBatch: SearchBatch = createBatchSearch(help.job, host, problems);
  const helped = new ControlBlock(help.control);
  const take = (message: HelperMessage): void => {
    if (message.kind === "end") {
      help.port.close();
      onEnd();
      return;
    }
    if (!host.stopsNow()) run(searchBatch(message.index, message.start, message.paths.split("\0")));
    helped.removePending();
  };
  help.port.on("message", (first: HelperMessage) => {
    take(first);
    for (let next = receiveMessageOnPort(help.port); next !== undefined; next = receiveMessageOnPort(help.port)) {
      take(next.message as HelperMessage);
    }
  });
  helped.setHelperReady();
}

function searchFiles(job: FilesJob, findFiles: FindFiles): void {
  const found = [...findFiles(job.start.path)].filter((path) => path !== undefined);
  post({ kind: "files", ...listFound(job, found) });
}
