/** Where each value lies in the memory, in bytes. */
const layout = {
  /** Int32: 1 if the thread is to leave its job at once. */
  stop: 0,
  /** Int32: bytes of `saved` in use. */
  savedLength: 4,
  /** Float64: milliseconds spent matching before the current stretch. */
  spent: 8,
  /** Float64: when the current stretch of matching began; 0 if none is going on. */
  since: 16,
  /** Int32: the system's id of the thread; 0 where it is not known. */
  threadId: 24,
  /** UTF-8, to the end: match lines of the batch that is being searched. */
  saved: 32,
} as const;

const savedSize = 2 ** 18;

/** Memory that a thread shares with the caller's, which can read it while the thread hangs. */
export class ControlBlock {
  /** What is handed to the other thread, which makes its own `ControlBlock` of it. */
  readonly memory: SharedArrayBuffer;
  readonly #integers: Int32Array;
  readonly #times: Float64Array;
  readonly #saved: Buffer;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(layout.saved + savedSize)) {
    this.memory = memory;
    this.#integers = new Int32Array(memory, 0, layout.saved / 4);
    this.#times = new Float64Array(memory, 0, layout.saved / 8);
    this.#saved = Buffer.from(memory, layout.saved);
  }

  /** Clears all but the thread's id. Called while the thread has no job. */
  reset(): void {
    this.#integers.fill(0, 0, layout.threadId / 4);
  }

  stopNow(): void {
    Atomics.store(this.#integers, layout.stop / 4, 1);
  }

  get stopsNow(): boolean {
    return Atomics.load(this.#integers, layout.stop / 4) === 1;
  }

  get threadId(): number {
    return this.#integers[layout.threadId / 4] ?? 0;
  }

  set threadId(id: number) {
    this.#integers[layout.threadId / 4] = id;
  }

  get spent(): number {
    return this.#times[layout.spent / 8] ?? 0;
  }

  set spent(ms: number) {
    this.#times[layout.spent / 8] = ms;
  }

  get since(): number {
    return this.#times[layout.since / 8] ?? 0;
  }

  set since(ms: number) {
    this.#times[layout.since / 8] = ms;
  }

  /** Keeps a line, with its line feed, for the caller's thread, should the next match never end. One that does not fit is dropped. */
  saveLine(line: string): void {
    const used = this.#integers[layout.savedLength / 4] ?? 0;
    // A UTF-16 unit is at most three bytes.
    if (line.length * 3 > this.#saved.length - used) return;
    this.#integers[layout.savedLength / 4] = used + this.#saved.write(line, used);
  }

  dropSavedLines(): void {
    this.#integers[layout.savedLength / 4] = 0;
  }

  savedLines(): string[] {
    const length = this.#integers[layout.savedLength / 4] ?? 0;
    return this.#saved.toString("utf8", 0, length).split("\n").slice(0, -1);
  }
}

/** Counts the time that a thread spends matching a caller's pattern. */
export interface MatchClock {
  run(): void;
  pause(): void;
}

/** Counts in `control`. `now` returns milliseconds, never 0. */
export function createMatchClock(control: ControlBlock, now: () => number = Date.now): MatchClock {
  return {
    run() {
      control.since = now();
    },
    pause() {
      const { since } = control;
      control.since = 0;
      if (since !== 0) control.spent += now() - since;
    },
  };
}
