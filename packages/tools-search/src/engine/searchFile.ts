import { isAscii, isUtf8 } from "node:buffer";
import { printableName } from "@toolcrib/core/text";
import type { FileMemory } from "../memory/fileMemory.ts";
import type { MatchClock } from "./controlBlock.ts";
import { expressionSteps, takesLong } from "./expressionSteps.ts";
import type { Query, SearchJob } from "./job.ts";
import { createMatcher, createNewlineCounter, type Matcher, type OnMatch, scanBytes, scanText } from "./matchLines.ts";
import type { MatchReport } from "./matchReport.ts";
import type { FileWindow, WindowReader } from "./readWindows.ts";

/**
 * Searches one file (`path` is absolute; `shown` is printed for it, not quoted yet) and adds what it finds to `report`. A large
 * file is searched in steps, and the search can be left between them. False for a binary file that may match; undefined for one
 * that is left to a thread. Throws a system error.
 */
export type SearchFile = (path: string, shown: string, report: MatchReport) => boolean | Steps | undefined;

type Steps = Generator<undefined, boolean, undefined>;

/** Bytes decoded at a time: strings of this size are freed soon. */
const pieceSize = 2 ** 16;

/** The parts of its thread that a search of files uses. */
export interface FileSearchHost {
  clock: MatchClock;
  /** Returns whether to stop; asked between windows. */
  stopsNow(): boolean;
  /** The memory of files. */
  memory: FileMemory | undefined;
  /** Called for each file that had to be read. */
  onRead(path: string): void;
  /** True to leave to a thread what could take long: a large file, or a long line and a regular expression. */
  readonly isQuick: boolean;
  /** Longest line that a regular expression is tried on; undefined for any. */
  longestLine: number | undefined;
  readonly reader: WindowReader;
}

/** Longest line that a regular expression is tried on by the caller's thread where there is no other. */
export const longestLine = 5000;

/** Makes the scan of parts of a text that follow each other, which gives false for a binary file. */
function createPartScan(matcher: Matcher, clock: FileSearchHost["clock"], longestPiece: number) {
  function* scanWindow(window: Window, report: MatchReport): Steps {
    const { bytes } = window;
    for (let from = 0; from < bytes.length && window.isText !== false && !report.fileDone(); ) {
      const to = pieceEnd(bytes, from, longestPiece);
      scanPiece(matcher, clock, window, from, to, report);
      from = to;
      if (from < bytes.length) yield;
    }
    return window.isText !== false;
  }

  return function* scanParts(parts: readonly Buffer[], firstLine: number, shown: string, report: MatchReport): Steps {
    let line = firstLine;
    for (const [at, part] of parts.entries()) {
      if (at > 0) line += countLines(parts[at - 1]);
      if (!matcher.couldMatch(part)) continue;
      if (!(yield* scanWindow(createWindow(part, printableName(shown), line, matcher), report))) return false;
    }
    return true;
  };
}

/**
 * Makes the search of files. `onHole` is called with the NUL bytes of a text that has a hole of them. Throws a SyntaxError for an
 * invalid regular expression.
 */
export function createFileSearch(
  job: SearchJob,
  query: Query,
  host: FileSearchHost,
  onHole: (bytes: number) => void,
): SearchFile {
  const { clock, stopsNow, memory, onRead, reader } = host;
  const known = memory?.isEmpty ? undefined : memory;
  const matcher = createMatcher(query, host.longestLine);
  const steps = host.isQuick && query.regex ? expressionSteps(query.text, query.caseSensitive) : undefined;
  const confined = job.roots !== undefined || job.deny !== undefined;
  // Context may reach across pieces.
  const longestPiece = matcher.bytes !== undefined || job.context > 0 ? Infinity : pieceSize;

  const scanParts = createPartScan(matcher, clock, longestPiece);

  function* searchWindows(windows: Iterable<FileWindow>, shown: string, report: MatchReport): Steps {
    report.startFile();
    let firstLine = 1;
    let isText = true;
    const texts = new TextParts();
    try {
      for (const { bytes, isFirst, isLast } of windows) {
        const whole = isFirst && isLast;
        if (whole && hasUtf16Mark(bytes)) {
          scanUtf16(matcher, clock, bytes, shown, report);
          break;
        }
        const file = isFirst ? withoutUtf8Mark(bytes) : bytes;
        isText = whole && (yield* scanParts([file], 1, shown, report));
        const parts = isText ? [] : texts.read(file, isLast);
        if (!isText) isText = parts !== undefined && (yield* scanParts(parts, firstLine, shown, report));
        if (texts.hole > 0) onHole(texts.hole);
        if (!isText || isLast || report.fileDone() || stopsNow()) break;
        for (const part of parts ?? []) firstLine += countLines(part);
        yield;
      }
    } finally {
      report.endFile(isText);
    }
    return isText;
  }

  const searchSmall = (file: Buffer, shown: string, report: MatchReport): boolean => {
    const scan = (part: Buffer, firstLine: number): boolean => {
      const window = createWindow(part, shown, firstLine, matcher);
      if (window.isText !== false) scanPiece(matcher, clock, window, 0, part.length, report);
      return window.isText !== false;
    };
    let isText = true;
    report.startFile();
    try {
      isText = scan(file, 1) || scanAroundHole(file, scan, onHole);
    } finally {
      report.endFile(isText);
    }
    return isText;
  };

  const searchBytes = (bytes: Buffer, shown: string, report: MatchReport): boolean | Steps | undefined => {
    const isWide = hasUtf16Mark(bytes);
    const file = withoutUtf8Mark(bytes);
    if (!isWide && !matcher.couldMatch(file)) return true;
    if (steps !== undefined && (isWide || takesLong(file, steps))) return undefined;
    // Most files are searched without a generator, which takes as long to start.
    return isWide || bytes.length > longestPiece
      ? searchWindows([{ bytes, isFirst: true, isLast: true }], shown, report)
      : searchSmall(file, printableName(shown), report);
  };

  return (path, shown, report) => {
    const record = known?.find(path) ?? 0;
    if (known !== undefined && record !== 0) {
      if (matcher.wanted !== undefined && !known.mayHold(record, matcher.wanted)) return true;
      const text = known.textOf(record);
      if (text !== undefined) return searchBytes(text, shown, report);
    }
    const small = reader.readSmall(path, confined);
    if (small === undefined)
      return host.isQuick ? undefined : searchWindows(reader.read(path, confined), shown, report);
    if (record === 0) onRead(path);
    return searchBytes(small, shown, report);
  };
}

/** Scans the text on both sides of the one hole of a file that seemed binary; false if it is binary. */
function scanAroundHole(
  file: Buffer,
  scan: (part: Buffer, firstLine: number) => boolean,
  onHole: (bytes: number) => void,
): boolean {
  const reader = new TextParts();
  const [head, tail] = reader.read(file, true) ?? [];
  if (head === undefined) return false;
  onHole(reader.hole);
  return scan(head, 1) && (tail === undefined || scan(tail, 1 + countLines(head)));
}

function countLines(bytes: Buffer | undefined): number {
  return bytes === undefined ? 0 : createNewlineCounter(bytes)(0, bytes.length);
}

function scanUtf16(matcher: Matcher, clock: MatchClock, bytes: Buffer, shown: string, report: MatchReport): void {
  const text = new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-16be").decode(bytes);
  report.begin(printableName(shown), text, 1);
  clock.run();
  scanText(text, matcher.expressions.unicode, report.match);
  clock.pause();
  report.end();
}

/** A part of a file that may match. */
interface Window {
  readonly bytes: Buffer;
  readonly shown: string;
  readonly firstLine: number;
  readonly inAscii: boolean;
  /** False if a NUL byte makes the file a binary one, as in ripgrep; undefined until it is known. */
  isText: boolean | undefined;
}

function createWindow(bytes: Buffer, shown: string, firstLine: number, matcher: Matcher): Window {
  const inAscii = matcher.bytes === undefined && isAscii(bytes);
  // Otherwise checked with the first match, because most files hold none.
  const isText = matcher.bytes === undefined && !inAscii ? !bytes.includes(0) : undefined;
  return { bytes, shown, firstLine, inAscii, isText };
}

/** Scans the lines in the bytes from `from` to `to`: all of them for a literal, else a decoded piece. */
function scanPiece(
  matcher: Matcher,
  clock: MatchClock,
  window: Window,
  from: number,
  to: number,
  report: MatchReport,
): void {
  const { bytes, shown, inAscii } = window;
  const literal = matcher.bytes;
  const source = literal !== undefined ? bytes : bytes.toString(inAscii ? "latin1" : "utf8", from, to);
  let begun = false;
  const onMatch: OnMatch = (line, start, end, at) => {
    if (!begun) {
      window.isText ??= !bytes.includes(0);
      if (!window.isText) return false;
      report.begin(shown, source, window.firstLine + (from === 0 ? 0 : createNewlineCounter(bytes)(0, from)));
      begun = true;
    }
    return report.match(line, start, end, at);
  };
  if (literal !== undefined) {
    scanBytes(bytes, literal, onMatch);
  } else if (typeof source === "string") {
    clock.run();
    scanText(source, inAscii ? matcher.expressions.ascii : matcher.expressions.unicode, onMatch);
    clock.pause();
  }
  if (begun) report.end();
}

/** Returns where the lines that begin in `size` bytes from `from` end. */
function pieceEnd(file: Buffer, from: number, size: number): number {
  if (from + size >= file.length) return file.length;
  const inside = file.lastIndexOf(10, from + size - 1);
  const last = inside >= from ? inside : file.indexOf(10, from + size);
  return last === -1 ? file.length : last + 1;
}

function withoutUtf8Mark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Returns whether a file begins with a byte order mark of UTF-16. */
export function hasUtf16Mark(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

/** NUL bytes in a row that make a hole in a text: fewer are no trace of a file that was truncated under its writer, or of a crash. */
const leastHole = 16;
/** A longer hole is not read through. */
const longestHole = 2 ** 28;

/** Tells a text with one hole of NUL bytes, at its head, in its middle or at its end, from a binary file, window by window. */
export class TextParts {
  /** NUL bytes so far. */
  hole = 0;
  #state: "before" | "within" | "behind" = "before";

  /** Returns the parts of a window that are text; undefined for a binary file. */
  read(bytes: Buffer, isLast: boolean): Buffer[] | undefined {
    const start = this.#state === "within" ? 0 : bytes.indexOf(0);
    if (start === -1) return [bytes];
    if (this.#state === "behind") return undefined;
    this.#state = "within";
    let end = start;
    while (end < bytes.length && bytes[end] === 0) end += 1;
    this.hole += end - start;
    if (this.hole > longestHole) return undefined;
    if (end < bytes.length || isLast) {
      this.#state = "behind";
      if (this.hole < leastHole) return undefined;
    }
    const parts = [bytes.subarray(0, start), bytes.subarray(end)].filter(({ length }) => length > 0);
    return parts.every((part) => !part.includes(0) && isUtf8(part)) ? parts : undefined;
  }
}
