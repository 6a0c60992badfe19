import { isAscii } from "node:buffer";
import type { MatchClock } from "./matchClock.ts";
import { createMatcher, scanBytes, scanText } from "./matchLines.ts";
import type { MatchReport } from "./matchReport.ts";
import type { TextJob } from "./protocol.ts";
import { createWindowReader } from "./readWindows.ts";
import { shownPath } from "./shownPath.ts";

/** Searches one file (`path` absolute, `shown` what is printed for it, unquoted) and adds what it finds to `report`. Throws a system error. */
export type SearchFile = (path: string, shown: string, report: MatchReport, limit: number) => void;

/** `stopped` is asked between windows. Throws a SyntaxError for an invalid regular expression. */
export function createFileSearch(job: TextJob, clock: MatchClock, stopped: () => boolean): SearchFile {
  const matcher = createMatcher(job.query);
  const reader = createWindowReader(job.roots !== undefined);

  return (path, shown, report, limit) => {
    const mark = report.mark();
    let firstLine = 1;
    const onMatch = (line: number, start: number, end: number, at: number): boolean => {
      report.match(line, start, end, at);
      return report.count < limit;
    };
    reader.read(path, (window, isFirst, isLast) => {
      const wide = isFirst && isLast ? decodeUtf16(window) : undefined;
      const file = isFirst && startsWithUtf8Mark(window) ? window.subarray(3) : window;
      if (wide === undefined && !matcher.couldMatch(file)) {
        if (!isLast) firstLine += countLines(file);
        return !stopped();
      }
      // A NUL byte makes a file binary, as ripgrep has it.
      if (wide === undefined && file.includes(0)) {
        report.rollback(mark);
        return false;
      }
      if (wide === undefined && matcher.bytes !== undefined) {
        report.begin(shownPath(shown), file, firstLine);
        scanBytes(file, matcher.bytes, onMatch);
      } else {
        const text = wide ?? (isAscii(file) ? file.toString("latin1") : file.toString("utf8"));
        report.begin(shownPath(shown), text, firstLine);
        clock.run();
        scanText(text, matcher, onMatch);
        clock.pause();
      }
      report.end();
      if (!isLast) firstLine += countLines(file);
      return report.count < limit && !stopped();
    });
  };
}

function startsWithUtf8Mark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
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

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}
