import type { BatchNotes, BatchResult } from "./job.ts";
import type { LineSource, OnMatch } from "./matchLines.ts";

/** Longest part of a line that is shown, in bytes or UTF-16 units. */
export const longestLine = 400;
/** The length of a longer line that is shown before its match. */
const leadLength = 120;

/** Units of decoded texts that are held at least before they are let go of. */
const mostHeld = 2 ** 17;

type Found = Omit<BatchResult, "order" | keyof BatchNotes>;

/** Writes what is found in the files of one batch. */
export interface MatchReport {
  /** Returns whether a reply holds no more. */
  full(): boolean;
  /** Returns whether the rest of this file cannot change the report. */
  fileDone(): boolean;
  startFile(): void;
  /** Begins a stretch of lines of the file, the first of which is `firstLine`. */
  begin(path: string, source: LineSource, firstLine: number): void;
  match: OnMatch;
  /** Ends a stretch: writes the context lines that are left. */
  end(): void;
  /** Ends the file. Removes its results if it turned out to be binary. */
  endFile(isText: boolean): void;
  finish(): Found;
}

/** The limits of a report, and a callback for each result as soon as it is written. */
export interface ReportOptions {
  /** Results after which it is full. */
  limit: number;
  /** Bytes after which it is full; the last result may reach beyond. */
  maxBytes: number;
  onLine?: ((line: string) => void) | undefined;
}

/** The text of results, and where each ends. */
export class ResultText {
  text = "";
  ends: number[] = [];
  #pathLengths: number[] = [];
  readonly #options: ReportOptions;
  /** Units of the decoded texts whose lines are parts of `text` as yet. */
  #held = 0;

  constructor(options: ReportOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.ends.length >= this.#options.limit || this.isLong;
  }

  get isLong(): boolean {
    return this.text.length > this.#options.maxBytes + 1;
  }

  /** Ends a result by the line that shows it. */
  add(line: string, pathLength: number): void {
    this.text += line;
    this.#options.onLine?.(line);
    this.ends.push(this.text.length);
    this.#pathLengths.push(pathLength);
  }

  /** Lets go of a decoded text: a slice of it keeps all of it in memory. */
  letGo(source: LineSource): void {
    if (typeof source !== "string") return;
    this.#held += source.length;
    if (this.#held < Math.max(mostHeld, this.text.length)) return;
    // Copies the text: V8 puts its parts together where one of its units is read.
    this.text.charCodeAt(0);
    this.#held = 0;
  }

  /** Takes back all results but the first `count`. */
  cut(count: number): void {
    this.ends.length = count;
    this.#pathLengths.length = count;
    this.text = this.text.slice(0, this.ends.at(-1) ?? 0);
  }

  finish(more: boolean): Found {
    const { text, ends } = this;
    return {
      text,
      ends: new Uint32Array(ends),
      pathLengths: new Uint32Array(this.#pathLengths),
      count: ends.length,
      more,
    };
  }
}

/** Makes a report that writes matches the way grep does. */
export function createMatchReport(context: number, options: ReportOptions): MatchReport {
  const results = new ResultText(options);
  const { maxBytes } = options;
  let fileStart = 0;
  let path = "";
  let source: LineSource = "";
  let base = 0;
  let lastLine = 0;
  let lastEnd = -1;
  let contextCut = false;

  const isFull = (): boolean => contextCut || results.isFull;
  const lineOf = (separator: string, line: number, start: number, end: number, at: number): string =>
    `${path}${separator}${line + base}${separator}${shownLine(source, start, end, at)}\n`;
  const writeAfter = (before: number): void => {
    // One that is cut short here does not fit, wherever its batch began.
    for (let i = 0; i < context && lastEnd !== -1 && !results.isLong; i += 1) {
      const start = indexAfterNewline(source, lastEnd);
      if (start === -1 || start >= before) break;
      lastEnd = lineEnd(source, start);
      lastLine += 1;
      results.text += lineOf("-", lastLine, start, lastEnd, start);
      results.ends[results.ends.length - 1] = results.text.length;
    }
  };
  const writeBefore = (line: number, start: number): void => {
    // Half of a reply at most, so that the match itself is seen.
    const before = startsBefore(source, start, Math.min(context, line - lastLine - 1), maxBytes / 2, path.length);
    const { starts } = before;
    contextCut = before.cut;
    if (results.text !== "" && (lastEnd === -1 || line - starts.length > lastLine + 1)) results.text += "--\n";
    for (const [i, from] of starts.entries()) {
      results.text += lineOf("-", line - starts.length + i, from, lineEnd(source, from), from);
    }
  };

  return {
    full: isFull,
    fileDone: isFull,
    startFile() {
      fileStart = results.ends.length;
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
      results.add(lineOf(":", line, start, end, at), path.length);
      return !isFull();
    },
    end() {
      if (context > 0) writeAfter(source.length);
      results.letGo(source);
    },
    endFile(isText) {
      if (isText) return;
      results.cut(fileStart);
      contextCut = false;
    },
    finish: () => results.finish(isFull()),
  };
}

/** Makes a report with one line for each file that matches: its path, with `counting` also how many of its lines do. */
export function createFileReport(counting: boolean, options: ReportOptions): MatchReport {
  const results = new ResultText(options);
  let path = "";
  let matches = 0;
  return {
    full: () => results.isFull,
    fileDone: () => !counting && matches > 0,
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
      if (isText && matches > 0) results.add(counting ? `${path}:${matches}\n` : `${path}\n`, path.length);
    },
    finish: () => results.finish(results.isFull),
  };
}

/** Finds where up to `most` lines before `start` begin, in order; as many as can be shown, each after a path, in `maxBytes`. */
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

/** Returns the line whole, or the part around its match, `…` standing for what is left out. */
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

/** Returns where the next line begins, -1 at the end. */
function indexAfterNewline(source: LineSource, from: number): number {
  const found = typeof source === "string" ? source.indexOf("\n", from) : source.indexOf(10, from);
  return found === -1 || found + 1 >= source.length ? -1 : found + 1;
}
