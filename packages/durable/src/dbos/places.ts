/** How many turns beyond its places a worker may hold that wait for the limit of a provider: each takes memory. */
const mostWaiting = 4;

/** The places of one worker for the turns of one agent. A turn that waits for the limit of a provider leaves its place to others. */
export class Places {
  readonly #concurrency: number;
  readonly #countRunning: () => number;
  readonly #onFree: () => void;
  #waiting = 0;
  readonly #returning: (() => void)[] = [];

  /** `countRunning`: the turns that run here, with those that wait. `onFree`: there may be a place for another turn. */
  constructor(concurrency: number, countRunning: () => number, onFree: () => void) {
    this.#concurrency = concurrency;
    this.#countRunning = countRunning;
    this.#onFree = onFree;
  }

  /** How many turns may be taken from the queue. */
  get free(): number {
    if (this.#returning.length > 0) return 0;
    const held = this.#concurrency * (1 + mostWaiting) - this.#countRunning();
    return Math.max(0, Math.min(this.#concurrency - this.#countRunning() + this.#waiting, held));
  }

  /** Leaves the place of a turn while `wait` runs. Resolves once the turn has a place again, also where `wait` fails. */
  async leave<T>(wait: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#waiting += 1;
    this.letIn();
    try {
      return await wait();
    } finally {
      await this.#comeBack(signal);
    }
  }

  /** To be called when a turn has ended: lets one in that comes back, or tells that there is a place. */
  letIn(): void {
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
