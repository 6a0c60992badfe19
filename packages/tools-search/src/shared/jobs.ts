import type { MessagePort } from "node:worker_threads";
import type { DenyRules } from "@toolcrib/core/files";

/** What to look for in each line. */
export interface Query {
  text: string;
  regex: boolean;
  caseSensitive: boolean;
}

/** Where a search begins. */
export interface SearchStart {
  /** Absolute and canonical, with `/`. */
  path: string;
  /** What stands before a found path when it is printed: empty or ending in `/`. For a file, its whole path. Not quoted yet. */
  shown: string;
  isDirectory: boolean;
}

/** Matching lines, or files with at least one: their paths, or also how many lines match in each. */
export type SearchMode = "lines" | "files" | "count";

/** Where a search may read, and what it leaves out. */
interface Limits {
  roots: readonly string[] | undefined;
  deny?: DenyRules | undefined;
}

export interface TextJob extends Limits {
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
  /** Longest line that a regular expression is tried on; left out for any. */
  longestLine?: number;
  /** What earlier searches learned of these files; left out if nothing may be kept. */
  memory?: SharedArrayBuffer | undefined;
}

export interface FilesJob extends Limits {
  kind: "files";
  start: SearchStart;
  pattern: string;
  /** Paths to print; all are counted. */
  limit: number;
  /** Bytes of paths to print; the first is printed whatever its length. */
  maxBytes: number;
}

/** A worker's share of another worker's job: paths come in over `port`. */
export interface HelpJob {
  kind: "help";
  job: TextJob;
  port: MessagePort;
  /** The control block of the worker that is helped. */
  control: SharedArrayBuffer;
}

/** Files that another thread has read, to be learned. */
export interface LearnJob {
  kind: "learn";
  memory: SharedArrayBuffer | undefined;
  /** In each a path, or some joined by NUL. */
  paths: string[];
}

export type Job = TextJob | FilesJob | HelpJob | LearnJob;

/** What a helper found. */
export interface HelpResults {
  batches: BatchResult[];
  problems: Problem[];
  problemCount: number;
  leftOut: number;
}

/** A thread that takes over batches of a search on the caller's thread. */
export interface Help {
  offer(index: number, start: number, paths: readonly string[]): boolean;
  /** Whether it found as much as a reply holds. */
  readonly full: boolean;
  /** Waits for what was taken over. */
  end(signal: AbortSignal | undefined): Promise<HelpResults>;
}

/** A path that could not be read, and its system error code. */
export interface Problem {
  path: string;
  code: string;
}

/** From the walking worker to its helper. */
export type HelperMessage = { kind: "batch"; index: number; start: number; paths: string } | { kind: "end" };

/** What a batch of files gave: `ends[i]` is where match `i`, with its context, ends in `text`; its path has `pathLengths[i]` units. */
export interface BatchReport {
  text: string;
  ends: Uint32Array<ArrayBuffer>;
  pathLengths: Uint32Array<ArrayBuffer>;
  /** Whether there may be more than was written. */
  more: boolean;
}

export interface BatchResult extends BatchReport {
  /** The batch's place in the order of the paths. */
  index: number;
}

/** From a worker to the caller's thread. */
export type WorkerMessage =
  /** It is loaded. Sent once. */
  | { kind: "ready" }
  | ({ kind: "matches" } & BatchResult)
  | { kind: "files"; text: string; shown: number; total: number }
  /** There is enough left for a second worker. */
  | { kind: "large"; port: MessagePort }
  | { kind: "failed"; message: string }
  | { kind: "done"; problems: Problem[]; problemCount: number; leftOut: number };
