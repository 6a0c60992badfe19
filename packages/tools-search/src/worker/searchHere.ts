import { ToolError } from "@toolcrib/core";
import { clip, patternSteps } from "@toolcrib/core/text";
import { FileMemory } from "../memory/fileMemory.ts";
import { BeginAnew, type SizeLimits } from "../shared/beginAnew.ts";
import type { BatchResult, FilesJob, Help, HelpResults, SearchStart, TextJob } from "../shared/jobs.ts";
import type { MatchClock } from "../shared/matchClock.ts";
import { createResult, joinBatches, type SearchResult } from "../shared/searchResult.ts";
import { createFileLearner } from "./learnFiles.ts";
import { createDirectoryLister, type DirectoryLister } from "./listDirectory.ts";
import { compilePathGlob, compileWalkGlob } from "./pathGlob.ts";
import {
  createBatchSearch,
  createProblems,
  type JobHost,
  listFound,
  type Problems,
  searchFilesOf,
} from "./searchJob.ts";
import { walkFiles } from "./walk.ts";

/** How long the caller's thread is busy at a time. */
const sliceMs = 4;
/** Longest line that a regular expression is tried on: an expression may take the square of it in steps. */
const longestLine = 5000;
/** Steps that an expression may take on one line: some 100 ms. */
const mostSteps = 1e8;

/** Throws a ToolError for a pattern that could hold the caller's thread up for long. `reason` says why there is no other thread. */
export function refuseSlowPatterns(job: TextJob | FilesJob, reason: string): void {
  if (job.kind === "text" && job.query.regex && patternSteps(job.query.text, longestLine) > mostSteps) {
    throw refusal(job.query.text, reason, "a literal, or an expression with one * or + at most and no repeated group");
  }
  const globs = job.kind === "text" ? job.include : [job.pattern];
  if (globs !== undefined && compilePathGlob(globs, job.kind === "text") === undefined) {
    throw refusal(globs[0] ?? "", reason, "a glob of *, **, ?, [a-z] and {a,b} only");
  }
}

function refusal(pattern: string, reason: string, instead: string): ToolError {
  return new ToolError({
    code: "execution_failed",
    message: `Not searched: ${clip(pattern)} could run for very long, and ${reason}. Here pass ${instead}.`,
  });
}

const untimed: MatchClock = {
  run: () => undefined,
  pause: () => undefined,
  without: (work) => work(),
};

export interface HereOptions {
  /** A thread that helps, if one does. */
  help?: Help | undefined;
  /** Called for each file that had to be read. */
  onRead?: ((path: string) => void) | undefined;
  /** Called for each file and folder that was walked. */
  onWalk?: (() => void) | undefined;
  /** What is larger ends the search with `BeginAnew`, and so does a glob that fast-glob might read differently. */
  sizes?: SizeLimits | undefined;
}

/** Learns files on the caller's thread, a millisecond of two, without keeping the process alive. */
const learner = createFileLearner((work) => {
  const timer = setTimeout(work, 1).unref();
  return () => clearTimeout(timer);
});

/** Learns the files of a small tree that the last search had to read (in each a path, or some joined by NUL), and what is left from before. */
export function learnHere(paths: readonly string[]): void {
  for (const some of paths) for (const path of some.split("\0")) learner.add(path);
  learner.learn();
}

/** The lister of the last search, with what it remembers. */
let last: { key: string; lister: DirectoryLister } | undefined;

function listerFor({ roots, deny }: TextJob | FilesJob, sizes: SizeLimits | undefined): DirectoryLister {
  if (sizes === undefined) return createDirectoryLister(roots, deny);
  const key = JSON.stringify([roots, deny, sizes]);
  if (last?.key !== key) last = { key, lister: createDirectoryLister(roots, deny, sizes) };
  return last.lister;
}

/**
 * Searches on the caller's thread, in slices: for hosts without threads, and while the first thread starts. Nothing could end a
 * pattern that hangs, so the job must have passed `refuseSlowPatterns` or hold no regular expression.
 */
export async function searchHere(
  job: TextJob | FilesJob,
  signal: AbortSignal | undefined,
  options: HereOptions = {},
): Promise<SearchResult> {
  const globs = job.kind === "text" ? job.include : [job.pattern];
  if (options.sizes !== undefined && globs !== undefined && compileWalkGlob(globs, job.kind === "text") === undefined) {
    throw new BeginAnew();
  }
  const result = createResult();
  const problems = createProblems();
  if (job.kind === "files") {
    await inSlices(searchFiles(job, problems, result, options), signal);
  } else {
    const batches: BatchResult[] = [];
    await inSlices(searchText(job, problems, batches, options), signal);
    const helped = await options.help?.end(signal);
    joinBatches([...batches, ...(helped?.batches ?? [])], job, result);
    if (helped !== undefined) addProblems(result, helped);
  }
  addProblems(result, { problems: problems.found, problemCount: problems.count, leftOut: problems.leftOut });
  return result;
}

function addProblems(result: SearchResult, more: Omit<HelpResults, "batches">): void {
  result.problems.push(...more.problems);
  result.problemCount += more.problemCount;
  result.leftOut += more.leftOut;
}

async function inSlices(steps: Generator<void, void, undefined>, signal: AbortSignal | undefined): Promise<void> {
  try {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      const started = performance.now();
      do {
        if (steps.next().done) return;
      } while (performance.now() - started < sliceMs);
    }
  } finally {
    // Closes the file that is open.
    steps.return();
  }
}

function* searchText(
  job: TextJob,
  problems: Problems,
  batches: BatchResult[],
  { help, onRead, onWalk, sizes }: HereOptions,
): Generator<void, void, undefined> {
  let full = false;
  const memory = job.memory && new FileMemory(job.memory);
  learner.start(memory);
  const host: JobHost = {
    clock: untimed,
    memory,
    onRead: onRead ?? (() => undefined),
    largestFile: sizes?.file,
    yieldsAfterFiles: true,
    stopsNow: () => false,
    stopsBeforeNextBatch: () => full || help?.full === true,
    onBatch(batch) {
      full = batch.more;
      batches.push(batch);
    },
    saveLine: () => undefined,
    dropSavedLines: () => undefined,
  };
  const filesOf = (start: SearchStart): Iterable<string | undefined> =>
    start.isDirectory ? foundFiles(start, job.include, true, job, problems, sizes, onWalk) : [""];
  const searchBatch = createBatchSearch({ ...job, longestLine }, host, problems);
  yield* searchFilesOf(job, filesOf, searchBatch, host, help?.offer ?? (() => false));
}

function* searchFiles(
  job: FilesJob,
  problems: Problems,
  result: SearchResult,
  { onWalk, sizes }: HereOptions,
): Generator<void, void, undefined> {
  const found: string[] = [];
  for (const path of foundFiles(job.start, [job.pattern], false, job, problems, sizes, onWalk)) {
    if (path !== undefined) found.push(path);
    yield;
  }
  const { text, shown, total } = listFound(job, found);
  Object.assign(result, { text, shown, total, more: shown < total });
}

/** Undefined between two files: the walk may be left there. */
function* foundFiles(
  start: SearchStart,
  patterns: readonly string[] | undefined,
  anyDepth: boolean,
  job: TextJob | FilesJob,
  problems: Problems,
  sizes: SizeLimits | undefined,
  onWalk: (() => void) | undefined,
): Generator<string | undefined, void, undefined> {
  const matches = patterns === undefined ? undefined : compilePathGlob(patterns, anyDepth);
  const lister = listerFor(job, sizes);
  const counting: DirectoryLister = {
    ...lister,
    list(path, inherited) {
      const visible = lister.list(path, inherited);
      problems.leftOut += visible.leftOut;
      return visible;
    },
  };
  for (const path of walkFiles(counting, start.path, problems.add)) {
    onWalk?.();
    yield path === undefined || matches === undefined || matches(path) ? path : undefined;
  }
}
