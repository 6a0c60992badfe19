import { isAscii } from "node:buffer";
import { createNewlineCounter } from "./countNewlines.ts";
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
    reader.read(path, (window, isFirst, isLast) => {
      const wide = isFirst && isLast ? decodeUtf16(window) : undefined;
      const file = isFirst && startsWithUtf8Mark(window) ? window.subarray(3) : window;
      let binary = false;
      if (wide !== undefined || matcher.couldMatch(file)) {
        // A NUL byte makes a file binary, as ripgrep has it; asked only where there is something to show.
        let isText = wide !== undefined;
        const onMatch = (line: number, start: number, end: number, at: number): boolean => {
          isText ||= !file.includes(0);
          binary = !isText;
          if (isText) report.match(line, start, end, at);
          return isText && report.count < limit;
        };
        if (wide === undefined && matcher.bytes !== undefined) {
          report.begin(shownPath(shown), file, firstLine);
          scanBytes(file, matcher.bytes, onMatch);
        } else {
          const ascii = wide === undefined && isAscii(file);
          if (wide === undefined && !ascii && file.includes(0)) {
            report.rollback(mark);
            return false;
          }
          const text = wide ?? file.toString(ascii ? "latin1" : "utf8");
          report.begin(shownPath(shown), text, firstLine);
          clock.run();
          scanText(text, ascii ? matcher.expressions.ascii : matcher.expressions.unicode, onMatch);
          clock.pause();
        }
        report.end();
      }
      if (binary || (!(isFirst && isLast) && file.includes(0))) {
        report.rollback(mark);
        return false;
      }
      if (!isLast) firstLine += createNewlineCounter(file)(0, file.length);
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
