import type { LineSource, OnMatch } from "./matchLines.ts";

/** Longest part of a line that is shown, in bytes or UTF-16 units. */
export const longestLine = 400;
/** How much of a longer line is shown before its match. */
const leadLength = 120;

/** What a batch of files gave: `ends[i]` is where match `i`, with its context, ends in `text`. */
export interface BatchReport {
  text: string;
  ends: Uint32Array<ArrayBuffer>;
}

/** Writes matches the way grep does; one report holds the files of one batch. */
export interface MatchReport {
  readonly count: number;
  /** Begins a file, or a further window of one whose first line is `firstLine`. */
  begin(path: string, source: LineSource, firstLine: number): void;
  match: OnMatch;
  /** Ends a file or a window: writes what context is still due. */
  end(): void;
  /** Takes back what was written since `mark`. */
  mark(): number;
  rollback(mark: number): void;
  finish(): BatchReport;
}

/** `onLine` sees each match line as it is found. */
export function createMatchReport(context: number, onLine: ((line: string) => void) | undefined): MatchReport {
  let text = "";
  const ends: number[] = [];
  let path = "";
  let source: LineSource = "";
  let base = 0;
  let lastLine = 0;
  let lastEnd = -1;

  const write = (separator: string, line: number, start: number, end: number, at: number): string => {
    const written = `${path}${separator}${line + base}${separator}${shownLine(source, start, end, at)}\n`;
    text += written;
    return written;
  };
  const writeAfter = (before: number): void => {
    for (let i = 0; i < context && lastEnd !== -1; i += 1) {
      const start = indexAfterNewline(source, lastEnd);
      if (start === -1 || start >= before) break;
      lastEnd = lineEnd(source, start);
      lastLine += 1;
      write("-", lastLine, start, lastEnd, start);
      ends[ends.length - 1] = text.length;
    }
  };
  const writeBefore = (line: number, start: number): void => {
    const starts: number[] = [];
    let at = start;
    while (starts.length < context && at > 0 && line - starts.length - 1 > lastLine) {
      at = lineStart(source, at - 1);
      starts.unshift(at);
    }
    if (text !== "" && (lastEnd === -1 || line - starts.length > lastLine + 1)) text += "--\n";
    for (const [i, from] of starts.entries()) {
      write("-", line - starts.length + i, from, lineEnd(source, from), from);
    }
  };

  return {
    get count() {
      return ends.length;
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
      return true;
    },
    end() {
      if (context > 0) writeAfter(source.length);
    },
    mark: () => ends.length,
    rollback(mark) {
      ends.length = mark;
      text = text.slice(0, ends.at(-1) ?? 0);
    },
    finish: () => ({ text, ends: Uint32Array.from(ends) }),
  };
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
