import type { MatchReport, ReportOptions } from "./matchReport.ts";

/** A report with one line for each file that matches: its path, with `counting` also how many of its lines do. */
export function createFileReport(counting: boolean, { limit, maxBytes, onLine }: ReportOptions): MatchReport {
  let text = "";
  const ends: number[] = [];
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
    },
    finish: () => ({ text, ends: Uint32Array.from(ends), more: isFull() }),
  };
}
