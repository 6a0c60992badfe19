/** The place of each value, in Int32 units. Takers wait on `changes`. */
const at = { changes: 0, stopped: 1, ended: 2, added: 3, taken: 4, results: 5, units: 6, lock: 7 } as const;
const headLength = 16;
/** Before the text of each slot: whether it is in use, and what a batch is beside its paths. */
const slot = { used: 0, order: 1, start: 2, length: 3, headLength: 4 } as const;
const slots = 16;
/** UTF-16 units of the paths of a batch at most. A path is shorter than this. */
export const longestBatch: number = 2 ** 15;
const slotLength = slot.headLength + longestBatch / 2;

/** Between the orders of two batches: twice as many as a batch has files at most. */
export const orderStep: number = 2 ** 10;

/** Some files of one start, in the order of their paths. */
export interface Batch {
  /** Its place among the batches: a multiple of `orderStep`, or behind it for a part of one; odd for a file that the caller's thread left. */
  order: number;
  /** The index of its start in the job. */
  start: number;
  paths: string[];
}

/**
 * The batches of one search that nobody has taken yet, in memory that its takers share. They are taken in the order in which they were
 * added, so what is taken always comes before what is not, but for what the caller's thread left.
 */
export class BatchQueue {
  /** The memory to hand to another thread, which makes its own `BatchQueue` of it. */
  readonly memory: SharedArrayBuffer;
  readonly #integers: Int32Array;
  #seen = 0;

  /** Makes a queue for a search that only lists files: it queues nothing, and shares its counts alone. */
  static forList(): BatchQueue {
    return new BatchQueue(new SharedArrayBuffer(4 * (headLength + slot.headLength)));
  }

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(4 * (headLength + slots * slotLength))) {
    this.memory = memory;
    this.#integers = new Int32Array(memory);
  }

  /** Returns whether the walk may add another batch: few at first, as the first files may hold enough. The last slot is for what the caller leaves. */
  get wantsMore(): boolean {
    const [taken, added] = [this.#load(at.taken), this.#load(at.added)];
    return added - taken < Math.min(slots - 1, 1 + 2 * taken) && this.#isFree(added);
  }

  /** Adds a batch; false while another taker still copies the paths from the slot that is next, or where fewer slots than `spare` would be left. */
  add({ order, start, paths }: Batch, spare = 0): boolean {
    const text = paths.join("\0");
    // Held for as long as a copy of the paths takes.
    while (Atomics.compareExchange(this.#integers, at.lock, 0, 1) !== 0);
    const added = this.#load(at.added);
    const isFree = this.#isFree(added) && added - this.#load(at.taken) < slots - spare;
    if (isFree) {
      const from = slotAt(added);
      this.#integers.set([1, order, start, text.length], from);
      Buffer.from(this.memory, 4 * (from + slot.headLength), 2 * text.length).write(text, "utf16le");
      Atomics.store(this.#integers, at.added, added + 1);
    }
    Atomics.store(this.#integers, at.lock, 0);
    this.#notify();
    return isFree;
  }

  /** Returns the next batch, if there is one; with `isQuick` none that was left. */
  take(isQuick = false): Batch | undefined {
    this.#seen = this.#load(at.changes);
    for (;;) {
      const taken = this.#load(at.taken);
      if (taken === this.#load(at.added)) return undefined;
      const from = slotAt(taken);
      if (isQuick && isLeft(this.#load(from + slot.order))) return undefined;
      // Asked before it is taken: what another taker finds behind it may stop the queue right afterwards.
      const isBehind = this.stopped;
      if (Atomics.compareExchange(this.#integers, at.taken, taken, taken + 1) !== taken) continue;
      const [, order = 0, start = 0, length = 0] = this.#integers.subarray(from, from + slot.headLength);
      const text = Buffer.from(this.memory, 4 * (from + slot.headLength), 2 * length).toString("utf16le");
      Atomics.store(this.#integers, from + slot.used, 0);
      // Batches behind enough results are not shown.
      if (!isBehind || isLeft(order)) return { order, start, paths: text.split("\0") };
    }
  }

  /** Sleeps until something has changed since the last `take`. Not for the caller's thread. */
  wait(): void {
    Atomics.wait(this.#integers, at.changes, this.#seen);
  }

  /** Counts results and UTF-16 units of text. Returns whether all together are enough. */
  count(results: number, units: number, { limit, maxBytes }: { limit: number; maxBytes: number }): boolean {
    const allResults = Atomics.add(this.#integers, at.results, results) + results;
    const allUnits = maxBytes > 2 ** 30 ? 0 : Atomics.add(this.#integers, at.units, units) + units;
    return allResults >= limit || allUnits > maxBytes + 1;
  }

  /** Stops the queue: no further batch is added or taken, but for what the caller's thread left of its last. */
  stop(): void {
    Atomics.store(this.#integers, at.stopped, 1);
    this.#notify();
  }

  get stopped(): boolean {
    return this.#load(at.stopped) === 1;
  }

  /** Records that the walk is over. */
  end(): void {
    Atomics.store(this.#integers, at.ended, 1);
    this.#notify();
  }

  /** Returns whether nothing is left to take, now and later. */
  get isEmptied(): boolean {
    return (this.stopped || this.#load(at.ended) === 1) && this.#load(at.taken) === this.#load(at.added);
  }

  #isFree(number: number): boolean {
    return this.#load(slotAt(number) + slot.used) === 0;
  }

  #load(place: number): number {
    return Atomics.load(this.#integers, place);
  }

  #notify(): void {
    Atomics.add(this.#integers, at.changes, 1);
    Atomics.notify(this.#integers, at.changes);
  }
}

function isLeft(order: number): boolean {
  return order % 2 === 1;
}

function slotAt(number: number): number {
  return headLength + (number % slots) * slotLength;
}
