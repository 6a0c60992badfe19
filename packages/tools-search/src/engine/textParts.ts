import { isUtf8 } from "node:buffer";

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
