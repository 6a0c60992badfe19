import { cutBytes } from "@toolcrib/core/text";
import { orderStep } from "./batchQueue.ts";
import { type BatchNotes, type BatchResult, type Counted, mostProblems, noNotes, type SearchJob } from "./job.ts";

/** The results of a search, in the order of the paths, and what it did not look at. */
export interface SearchResult extends BatchNotes {
  /** Whole lines, each with its line feed, within `maxBytes`; part of one where `cutLine` is set. */
  text: string;
  /** The place of each whole result in `text`, with its context and the separator before it, and the length of its path. */
  places: { start: number; end: number; pathLength: number }[];
  /** Results in `text`: matches, or files. */
  shown: number;
  /** Files in all, for a search of files. */
  total: number | undefined;
  /** True if there are more, or may be. */
  more: boolean;
  /** The length of the first line in bytes, if not even that line fits. */
  cutLine: number | undefined;
  /** Set when the search did not end by itself; the rest then holds what was found so far. */
  unfinished: { kind: "time" | "memory" | "ended"; reason: string } | undefined;
}

export function createResult(): SearchResult {
  return {
    text: "",
    places: [],
    shown: 0,
    total: undefined,
    more: false,
    cutLine: undefined,
    ...noNotes(),
    unfinished: undefined,
  };
}

type Limits = Pick<SearchJob, "limit" | "maxBytes">;

/**
 * Puts the batches in order and keeps one result less than the limit: the last one only shows that there are more. What comes behind
 * a cut counts for nothing, as it depends on how many took part; but files that are listed are all counted.
 */
export function joinBatches(
  batches: BatchResult[],
  job: Limits & Pick<SearchJob, "context" | "query">,
  result: SearchResult,
): void {
  const separator = job.context > 0 ? "--\n" : "";
  const parts: string[] = [];
  let bytes = 0;
  let last = Infinity;
  const keep = (part: string): void => {
    parts.push(part);
    bytes += Number.isFinite(job.maxBytes) ? Buffer.byteLength(part) : 0;
  };
  let length = 0;
  for (const batch of batches.sort((a, b) => a.order - b.order || compare(firstProblem(a), firstProblem(b)))) {
    // All parts of a batch count.
    if (batch.order > last) break;
    addNotes(batch, result);
    if (job.query === undefined) result.total = (result.total ?? 0) + batch.count;
    if (result.more) continue;
    const { text, ends, pathLengths, count } = batch;
    const wanted = Math.min(ends.length, job.limit - 1 - result.shown);
    const between = parts.length > 0 ? separator : "";
    const taken = wholeResults(text, ends, wanted, job.maxBytes + 1 - bytes - between.length);
    result.more = batch.more || taken < count;
    if (result.more && job.query !== undefined) last = batch.order | (orderStep - 1);
    if (taken > 0) {
      const part = between + text.slice(0, ends[taken - 1]);
      const start = length + between.length;
      let from = length;
      for (const [i, end] of ends.subarray(0, taken).entries()) {
        result.places.push({ start: from, end: start + end, pathLength: pathLengths[i] ?? 0 });
        from = start + end;
      }
      length += part.length;
      result.shown += taken;
      keep(part);
    } else if (wanted > 0 && parts.length === 0) {
      keep(headLines(text.slice(0, ends[0]), job.maxBytes, result));
      result.shown = 1;
    }
  }
  result.text = parts.join("");
}

function addNotes(notes: BatchResult, result: SearchResult): void {
  result.leftOut += notes.leftOut;
  result.problemCount += notes.problemCount;
  result.binaries += notes.binaries;
  result.problems.push(...notes.problems.slice(0, mostProblems - result.problems.length));
  result.holes.push(...notes.holes.slice(0, mostProblems - result.holes.length));
  result.ignored.push(...notes.ignored.slice(0, mostProblems - result.ignored.length));
  addCounted(result.ignoredFiles, notes.ignoredFiles);
  addCounted(result.ignoredFolders, notes.ignoredFolders);
}

function addCounted(to: Counted, { count, first }: Counted): void {
  to.count += count;
  to.first.push(...first.slice(0, mostProblems - to.first.length));
}

/** Returns the first problem, by which what the walk noted is told from what was noted in its files. */
function firstProblem({ problems: [first] }: BatchResult): string {
  return first?.path ?? "";
}

/** Not `localeCompare`, whose first call in a process takes 10 ms. */
function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** Counts how many of the first `wanted` results fit in `room` bytes. */
function wholeResults(text: string, ends: Uint32Array, wanted: number, room: number): number {
  if ((ends[wanted - 1] ?? 0) * 3 <= room) return wanted;
  let bytes = 0;
  for (let i = 0; i < wanted; i += 1) {
    bytes += Buffer.byteLength(text.slice(ends[i - 1] ?? 0, ends[i]));
    if (bytes > room) return i;
  }
  return wanted;
}

/** Returns the whole lines of a first result that fit, at worst a part of its first line. */
function headLines(text: string, maxBytes: number, result: SearchResult): string {
  const head = cutBytes(text, maxBytes);
  const lines = head.slice(0, head.lastIndexOf("\n") + 1);
  if (lines !== "") return lines;
  result.cutLine = Buffer.byteLength(text.slice(0, text.indexOf("\n")));
  return `${head}\n`;
}

/** Adds lines, a result each, as far as the limits allow. */
export function takeLines(lines: readonly string[], { limit, maxBytes }: Limits, result: SearchResult): void {
  let bytes = Buffer.byteLength(result.text);
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1;
    result.more ||= result.shown >= limit - 1 || bytes - 1 > maxBytes;
    if (result.more) return;
    result.text += `${line}\n`;
    result.shown += 1;
  }
}
