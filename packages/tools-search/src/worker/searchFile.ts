import { isAscii } from "node:buffer";
import { shownPath } from "../shownPath.ts";
import type { MatchClock } from "../threads/matchClock.ts";
import type { TextJob } from "../threads/protocol.ts";
import { createNewlineCounter } from "./countNewlines.ts";
import { createMatcher, type Expressions, type OnMatch, scanBytes, scanText } from "./matchLines.ts";
import type { MatchReport } from "./matchReport.ts";
import { createWindowReader, type FileWindow } from "./readWindows.ts";

/**
 * Searches one file (`path` absolute, `shown` what is printed for it, unquoted) and adds what it finds to `report`; where it takes
 * longer, in steps between which it may be left. False for a binary file that may match. Throws a system error.
 */
export type SearchFile = (path: string, shown: string, report: MatchReport) => boolean | Steps;

type Steps = Generator<void, boolean, undefined>;

/** Bytes decoded at a time: text of this size is short-lived, cheap memory. */
const pieceSize = 2 ** 16;

/** `stopped` is asked between windows. Throws a SyntaxError for an invalid regular expression. */
export function createFileSearch(job: TextJob, clock: MatchClock, stopped: () => boolean): SearchFile {
  const matcher = createMatcher(job.query, job.longestLine);
  const { ascii, unicode } = matcher.expressions;
  const reader = createWindowReader(job.roots !== undefined);

  /** Returns false for a binary file: a NUL byte makes it one, as ripgrep has it. */
  function* scanWindow(file: Buffer, shown: string, firstLine: number, report: MatchReport): Steps {
    // Asked late, because most files hold nothing to show.
    let isText: boolean | undefined;
    const checked = (onMatch: OnMatch): OnMatch => {
      return (...match) => {
        isText ??= !file.includes(0);
        return isText && onMatch(...match);
      };
    };
    if (matcher.bytes !== undefined) {
      report.begin(shown, file, firstLine);
      scanBytes(file, matcher.bytes, checked(report.match));
      report.end();
      return isText !== false;
    }
    const inAscii = isAscii(file);
    if (!inAscii && file.includes(0)) return false;
    // Context may reach across pieces.
    const size = job.context > 0 ? file.length : pieceSize;
    for (let from = 0; from < file.length && isText !== false && !report.fileDone(); ) {
      const to = pieceEnd(file, from, size);
      const text = file.toString(inAscii ? "latin1" : "utf8", from, to);
      let begun = false;
      const onMatch = checked((...match) => {
        if (!begun) report.begin(shown, text, firstLine + createNewlineCounter(file)(0, from));
        begun = true;
        return report.match(...match);
      });
      scanTimed(clock, text, inAscii ? ascii : unicode, onMatch);
      if (begun) report.end();
      from = to;
      if (from < file.length) yield;
    }
    return isText !== false;
  }

  function* searchWindows(windows: Iterable<FileWindow>, shown: string, report: MatchReport): Steps {
    report.startFile();
    let firstLine = 1;
    let isText = true;
    try {
      for (const { bytes, isFirst, isLast } of windows) {
        const whole = isFirst && isLast;
        const wide = whole ? decodeUtf16(bytes) : undefined;
        if (wide !== undefined) {
          report.begin(shownPath(shown), wide, 1);
          scanTimed(clock, wide, unicode, report.match);
          report.end();
          break;
        }
        const file = isFirst && startsWithUtf8Mark(bytes) ? bytes.subarray(3) : bytes;
        if (!whole && file.includes(0)) isText = false;
        else if (matcher.couldMatch(file)) isText = yield* scanWindow(file, shownPath(shown), firstLine, report);
        if (!isText || isLast || report.fileDone() || stopped()) break;
        firstLine += createNewlineCounter(file)(0, file.length);
        yield;
      }
    } finally {
      report.endFile(isText);
    }
    return isText;
  }

  return (path, shown, report) => {
    // Most files are small and hold nothing: those are told at once.
    const small = reader.readSmall(path);
    if (small === undefined) return searchWindows(reader.read(path), shown, report);
    if (!hasUtf16Mark(small) && !matcher.couldMatch(small)) return true;
    return searchWindows([{ bytes: small, isFirst: true, isLast: true }], shown, report);
  };
}
function scanTimed(clock: MatchClock, text: string, expressions: Expressions, onMatch: OnMatch): void {
  clock.run();
  scanText(text, expressions, onMatch);
  clock.pause();
}

/** Where the lines that begin in `size` bytes from `from` end. */
function pieceEnd(file: Buffer, from: number, size: number): number {
  if (from + size >= file.length) return file.length;
  const inside = file.lastIndexOf(10, from + size - 1);
  const last = inside >= from ? inside : file.indexOf(10, from + size);
  return last === -1 ? file.length : last + 1;
}

function startsWithUtf8Mark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function hasUtf16Mark(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

/** The text of a UTF-16 file with a byte order mark, undefined for any other. */
function decodeUtf16(bytes: Buffer): string | undefined {
  const label =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? "utf-16le"
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? "utf-16be"
        : undefined;
  return label === undefined ? undefined : new TextDecoder(label).decode(bytes);
}
