import { printableName } from "@toolcrib/core/text";
import type { BatchResult, FilesJob, Problem, SearchStart, TextJob } from "../shared/jobs.ts";
import { createFileReport, createMatchReport } from "./matchReport.ts";
import { createFileSearch, type FileSearchHost } from "./searchFile.ts";

/** Files of the first batch (the first matches come soon) and of a later one. */
const firstBatch = 16;
const largestBatch = 96;
/** Where files are known, which takes a fraction of the time. */
const largestKnownBatch = 384;
/** Files after which it is asked whether to stop. */
const filesAtOnce = 16;
const mostProblems = 5;

/** Where a job runs: in a thread of its own, or in slices on the caller's. */
export interface JobHost extends FileSearchHost {
  /** Whether the job is to yield after each file; in a thread of its own that would only cost time. */
  yieldsAfterFiles: boolean;
  /** Whether to leave before the next batch. */
  stopsBeforeNextBatch(): boolean;
  onBatch(result: BatchResult): void;
  /** Called with each match line of a regular expression as soon as it is found. */
  saveLine(line: string): void;
  /** Called before and after each batch, whose lines are then reported in another way. */
  dropSavedLines(): void;
}

/** What could not be read, by path and code. */
export interface Problems {
  readonly found: Problem[];
  readonly count: number;
  /** Denied names that were left out. */
  leftOut: number;
  /** Throws the error again if it is not a system error. */
  add(path: string, error: unknown): void;
}

export function createProblems(): Problems {
  const found: Problem[] = [];
  let count = 0;
  return {
    found,
    leftOut: 0,
    get count() {
      return count;
    },
    add(path, error) {
      const code = (error as { code?: unknown } | null)?.code;
      if (typeof code !== "string") throw error;
      // Removed since it was listed, so not a problem. A name that is not valid UTF-8 only looks removed.
      if ((code === "ENOENT" || code === "ENOTDIR") && !path.includes("\ufffd")) return;
      count += 1;
      if (found.length < mostProblems) found.push({ path, code });
    },
  };
}

/** Searches the files of one batch, passes on what it found and returns the number of results. */
export type SearchBatch = (
  index: number,
  start: number,
  paths: readonly string[],
) => Generator<void, number, undefined>;

/** Throws a SyntaxError for an invalid regular expression. */
export function createBatchSearch(job: TextJob, host: JobHost, problems: Problems): SearchBatch {
  const searchFile = createFileSearch(job, host);
  const options = {
    limit: job.limit,
    maxBytes: job.maxBytes,
    onLine: job.query.regex ? host.saveLine : undefined,
  };
  // Results after a full batch are not shown.
  let full = false;
  let length = 0;
  let seen = 0;
  return function* searchBatch(index, start, paths) {
    const from = job.starts[start] ?? job.starts[0];
    if (from === undefined || full) return 0;
    const prefix = from.path.endsWith("/") ? from.path : `${from.path}/`;
    host.dropSavedLines();
    const report =
      job.mode === "lines" ? createMatchReport(job.context, options) : createFileReport(job.mode === "count", options);
    for (const path of paths) {
      const whole = from.isDirectory ? prefix + path : from.path;
      try {
        const found = searchFile(whole, from.isDirectory ? from.shown + path : from.shown, report);
        const isText = typeof found === "boolean" ? found : yield* found;
        // Skipped silently on a walk, but reported if the caller named the file.
        if (!isText && !from.isDirectory) problems.add(whole, { code: "binary" });
      } catch (error) {
        problems.add(whole, error);
      }
      seen += 1;
      if (report.full() || (seen % filesAtOnce === 0 && host.stopsNow())) break;
      if (host.yieldsAfterFiles) yield;
    }
    const result = report.finish();
    length += result.text.length;
    full = result.more || length > job.maxBytes + 1;
    if (result.ends.length > 0) host.onBatch({ index, ...result, more: full });
    host.dropSavedLines();
    return result.ends.length;
  };
}

/** Finds the files of a job and searches them batch by batch; `offer` may take a batch over. */
export function* searchFilesOf(
  job: TextJob,
  filesOf: (start: SearchStart) => Iterable<string | undefined>,
  searchBatch: SearchBatch,
  host: JobHost,
  offer: (index: number, start: number, paths: readonly string[]) => boolean,
): Generator<void, void, undefined> {
  const seen = job.starts.length > 1 ? new Set<string>() : undefined;
  const largest = host.memory === undefined || host.memory.isEmpty ? largestBatch : largestKnownBatch;
  let index = 0;
  let results = 0;
  for (const [number, start] of job.starts.entries()) {
    let batch: string[] = [];
    const flush = function* (): Generator<void, boolean, undefined> {
      if (batch.length > 0) {
        if (!offer(index, number, batch)) results += yield* searchBatch(index, number, batch);
        index += 1;
        batch = [];
      }
      return results < job.limit && !host.stopsBeforeNextBatch();
    };
    for (const path of filesOf(start)) {
      if (path === undefined) {
        yield;
        continue;
      }
      if (seen !== undefined) {
        const full = start.isDirectory ? `${start.path}/${path}` : start.path;
        if (seen.has(full)) continue;
        seen.add(full);
      }
      batch.push(path);
      if (batch.length >= Math.min(firstBatch * (index + 1), largest) && !(yield* flush())) return;
    }
    if (!(yield* flush())) return;
  }
}

/** The lines of a reply that lists `found`, in the order of its paths, within the limits of the job. */
export function listFound(job: FilesJob, found: readonly string[]): { text: string; shown: number; total: number } {
  const lines: string[] = [];
  let bytes = 0;
  for (const path of found.slice(0, job.limit)) {
    const line = `${printableName(job.start.shown + path)}\n`;
    bytes += Buffer.byteLength(line);
    if (lines.length > 0 && bytes - 1 > job.maxBytes) break;
    lines.push(line);
  }
  return { text: lines.join(""), shown: lines.length, total: found.length };
}
