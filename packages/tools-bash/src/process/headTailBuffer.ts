import { withMiddleLeftOut, withNewline } from "@toolcrib/core/text";
import type { SpillFile } from "./spillFile.ts";
import { lengthOfBegun, lengthOfRest } from "./utf8.ts";

/** Most bytes kept of one stream. */
const keptBytes: number = 50 * 1024;

const newline = 10;

/**
 * Keeps the first and the last bytes of a stream in one block of memory of a fixed size: its first half is the head, the rest
 * a ring buffer with the tail.
 */
export class HeadTailBuffer {
  /** Bytes pushed so far. */
  total = 0;
  readonly #size: number;
  readonly #headSize: number;
  readonly #spill: SpillFile | undefined;
  #block: Uint8Array | undefined;

  /** What is longer than `size` goes whole to `spill`. */
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
   * The text, with U+FFFD for invalid UTF-8. If bytes were dropped: whole lines of the head and the tail (of a longer line, whole
   * characters), a marker between them, and a notice at the end.
   */
  toString(): string {
    if (this.#block === undefined) return "";
    const block = Buffer.from(this.#block.buffer, this.#block.byteOffset, this.#size);
    if (this.total <= this.#size) return block.toString("utf8", 0, this.total);
    const seam = this.#headSize + ((this.total - this.#headSize) % (this.#size - this.#headSize));
    const head = headLines(block.subarray(0, this.#headSize));
    const tail = tailLines(Buffer.concat([block.subarray(seam), block.subarray(this.#headSize, seam)]));
    const shown = head.length + tail.length;
    const { unwritten, spilled } = this.#spill ?? {};
    const held = spilled && spilled.held < this.total ? spilled.held : undefined;
    const kept = { whole: spilled?.path, held, unwritten };
    return withMiddleLeftOut({ head: head.toString(), tail: tail.toString(), shown, total: this.total, ...kept });
  }
}

/** `text`, then the notes, a line each. */
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
