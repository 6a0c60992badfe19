import type { KeptOutput } from "./messages.ts";

/** Characters of the end that are kept of an output which is longer than what is kept of its beginning. */
const keptEnd = 64 * 1024;

/** Collects what a program prints in bounded memory: the beginning, the end, and how much there was. */
export class OutputCollector {
  readonly #most: number;
  readonly #head: string[] = [];
  #length = 0;
  #tail = "";
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    const room = this.#most - this.#length;
    if (room > 0) this.#head.push(text.length > room ? text.slice(0, room) : text);
    this.#length += text.length;
    if (text.length <= room) return;
    this.#tail += room > 0 ? text.slice(room) : text;
    // Cut only once it has doubled, as each cut copies what is kept.
    if (this.#tail.length > 2 * keptEnd) this.#tail = this.#tail.slice(-keptEnd);
  }

  get kept(): KeptOutput {
    return { head: this.#head.join(""), tail: this.#tail.slice(-keptEnd), bytes: this.#bytes };
  }
}
