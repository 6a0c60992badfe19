import type { BatchReport } from "../shared/jobs.ts";
import type { LineSource, OnMatch } from "./matchLines.ts";

/** Longest part of a line that is shown, in bytes or UTF-16 units. */
export const longestLine = 400;
/** How much of a longer line is shown before its match. */
const leadLength = 120;

/** Writes what is found in the files of one batch. */
export interface MatchReport {
  /** Whether a reply holds no more. */
  full(): boolean;
  /** Whether the rest of this file cannot change the report. */
  fileDone(): boolean;
  /** Results so far. */
  readonly count: number;
  startFile(): void;
  /** Begins a stretch of lines of the file, the first of which is `firstLine`. */
  begin(path: string, source: LineSource, firstLine: number): void;
  match: OnMatch;
  /** Ends a stretch: writes the context lines that are left. */
  end(): void;
  /** Ends the file. Removes its results if it turned out to be binary. */
  endFile(isText: boolean): void;
  finish(): BatchReport;
}

/** How much a report may hold, and what it does with each result as soon as it is written. */
export interface ReportOptions {
  /** Results after which it is full. */
  limit: number;
  /** Bytes after which it is full; the last result may reach beyond. */
  maxBytes: number;
  onLine: ((line: string) => void) | undefined;
}

/** A report that writes matches the way grep does. */
export function createMatchReport(context: number, { limit, maxBytes, onLine }: ReportOptions): MatchReport {
  let text = "";
  const [ends, pathLengths]: [number[], number[]] = [[], []];
  let fileStart = 0;
  let path = "";
  let source: LineSource = "";
  let base = 0;
  let lastLine = 0;
  let lastEnd = -1;
  let contextCut = false;

  const isFull = (): boolean => contextCut || ends.length >= limit || text.length > maxBytes + 1;
  const write = (separator: string, line: number, start: number, end: number, at: number): string => {
    const written = `${path}${separator}${line + base}${separator}${shownLine(source, start, end, at)}\n`;
    text += written;
    return written;
  };
  const writeAfter = (before: number): void => {
    for (let i = 0; i < context && lastEnd !== -1 && text.length <= maxBytes; i += 1) {
      const start = indexAfterNewline(source, lastEnd);
      if (start === -1 || start >= before) break;
      lastEnd = lineEnd(source, start);
      lastLine += 1;
      write("-", lastLine, start, lastEnd, start);
      ends[ends.length - 1] = text.length;
    }
  };
  const writeBefore = (line: number, start: number): void => {
    // Half of a reply at most, so that the match itself is seen.
    const before = startsBefore(source, start, Math.min(context, line - lastLine - 1), maxBytes / 2, path.length);
    const { starts } = before;
    contextCut = before.cut;
    if (text !== "" && (lastEnd === -1 || line - starts.length > lastLine + 1)) text += "--\n";
    for (const [i, from] of starts.entries()) {
      write("-", line - starts.length + i, from, lineEnd(source, from), from);
    }
  };

  return {
    full: isFull,
    fileDone: isFull,
    get count() {
      return ends.length;
    },
    startFile() {
      fileStart = ends.length;
    },
    begin(newPath, newSource, firstLine) {
      path = newPath;
      source = newSource;
      base = firstLine - 1;
      lastLine = 0;
      lastEnd = -1;
    },
    match(line, start, end, at) {
      if (context > 0) {
        writeAfter(start);
        writeBefore(line, start);
        lastLine = line;
        lastEnd = end;
      }
      const written = write(":", line, start, end, at);
      onLine?.(written);
      ends.push(text.length);
      pathLengths.push(path.length);
      return !isFull();
    },
    end() {
      if (context > 0) writeAfter(source.length);
    },
    endFile(isText) {
      if (isText) return;
      ends.length = fileStart;
      pathLengths.length = fileStart;
      text = text.slice(0, ends.at(-1) ?? 0);
      contextCut = false;
    },
    finish: () => toReport(text, ends, pathLengths, isFull()),
  };
}

function toReport(text: string, ends: readonly number[], pathLengths: readonly number[], more: boolean): BatchReport {
  return { text, ends: new Uint32Array(ends), pathLengths: new Uint32Array(pathLengths), more };
}

/** A report with one line for each file that matches: its path, with `counting` also how many of its lines do. */
export function createFileReport(counting: boolean, { limit, maxBytes, onLine }: ReportOptions): MatchReport {
  let text = "";
  const [ends, pathLengths]: [number[], number[]] = [[], []];
  let path = "";
  let matches = 0;
  const isFull = (): boolean => ends.length >= limit || text.length > maxBytes + 1;
  return {
    full: isFull,
    fileDone: () => !counting && matches > 0,
    get count() {
      return ends.length;
    },
    startFile() {
      matches = 0;
    },
    begin(newPath) {
      path = newPath;
    },
    match() {
      matches += 1;
      return counting;
    },
    end: () => undefined,
    endFile(isText) {
      if (!isText || matches === 0) return;
      const written = counting ? `${path}:${matches}\n` : `${path}\n`;
      text += written;
      onLine?.(written);
      ends.push(text.length);
      pathLengths.push(path.length);
    },
    finish: () => toReport(text, ends, pathLengths, isFull()),
  };
}

/** Where up to `most` lines before `start` begin, in order; as many as can be shown, each after a path, in `maxBytes`. */
function startsBefore(
  source: LineSource,
  start: number,
  most: number,
  maxBytes: number,
  pathLength: number,
): { starts: number[]; cut: boolean } {
  const starts: number[] = [];
  let bytes = 0;
  for (let at = start; starts.length < most && at > 0; ) {
    const next = lineStart(source, at - 1);
    bytes += Math.min(at - next, longestLine) + pathLength;
    if (bytes > maxBytes) return { starts: starts.reverse(), cut: true };
    starts.push(next);
    at = next;
  }
  return { starts: starts.reverse(), cut: false };
}

/** The line whole, or the part around its match, `…` standing for what is left out. */
function shownLine(source: LineSource, start: number, end: number, at: number): string {
  if (end - start <= longestLine) return slice(source, start, end);
  const from = characterStart(source, Math.max(start, Math.min(at - leadLength, end - longestLine)));
  const to = characterStart(source, Math.min(end, from + longestLine));
  return `${from > start ? "…" : ""}${slice(source, from, to)}${to < end ? "…" : ""}`;
}

function slice(source: LineSource, start: number, end: number): string {
  return typeof source === "string" ? source.slice(start, end) : source.toString("utf8", start, end);
}

/** Moves back to the first byte or unit of the character at `at`. */
function characterStart(source: LineSource, at: number): number {
  if (typeof source === "string") return (source.charCodeAt(at) & 0xfc00) === 0xdc00 ? at - 1 : at;
  let start = at;
  while (start > at - 3 && ((source[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}

function lineStart(source: LineSource, newlineAt: number): number {
  if (newlineAt === 0) return 0;
  return (
    (typeof source === "string" ? source.lastIndexOf("\n", newlineAt - 1) : source.lastIndexOf(10, newlineAt - 1)) + 1
  );
}

function lineEnd(source: LineSource, start: number): number {
  const found = typeof source === "string" ? source.indexOf("\n", start) : source.indexOf(10, start);
  const end = found === -1 ? source.length : found;
  const last = typeof source === "string" ? source.charCodeAt(end - 1) : source[end - 1];
  return end > start && last === 13 ? end - 1 : end;
}

/** Where the next line begins, -1 at the end. */
function indexAfterNewline(source: LineSource, from: number): number {
  const found = typeof source === "string" ? source.indexOf("\n", from) : source.indexOf(10, from);
  return found === -1 || found + 1 >= source.length ? -1 : found + 1;
}
