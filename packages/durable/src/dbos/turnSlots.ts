/** The most turns beyond its slots that a worker may hold while they wait for the limit of a provider: each takes memory. */
const mostWaiting = 4;

/** The slots of one worker for the turns of one agent. A turn that waits for the limit of a provider leaves its slot to others. */
export class TurnSlots {
  readonly #concurrency: number;
  readonly #countRunning: () => number;
  readonly #onFree: () => void;
  #waiting = 0;
  readonly #returning: (() => void)[] = [];

  /** Counts by `countRunning` the turns that run here, with those that wait. Calls `onFree` when there may be a slot for another turn. */
  constructor(concurrency: number, countRunning: () => number, onFree: () => void) {
    this.#concurrency = concurrency;
    this.#countRunning = countRunning;
    this.#onFree = onFree;
  }

  /** Returns the number of turns that may be taken from the queue. */
  get free(): number {
    if (this.#returning.length > 0) return 0;
    const held = this.#concurrency * (1 + mostWaiting) - this.#countRunning();
    return Math.max(0, Math.min(this.#concurrency - this.#countRunning() + this.#waiting, held));
  }

  /** Leaves the slot of a turn while `wait` runs. Resolves once the turn has a slot again, also where `wait` fails. */
  async leave<T>(wait: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#waiting += 1;
    this.admit();
    try {
      return await wait();
    } finally {
      await this.#comeBack(signal);
    }
  }

  /** Gives a free slot to a turn that comes back, else tells that there is one. */
  admit(): void {
    while (this.#returning.length > 0 && this.#countRunning() - this.#waiting < this.#concurrency) {
      this.#waiting -= 1;
      this.#returning.shift()?.();
    }
    if (this.free > 0) this.#onFree();
  }

  async #comeBack(signal: AbortSignal): Promise<void> {
    if (this.#countRunning() - this.#waiting < this.#concurrency || signal.aborted) {
      this.#waiting -= 1;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#returning.push(resolve);
    const abort = (): void => {
      const at = this.#returning.indexOf(resolve);
      if (at < 0) return;
      this.#returning.splice(at, 1);
      this.#waiting -= 1;
      resolve();
    };
    signal.addEventListener("abort", abort, { once: true });
    await promise;
    signal.removeEventListener("abort", abort);
  }
}
