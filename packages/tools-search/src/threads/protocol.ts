import type { MessagePort } from "node:worker_threads";
import type { Query } from "../worker/matchLines.ts";
import type { BatchReport } from "../worker/matchReport.ts";

/** Where a search begins. */
export interface SearchStart {
  /** Absolute and canonical, with `/`. */
  path: string;
  /** What stands before a found path when it is printed: empty or ending in `/`; for a file the whole. Not quoted yet. */
  shown: string;
  isDirectory: boolean;
}

/** Matching lines, or files with at least one: their paths, or also how many lines match in each. */
export type SearchMode = "lines" | "files" | "count";

export interface TextJob {
  kind: "text";
  starts: SearchStart[];
  query: Query;
  /** Globs that a walked file must match, relative to its start; undefined for all files. */
  include: string[] | undefined;
  mode: SearchMode;
  context: number;
  /** Results (matches, or files in the other modes) after which to stop. */
  limit: number;
  /** Bytes of results after which to stop. */
  maxBytes: number;
  roots: readonly string[] | undefined;
  /** Longest line that a regular expression is tried on; left out for any. */
  longestLine?: number;
}

export interface FilesJob {
  kind: "files";
  start: SearchStart;
  pattern: string;
  /** Paths to print; all are counted. */
  limit: number;
  /** Bytes of paths to print; the first is printed whatever its length. */
  maxBytes: number;
  roots: readonly string[] | undefined;
}

/** A worker's share of another worker's job: paths come in over `port`. */
export interface HelpJob {
  kind: "help";
  job: TextJob;
  port: MessagePort;
  /** The control of the worker that is helped. */
  control: SharedArrayBuffer;
}

export type Job = TextJob | FilesJob | HelpJob;

/** A path that could not be read, and its system error code. */
export interface Problem {
  path: string;
  code: string;
}

/** From the walking worker to its helper. */
export type HelperMessage = { kind: "batch"; index: number; start: number; paths: string } | { kind: "end" };

/** What the batch of that number gave. */
export interface BatchResult extends BatchReport {
  index: number;
}

/** From a worker to the caller's thread. */
export type WorkerMessage =
  /** It is loaded; said once. */
  | { kind: "ready" }
  | ({ kind: "matches" } & BatchResult)
  | { kind: "files"; text: string; shown: number; total: number }
  /** There is enough left for a second worker. */
  | { kind: "large"; port: MessagePort }
  | { kind: "failed"; message: string }
  | { kind: "done"; problems: Problem[]; problemCount: number };

/** Slots of the control as an Int32Array. */
export const slots: Readonly<Record<"stop" | "helperReady" | "pending" | "salvaged", number>> = {
  /** 1: leave the search; 2: leave it before the next batch. */
  stop: 0,
  /** 1: the helper takes batches. */
  helperReady: 1,
  /** Batches that the helper has not finished. */
  pending: 2,
  /** Bytes of the salvage area in use. */
  salvaged: 3,
};

/** Slots of the control as a Float64Array: ms spent matching, and since when (0: not now). */
export const clockSlots: Readonly<Record<"spent" | "since", number>> = { spent: 2, since: 3 };

/** Where the worker writes its thread id (an Int32; Linux only, else 0). */
export const threadIdStart = 32;

/** Where the salvage area begins: the match lines, as UTF-8, of the batch that is being searched. */
export const salvageStart = 40;
const salvageSize = 2 ** 18;

/** Memory that a worker shares with the caller's thread, which can read it while the worker hangs. */
export function createControl(): SharedArrayBuffer {
  return new SharedArrayBuffer(salvageStart + salvageSize);
}
