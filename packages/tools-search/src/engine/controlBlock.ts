import { processorMs } from "./processorTime.ts";

/** Gives the place of each value in the memory: the numbers of Int32, then of Float64; the text of saved lines goes to the end. */
const integer = { stop: 0, savedLength: 1, threadId: 6 } as const;
const time = { spent: 1, since: 2 } as const;
const headLength = 32;
const savedSize = 2 ** 18;

/** Counts the time that a thread spends matching a caller's pattern. */
export interface MatchClock {
  run(): void;
  pause(): void;
}

/** Memory that a thread shares with the caller's, which can read it while the thread hangs. */
export class ControlBlock implements MatchClock {
  /** The memory to hand to the other thread, which makes its own `ControlBlock` of it. */
  readonly memory: SharedArrayBuffer;
  readonly #now: () => number;
  readonly #integers: Int32Array;
  readonly #times: Float64Array;
  readonly #saved: Buffer;

  /** Takes times from `now`, in milliseconds and never 0. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(headLength + savedSize), now: () => number = Date.now) {
    this.memory = memory;
    this.#now = now;
    this.#integers = new Int32Array(memory, 0, headLength / 4);
    this.#times = new Float64Array(memory, 0, headLength / 8);
    this.#saved = Buffer.from(memory, headLength);
  }

  /** Clears all but the thread's id. Called while the thread has no job. */
  reset(): void {
    this.#integers.fill(0, 0, integer.threadId);
  }

  /** Asks the thread to leave its job at once. */
  stopNow(): void {
    Atomics.store(this.#integers, integer.stop, 1);
  }

  get stopsNow(): boolean {
    return Atomics.load(this.#integers, integer.stop) === 1;
  }

  /** Returns the system's id of the thread; 0 if it is not known. */
  get threadId(): number {
    return this.#integers[integer.threadId] ?? 0;
  }

  set threadId(id: number) {
    this.#integers[integer.threadId] = id;
  }

  /** Milliseconds spent matching before the current stretch. */
  get spent(): number {
    return this.#times[time.spent] ?? 0;
  }

  /** Returns when the current stretch of matching began; 0 if none is going on. */
  get since(): number {
    return this.#times[time.since] ?? 0;
  }

  run(): void {
    this.#times[time.since] = this.#now();
  }

  pause(): void {
    const { since, spent } = this;
    this.#times[time.since] = 0;
    if (since !== 0) this.#times[time.spent] = spent + this.#now() - since;
  }

  /** Keeps a line, with its line feed, for the caller's thread, should the next match never end. One that does not fit is dropped. */
  saveLine(line: string): void {
    const used = this.#integers[integer.savedLength] ?? 0;
    // A UTF-16 unit is at most three bytes.
    if (line.length * 3 > this.#saved.length - used) return;
    this.#integers[integer.savedLength] = used + this.#saved.write(line, used);
  }

  dropSavedLines(): void {
    this.#integers[integer.savedLength] = 0;
  }

  savedLines(): string[] {
    const length = this.#integers[integer.savedLength] ?? 0;
    return this.#saved.toString("utf8", 0, length).split("\n").slice(0, -1);
  }
}

/** Milliseconds of matching so far, and those of the current stretch. */
export type ReadMatchClock = () => { spent: number; stretch: number };

/** The time, and the processor time of a thread (undefined if the system does not say it), in milliseconds. */
export interface TimeSource {
  now(): number;
  processorMs(threadId: number): number | undefined;
}

const systemTime: TimeSource = { now: () => Date.now(), processorMs };

/**
 * Reads the clock of a thread for one job. Where the system tells a thread's processor time (Linux), time in which the thread waited for a
 * processor is not counted, unless `isLowered()`: a thread of lower priority waits because of its own pattern.
 */
export function createClockReader(
  control: ControlBlock,
  isLowered: () => boolean,
  time: TimeSource = systemTime,
): ReadMatchClock {
  const atStart = time.processorMs(control.threadId);
  let seenSince = 0;
  let seenAt = atStart;
  return () => {
    const { since } = control;
    const elapsed = since === 0 ? 0 : time.now() - since;
    const spent = control.spent + elapsed;
    const onProcessor = time.processorMs(control.threadId);
    if (since !== seenSince) {
      seenSince = since;
      seenAt = onProcessor;
    }
    if (onProcessor === undefined || atStart === undefined || seenAt === undefined || isLowered()) {
      return { spent, stretch: elapsed };
    }
    return { spent: Math.min(spent, onProcessor - atStart), stretch: Math.min(elapsed, onProcessor - seenAt) };
  };
}
