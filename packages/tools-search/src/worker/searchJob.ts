import { shownPath } from "../shownPath.ts";
import type { MatchClock } from "../threads/matchClock.ts";
import type { BatchResult, FilesJob, Problem, SearchStart, TextJob } from "../threads/protocol.ts";
import { createFileReport } from "./fileReport.ts";
import { createMatchReport } from "./matchReport.ts";
import { createFileSearch } from "./searchFile.ts";

/** Files of the first batch (the first matches come soon) and of a later one. */
const firstBatch = 16;
const largestBatch = 96;
const mostProblems = 5;

/** Where a job runs: in a thread of its own, or in slices on the caller's. */
export interface JobHost {
  clock: MatchClock;
  /** Whether the job is to yield after each file; in a thread of its own that would only cost time. */
  sliced: boolean;
  /** Whether to leave at once. */
  stopped(): boolean;
  /** Whether to leave before the next batch. */
  enough(): boolean;
  onBatch(result: BatchResult): void;
  /** Called with each match line of a regular expression as soon as it is found, and with nothing between batches. */
  salvage(line?: string): void;
}

/** What could not be read, by path and code. */
export interface Problems {
  readonly found: Problem[];
  readonly count: number;
  /** Throws what is no system error. */
  add(path: string, error: unknown): void;
}

export function createProblems(): Problems {
  const found: Problem[] = [];
  let count = 0;
  return {
    found,
    get count() {
      return count;
    },
    add(path, error) {
      const code = (error as { code?: unknown } | null)?.code;
      if (typeof code !== "string") throw error;
      // Gone since it was listed: as if it had never been there. A name that is no UTF-8 only looks gone.
      if ((code === "ENOENT" || code === "ENOTDIR") && !path.includes("\ufffd")) return;
      count += 1;
      if (found.length < mostProblems) found.push({ path, code });
    },
  };
}

/** Searches the files of one batch, hands on what it found and returns how many results that was. */
export type SearchBatch = (
  index: number,
  start: number,
  paths: readonly string[],
) => Generator<void, number, undefined>;

/** Throws a SyntaxError for an invalid regular expression. */
export function createBatchSearch(job: TextJob, host: JobHost, problems: Problems): SearchBatch {
  const searchFile = createFileSearch(job, host.clock, host.stopped);
  const options = {
    limit: job.limit,
    maxBytes: job.maxBytes,
    onLine: job.query.regex ? host.salvage : undefined,
  };
  // What comes after a full batch is not shown.
  let full = false;
  let length = 0;
  return function* searchBatch(index, start, paths) {
    const from = job.starts[start] ?? job.starts[0];
    if (from === undefined || full) return 0;
    const prefix = from.path.endsWith("/") ? from.path : `${from.path}/`;
    host.salvage();
    const report =
      job.mode === "lines" ? createMatchReport(job.context, options) : createFileReport(job.mode === "count", options);
    for (const path of paths) {
      const whole = from.isDirectory ? prefix + path : from.path;
      try {
        const found = searchFile(whole, from.isDirectory ? from.shown + path : from.shown, report);
        const isText = typeof found === "boolean" ? found : yield* found;
        // Passed over in silence on a walk; who names a file is told.
        if (!isText && !from.isDirectory) problems.add(whole, { code: "binary" });
      } catch (error) {
        problems.add(whole, error);
      }
      if (report.full() || host.stopped()) break;
      if (host.sliced) yield;
    }
    const result = report.finish();
    length += result.text.length;
    full = result.more || length > job.maxBytes + 1;
    if (result.ends.length > 0) host.onBatch({ index, ...result, more: full });
    host.salvage();
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
      return results < job.limit && !host.enough();
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
      if (batch.length >= Math.min(firstBatch * (index + 1), largestBatch) && !(yield* flush())) return;
    }
    if (!(yield* flush())) return;
  }
}

/** The lines of a reply that lists `found`, sorted, within the limits of the job. */
export function listFound(job: FilesJob, found: string[]): { text: string; shown: number; total: number } {
  found.sort();
  const lines: string[] = [];
  let bytes = 0;
  for (const path of found.slice(0, job.limit)) {
    const line = `${shownPath(job.start.shown + path)}\n`;
    bytes += Buffer.byteLength(line);
    if (lines.length > 0 && bytes - 1 > job.maxBytes) break;
    lines.push(line);
  }
  return { text: lines.join(""), shown: lines.length, total: found.length };
}
