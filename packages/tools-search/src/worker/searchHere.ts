import { ToolError } from "@toolcrib/core";
import { clip, patternSteps } from "@toolcrib/core/text";
import type { BatchResult, FilesJob, SearchStart, TextJob } from "../shared/jobs.ts";
import type { MatchClock } from "../shared/matchClock.ts";
import { createResult, joinBatches, type SearchResult } from "../shared/searchResult.ts";
import { createDirectoryLister, type DirectoryLister } from "./listDirectory.ts";
import { compilePathGlob } from "./pathGlob.ts";
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
const sliceMs = 10;
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

/**
 * Searches on the caller's thread, in slices, for hosts without threads. Nothing could end a pattern that hangs, so the job must
 * have passed `refuseSlowPatterns`.
 */
export async function searchHere(job: TextJob | FilesJob, signal: AbortSignal | undefined): Promise<SearchResult> {
  const result = createResult();
  const problems = createProblems();
  await inSlices(job.kind === "text" ? searchText(job, problems, result) : searchFiles(job, problems, result), signal);
  result.problems = problems.found;
  result.problemCount = problems.count;
  result.leftOut = problems.leftOut;
  return result;
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

function* searchText(job: TextJob, problems: Problems, result: SearchResult): Generator<void, void, undefined> {
  const batches: BatchResult[] = [];
  let full = false;
  const host: JobHost = {
    clock: untimed,
    memory: undefined,
    onRead: () => undefined,
    yieldsAfterFiles: true,
    stopsNow: () => false,
    stopsBeforeNextBatch: () => full,
    onBatch(batch) {
      full = batch.more;
      batches.push(batch);
    },
    saveLine: () => undefined,
    dropSavedLines: () => undefined,
  };
  const filesOf = (start: SearchStart): Iterable<string | undefined> =>
    start.isDirectory ? foundFiles(start, job.include, true, job, problems) : [""];
  const searchBatch = createBatchSearch({ ...job, longestLine }, host, problems);
  yield* searchFilesOf(job, filesOf, searchBatch, host, () => false);
  joinBatches(batches, job, result);
}

function* searchFiles(job: FilesJob, problems: Problems, result: SearchResult): Generator<void, void, undefined> {
  const found: string[] = [];
  for (const path of foundFiles(job.start, [job.pattern], false, job, problems)) {
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
  { roots, deny }: TextJob | FilesJob,
  problems: Problems,
): Generator<string | undefined, void, undefined> {
  const matches = patterns === undefined ? undefined : compilePathGlob(patterns, anyDepth);
  const lister = createDirectoryLister(roots, deny);
  const counting: DirectoryLister = {
    ...lister,
    list(path, inherited) {
      const visible = lister.list(path, inherited);
      problems.leftOut += visible.leftOut;
      return visible;
    },
  };
  for (const path of walkFiles(counting, start.path, problems.add)) {
    yield matches === undefined || matches(path) ? path : undefined;
  }
}
