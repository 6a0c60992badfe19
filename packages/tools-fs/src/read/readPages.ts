import { invalidArgument, ToolError } from "@toolcrib/core";
import { truncationNotice, withNotice } from "@toolcrib/core/text";
import type { RegularFile } from "@toolcrib/kit/files";
import { isBinary, withNewline } from "@toolcrib/kit/text";
import { createYielder, type Yield } from "../yieldToEventLoop.ts";
import {
  byteLineEnd,
  type ChunkReader,
  countNewlines,
  createChunkReader,
  type LineEnd,
  utf16LineEnd,
} from "./chunkReader.ts";
import { countInvalidUtf8 } from "./invalidUtf8.ts";

export interface PageRequest {
  encoding: "utf8" | "utf16le" | "latin1";
  /** First line, from 1. */
  offset: number;
  limit: number;
  /** Longest text, as UTF-8. */
  maxBytes: number;
  signal: AbortSignal | undefined;
}

/** The part of a file that was read. */
export interface Page {
  /** With a notice where it was cut. */
  readonly reply: string;
  /** Without. */
  readonly text: string;
  /** The first line that is left, where that is known. */
  readonly next?: number | undefined;
}

/** Returns a page of an open file's lines as text. `printed` names the file in errors. */
export async function readTextPage(file: RegularFile, printed: string, request: PageRequest): Promise<Page> {
  const { encoding, offset, limit, maxBytes, signal } = request;
  const reader = createChunkReader(file.descriptor, file.stats.size);
  const lineEnd = encoding === "utf16le" ? utf16LineEnd : byteLineEnd;
  if (encoding === "utf8") refuseBinary(reader.unread(), file.stats.size, printed);

  const taking = { reader, lineEnd, pause: createYielder(signal) };
  const skipped = await takeLines(taking, offset - 1, Infinity);
  if (skipped.lines < offset - 1 || (offset > 1 && reader.unread().length === 0)) {
    const lines = skipped.lines + (skipped.isOpen ? 1 : 0);
    throw invalidArgument("offset", `${offset} is past the end: ${printed} has ${lines} lines; pass a smaller one`);
  }
  const parts: Buffer[] = [];
  const { lines } = await takeLines(taking, limit, maxBytes, parts);
  const bytes = joined(parts);
  const head = headOf(bytes, maxBytes, encoding);
  const fits = head.length === bytes.length;
  const notes = encoding === "utf8" ? invalidNotes(head) : [];
  if (fits && reader.unread().length === 0) {
    const text = bytes.toString(encoding);
    return { reply: withLines(text, notes), text };
  }

  const whole = fits ? { bytes, lines } : wholeLines(head, lineEnd);
  if (whole.lines > 0) {
    const next = offset + whole.lines;
    const text = whole.bytes.toString(encoding);
    const cut = truncationNotice({ shown: whole.lines, unit: "lines", next: { argument: "offset", value: next } });
    return { reply: withLines(text, [...notes, cut]), text, next };
  }
  const line = await measureLine(taking, bytes);
  const next = line.isLast ? undefined : offset + 1;
  const text = head.toString(encoding);
  const cut = truncationNotice({
    shown: head.length,
    total: line.length,
    unit: `bytes of line ${offset}${line.length === undefined ? "" : " (search_text finds words in the rest)"}`,
    next: next === undefined ? undefined : { argument: "offset", value: next },
  });
  return { reply: withLines(text, [...notes, cut]), text, next };
}

/** Returns the text, a blank line, the lines. */
function withLines(text: string, lines: readonly string[]): string {
  return lines.length === 0 ? text : `${withNewline(text)}\n${lines.join("\n")}`;
}

function invalidNotes(bytes: Buffer): readonly string[] {
  const invalid = countInvalidUtf8(bytes);
  if (invalid === 0) return [];
  const how = "encoding=latin1 reads Western text of one byte a character, encoding=base64 any bytes";
  return [`[${invalid} ${invalid === 1 ? "byte is" : "bytes are"} not valid UTF-8 and shown as U+FFFD; ${how}]`];
}

/** Returns an open file's bytes as base64, cut with a notice where that would be longer than `maxBytes`. */
export async function readBase64(file: RegularFile, maxBytes: number, signal: AbortSignal | undefined): Promise<Page> {
  const reader = createChunkReader(file.descriptor, file.stats.size);
  const most = maxBytes === Infinity ? Infinity : Math.max(3, Math.floor(maxBytes / 4) * 3);
  const parts: Buffer[] = [];
  await takeLines({ reader, lineEnd: () => -1, pause: createYielder(signal) }, Infinity, most, parts);
  const bytes = joined(parts);
  if (bytes.length <= most) {
    const text = bytes.toString("base64");
    return { reply: text, text };
  }
  const text = bytes.toString("base64", 0, most);
  return { reply: withNotice(text, { shown: most, total: file.stats.size, unit: "bytes" }), text };
}

/** The means of reading lines one after another. */
interface Taking {
  readonly reader: ChunkReader;
  readonly lineEnd: LineEnd;
  readonly pause: Yield;
}

/**
 * Takes lines, until there are `most`, the file ends, or they have more than `maxBytes`; copies them to `parts`. `isOpen`: what was taken
 * ends within a line.
 */
async function takeLines(
  { reader, lineEnd, pause }: Taking,
  most: number,
  maxBytes: number,
  parts?: Buffer[],
): Promise<{ lines: number; bytes: number; isOpen: boolean }> {
  // Reads beyond the limit, to see whether there is more; even, so that no UTF-16 unit is split.
  const mostBytes = maxBytes === Infinity ? Infinity : maxBytes + 2 - (maxBytes % 2);
  const done = { lines: 0, bytes: 0, isOpen: false };
  while (done.lines < most && done.bytes <= maxBytes) {
    const chunk = reader.unread();
    if (chunk.length === 0) break;
    let taken = Math.min(chunk.length, mostBytes - done.bytes);
    if (most !== Infinity) {
      // Lines that are kept end in the first chunk, as a rule.
      const ends = parts === undefined && lineEnd === byteLineEnd ? countNewlines(chunk) : Infinity;
      if (done.lines + ends < most) done.lines += ends;
      else {
        for (let end = lineEnd(chunk, 0); end >= 0 && done.lines < most; end = lineEnd(chunk, end)) {
          done.lines += 1;
          if (done.lines === most) taken = Math.min(taken, end);
        }
      }
    }
    // A copy: the next chunk overwrites the buffer.
    parts?.push(Buffer.from(chunk.subarray(0, taken)));
    done.isOpen = done.lines < most && !endsLine(chunk, lineEnd);
    done.bytes += taken;
    reader.take(taken);
    await pause();
  }
  return done;
}

function endsLine(chunk: Buffer, lineEnd: LineEnd): boolean {
  const unit = lineEnd === utf16LineEnd ? 2 : 1;
  return lineEnd(chunk, Math.max(0, chunk.length - unit)) === chunk.length;
}

function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return only && parts.length === 1 ? only : Buffer.concat(parts);
}

function wholeLines(bytes: Buffer, lineEnd: LineEnd): { bytes: Buffer; lines: number } {
  let lines = 0;
  let taken = 0;
  for (let end = lineEnd(bytes, 0); end >= 0; end = lineEnd(bytes, end)) {
    lines += 1;
    taken = end;
  }
  return { bytes: bytes.subarray(0, taken), lines };
}

/** The number of bytes of an over-long line that are read to find its end. */
const lookAhead = 16 * 1024 * 1024;

/** Returns the length of a line that begins with these bytes, all that was taken of it. */
async function measureLine(taking: Taking, start: Buffer): Promise<{ length: number | undefined; isLast: boolean }> {
  const { reader, lineEnd } = taking;
  const known = lineEnd(start, 0);
  if (known >= 0) return { length: known, isLast: known === start.length && reader.unread().length === 0 };
  const rest = await takeLines(taking, 1, lookAhead - start.length);
  const isLast = reader.unread().length === 0;
  return { length: isLast || rest.lines > 0 ? start.length + rest.bytes : undefined, isLast };
}

/** The longer ones first: that of UTF-32LE begins as that of UTF-16LE. */
const byteOrderMarks = [
  ["\xff\xfe\0\0", "UTF-32LE"],
  ["\0\0\xfe\xff", "UTF-32BE"],
  ["\xfe\xff", "UTF-16BE"],
  ["\xff\xfe", "UTF-16LE"],
] as const;

function refuseBinary(head: Buffer, size: number, printed: string): void {
  const bytes = `${Math.max(size, head.length)} bytes`;
  // A short one may hold nothing but text, but not text that anybody wants to read.
  if (/^%PDF-\d/.test(head.toString("latin1", 0, 6))) {
    const message = `PDF, which is not read as text: ${printed} (${bytes}); convert it first, as with pdftotext FILE -, or pass encoding=base64 to read its bytes`;
    throw new ToolError({ code: "execution_failed", message });
  }
  if (!isBinary(head, head.length <= 8192)) return;
  const mark = byteOrderMarks.find(([start]) => head.toString("latin1", 0, start.length) === start)?.[1];
  const message =
    mark === undefined || mark === "UTF-16LE"
      ? `Binary file: ${printed} (${bytes}); pass encoding=${mark ? "utf16le" : "base64"} to read it`
      : `Not UTF-8: ${printed} (${bytes}) is ${mark}, which no encoding here reads; convert it first, as with iconv -f ${mark} -t UTF-8`;
  throw new ToolError({ code: "execution_failed", message });
}

type Encoding = PageRequest["encoding"];

/** Returns the longest head of whole characters whose text is at most `maxBytes` long as UTF-8. */
function headOf(bytes: Buffer, maxBytes: number, encoding: Encoding): Buffer {
  if (bytes.length * 3 <= maxBytes) return bytes;
  const cut = (length: number): Buffer =>
    length < bytes.length ? bytes.subarray(0, wholeCharacters(bytes, length, encoding)) : bytes;
  const fits = (head: Buffer): boolean => Buffer.byteLength(head.toString(encoding)) <= maxBytes;
  const most = cut(Math.min(maxBytes, bytes.length));
  if (fits(most)) return most;
  let shorter = 0;
  for (let longer = most.length; longer - shorter > 1; ) {
    const middle = Math.floor((shorter + longer) / 2);
    if (fits(cut(middle))) shorter = middle;
    else longer = middle;
  }
  return cut(shorter);
}

/** Returns the longest length up to `most` that does not split a character. */
function wholeCharacters(bytes: Buffer, most: number, encoding: Encoding): number {
  if (encoding === "latin1") return most;
  if (encoding === "utf16le") {
    const even = most - (most % 2);
    const last = bytes[even - 1] ?? 0;
    return last >= 0xd8 && last <= 0xdb ? even - 2 : even;
  }
  let end = most;
  while (end > most - 3 && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}
