const newline = 0x0a;
const carriageReturn = 0x0d;

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

/**
 * Counts the bytes of the events of a stream (`text/event-stream`), which an empty line ends. The function takes the next bytes of the
 * stream, and returns how many the event at their end has so far.
 */
export function createEventCounter(): (chunk: Uint8Array) => number {
  let event = 0;
  let line = 0;
  let last: number | undefined;
  return (chunk) => {
    event += chunk.length;
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      const length = line + at - from;
      if (length === 0 || (length === 1 && (at > 0 ? chunk[at - 1] : last) === carriageReturn))
        event = chunk.length - at - 1;
      line = 0;
      from = at + 1;
    }
    line += chunk.length - from;
    last = chunk.at(-1);
    return event;
  };
}
