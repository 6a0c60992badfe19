import { printableName } from "@toolcrib/core/text";
import { withMiddleLeftOut, withNewline } from "@toolcrib/kit/text";
import type { SpillFile } from "./spillFile.ts";

/** Takes in one stream of a command, in flat memory; `toString` is what the answer shows of it. */
export interface OutputSink {
  /** Takes bytes, which are valid until it returns. */
  push(bytes: Uint8Array): void;
  toString(): string;
}

/** The sinks of a command. */
export interface CommandOutput {
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
}

/** Most bytes kept of one stream. */
const keptBytes: number = 50 * 1024;

const newline = 10;

/**
 * Keeps the first and the last bytes of a stream in one block of memory of a fixed size: its first half is the head, the rest
 * a ring buffer with the tail.
 */
export class HeadTailBuffer implements OutputSink {
  /** Bytes pushed so far. */
  total = 0;
  readonly #size: number;
  readonly #headSize: number;
  readonly #spill: SpillFile | undefined;
  #block: Uint8Array | undefined;

  /** Sends what is longer than `size` whole to `spill`. */
  constructor(size: number = keptBytes, spill?: SpillFile) {
    this.#size = size;
    this.#headSize = size >> 1;
    this.#spill = spill;
  }

  /** Copies the bytes that it keeps, so `chunk` may be reused. */
  push(chunk: Uint8Array): void {
    this.#block ??= Buffer.allocUnsafeSlow(this.#size);
    if (this.#spill && this.total + chunk.length > this.#size) {
      // Until now nothing was dropped, so the block has all of it.
      if (this.total <= this.#size) this.#spill.write(this.#block.subarray(0, this.total));
      this.#spill.write(chunk);
    }
    const room = Math.max(0, this.#headSize - this.total);
    const head = chunk.subarray(0, room);
    this.#block.set(head, Math.min(this.total, this.#headSize));
    this.total += head.length;
    this.#pushTail(this.#block, chunk.subarray(head.length));
  }

  /** Closes the file that the whole is in. */
  close(): void {
    this.#spill?.close();
  }

  /** Removes that file. */
  discard(): void {
    this.#spill?.discard();
  }

  #pushTail(block: Uint8Array, chunk: Uint8Array): void {
    const ring = this.#size - this.#headSize;
    const skipped = Math.max(0, chunk.length - ring);
    this.total += skipped;
    let rest = chunk.subarray(skipped);
    while (rest.length > 0) {
      const at = (this.total - this.#headSize) % ring;
      const piece = rest.subarray(0, ring - at);
      block.set(piece, this.#headSize + at);
      this.total += piece.length;
      rest = rest.subarray(piece.length);
    }
  }

  /**
   * Returns the text, with U+FFFD for invalid UTF-8. If bytes were dropped: whole lines of the head and the tail (of a longer line, whole
   * characters), a marker between them, and a notice at the end.
   */
  toString(): string {
    const { head, tail } = this.#kept();
    return this.total <= this.#size ? head.toString() : this.#cut(head, tail, this);
  }

  /** Returns the same within the size as JSON escapes it. The notice names the file of `whole`, which these bytes are a text of. */
  toSent(whole: HeadTailBuffer): string {
    const { head, tail } = this.#kept();
    const isWhole = this.total <= this.#size;
    if (isWhole && sentHead(head, this.#size) === head.length) return head.toString();
    const half = this.#size >> 1;
    const last = isWhole ? head : tail;
    return this.#cut(head.subarray(0, sentHead(head, half)), last.subarray(sentTail(last, half)), whole);
  }

  /** Says how much was not shown, after a text. */
  withNotShown(text: string): string {
    const { path } = this.#spill?.spilled ?? {};
    const where = path === undefined ? "" : `; it is in ${printableName(path)}`;
    return `${text}[binary output, ${this.total} bytes, not shown${where}]`;
  }

  /** Returns the bytes that are kept, all in `head` if nothing was dropped. */
  #kept(): { head: Buffer; tail: Buffer } {
    const block = this.#block ?? new Uint8Array(0);
    const bytes = Buffer.from(block.buffer, block.byteOffset, block.length);
    if (this.total <= this.#size) return { head: bytes.subarray(0, this.total), tail: Buffer.alloc(0) };
    const seam = this.#headSize + ((this.total - this.#headSize) % (this.#size - this.#headSize));
    const tail = Buffer.concat([bytes.subarray(seam), bytes.subarray(this.#headSize, seam)]);
    return { head: bytes.subarray(0, this.#headSize), tail };
  }

  #cut(start: Buffer, end: Buffer, whole: HeadTailBuffer): string {
    const [head, tail] = [headLines(start), tailLines(end)];
    const shown = head.length + tail.length;
    return withMiddleLeftOut({
      head: head.toString(),
      tail: tail.toString(),
      shown,
      total: this.total,
      ...whole.#spillAll(),
    });
  }

  /** Says where the whole is, written now if it was short enough to be kept here. */
  #spillAll(): Pick<Parameters<typeof withMiddleLeftOut>[0], "whole" | "held" | "unwritten"> {
    const spill = this.#spill;
    if (spill && this.#block && this.total <= this.#size && !spill.spilled)
      spill.write(this.#block.subarray(0, this.total));
    const { unwritten, spilled } = spill ?? {};
    return { whole: spilled?.path, held: spilled && spilled.held < this.total ? spilled.held : undefined, unwritten };
  }
}

/** Returns `text`, then the notes, a line each. */
export function withNotes(text: string, notes: readonly string[]): string {
  return notes.length > 0 ? withNewline(text) + notes.join("\n") : text;
}

function headLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(newline) + 1;
  return end > 0 ? bytes.subarray(0, end) : bytes.subarray(0, bytes.length - lengthOfBegun(bytes));
}

function tailLines(bytes: Buffer): Buffer {
  const start = bytes.indexOf(newline) + 1;
  return bytes.subarray(start > 0 && start < bytes.length ? start : lengthOfRest(bytes));
}

/** Returns how long a byte is in JSON; what is cleaned has no other controls than these. */
function sentLength(byte: number): number {
  return byte < 0x20 || byte === 0x22 || byte === 0x5c ? 2 : 1;
}

/** Counts how many bytes at the start fit into `limit`. */
function sentHead(bytes: Uint8Array, limit: number): number {
  let end = 0;
  let room = limit;
  for (const byte of bytes) {
    room -= sentLength(byte);
    if (room < 0) break;
    end += 1;
  }
  return end;
}

/** Returns where the bytes at the end begin that fit into `limit`. */
function sentTail(bytes: Uint8Array, limit: number): number {
  let start = bytes.length;
  for (let room = limit; start > 0; start -= 1) {
    room -= sentLength(bytes[start - 1] ?? 0);
    if (room < 0) break;
  }
  return start;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Counts how many bytes at the start are the rest of a character of UTF-8 that was cut: at most three. */
export function lengthOfRest(bytes: Uint8Array): number {
  let length = 0;
  while (length < 3 && isContinuation(bytes[length])) length += 1;
  return length;
}

/** Counts how many bytes at the end begin a character of UTF-8 that they do not complete. */
export function lengthOfBegun(bytes: Uint8Array): number {
  for (let length = 1; length <= 3 && length <= bytes.length; length += 1) {
    const byte = bytes[bytes.length - length] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > length ? length : 0;
  }
  return 0;
}
