const newline = 0x0a;

/** Splits bytes into lines of text. Reports a line longer than the limit once and drops it. */
export class LineSplitter {
  readonly #limit: number;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;
  #parts: Uint8Array[] = [];
  #length = 0;
  #dropping = false;

  constructor(limitBytes: number, onLine: (line: string) => void, onTooLong: () => void) {
    this.#limit = limitBytes;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      this.#add(chunk.subarray(from, at));
      this.#endLine();
      from = at + 1;
    }
    this.#add(chunk.subarray(from));
  }

  #add(part: Uint8Array): void {
    if (this.#dropping || part.length === 0) return;
    this.#length += part.length;
    if (this.#length <= this.#limit) {
      this.#parts.push(part);
      return;
    }
    this.#reset();
    this.#dropping = true;
    this.#onTooLong();
  }

  #endLine(): void {
    const dropped = this.#dropping;
    const line = dropped ? "" : Buffer.concat(this.#parts, this.#length).toString("utf8");
    this.#reset();
    this.#dropping = false;
    if (!dropped) this.#onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  #reset(): void {
    this.#parts = [];
    this.#length = 0;
  }
}
