import type { DenyRules } from "@toolcrib/kit/files";
import type { Batch } from "./batchQueue.ts";

/** The text or expression to look for in each line. */
export interface Query {
  text: string;
  regex: boolean;
  caseSensitive: boolean;
}

/** The file or directory where a search begins. */
export interface SearchStart {
  /** Absolute and canonical, with `/`. */
  path: string;
  /** The prefix of a found path when it is printed: empty or ending in `/`. For a file, its whole path. Not quoted yet. */
  shown: string;
  isDirectory: boolean;
  /** The call named it, so it is searched even where its own rules ignore all that it holds. */
  isNamed?: boolean | undefined;
}

/** Matching lines, or files with at least one: their paths, or also how many lines match in each. */
export type SearchMode = "lines" | "files" | "count";

/** A search of the files below its starts. Without a query it lists them. */
export interface SearchJob {
  starts: SearchStart[];
  /** Globs that a walked file must match, relative to its start; undefined for all files. */
  globs: Globs | undefined;
  query: Query | undefined;
  mode: SearchMode;
  /** Lines shown before and after each match. */
  context: number;
  /** Results (matches, or files) after which to stop. A list of files counts them all. */
  limit: number;
  /** Bytes of results after which to stop. */
  maxBytes: number;
  /** The directories in which it may read; undefined for any. */
  roots: readonly string[] | undefined;
  deny?: DenyRules | undefined;
  /** The memory of earlier searches of these files; left out if nothing may be kept. */
  memory?: SharedArrayBuffer | undefined;
}

/** Globs, of which a path must match one. */
export interface Globs {
  patterns: readonly string[];
  /** A pattern without `/` matches at every level (one with a leading `/` only at the first), and one that `leavesOut` excludes files. */
  anyDepth: boolean;
}

/** A path that could not be read, and its system error code. */
export interface Problem {
  path: string;
  code: string;
}

/** Problems, holes and ignored paths that are named at most, of each. */
export const mostProblems = 5;

/** The parts of a batch that could not be read, or are not shown. */
export interface BatchNotes {
  /** The first of the paths that could not be read, and how many there were. */
  problems: Problem[];
  problemCount: number;
  /** Denied names in the directories that were listed for it. */
  leftOut: number;
  /** Binary files that may match, and were skipped on a walk. */
  binaries: number;
  /** The first of the files whose text has a hole of NUL bytes. */
  holes: Hole[];
  /** The first of the ignored folders that a glob asks for by name. */
  ignored: string[];
  /** Ignored files that the globs match, and folders that may hold such. */
  ignoredFiles: Counted;
  ignoredFolders: Counted;
}

/** The number of paths, and the first of them. */
export interface Counted {
  count: number;
  first: string[];
}

export function noNotes(): BatchNotes {
  const nothing = { problems: [], problemCount: 0, leftOut: 0, binaries: 0, holes: [], ignored: [] };
  return { ...nothing, ignoredFiles: { count: 0, first: [] }, ignoredFolders: { count: 0, first: [] } };
}

/** A file whose text has a hole, and how many NUL bytes it has. */
export interface Hole {
  path: string;
  bytes: number;
}

/**
 * The results of one batch of files: `ends[i]` is where result `i`, with its context, ends in `text`; its path has `pathLengths[i]` units.
 */
export interface BatchResult extends BatchNotes {
  /** Its place in the order of the paths. */
  order: number;
  text: string;
  ends: Uint32Array<ArrayBuffer>;
  pathLengths: Uint32Array<ArrayBuffer>;
  /** Results; more than `ends` if not all are written. */
  count: number;
  /** True if there may be more than was counted. */
  more: boolean;
}

/** The position of a walk: the last path that was queued, in which start, and the order of the next batch. */
export interface WalkPosition {
  start: number;
  after: string;
  order: number;
  /** Whole paths so far, where several starts may overlap. */
  seen: Set<string> | undefined;
}

/** To a thread: a search to take part in. */
export interface TakerJob {
  job: SearchJob;
  /** The memory of its queue. */
  queue: SharedArrayBuffer;
  /** Files that the caller's thread has left. */
  left: Batch[];
  /** Set if the thread is to walk on from there. */
  walk: WalkPosition | undefined;
}

/** From a thread to the caller's. */
export type WorkerMessage =
  /** It is loaded. Sent once. */
  | { kind: "ready" }
  | { kind: "batch"; result: BatchResult }
  /** So many more files were found. */
  | { kind: "found"; files: number }
  | { kind: "failed"; message: string }
  /** It has left the search. */
  | { kind: "done" };

/** Files for each taker that is at hand, and for each that has to be started. */
export const filesPerTaker = 256;
export const filesPerStart = 1000;
