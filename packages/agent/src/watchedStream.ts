import { AgentError } from "./errors.ts";
import type { ProviderEvent } from "./provider.ts";
import { abortedError, type TurnSignal } from "./turnSignal.ts";

// Beyond this, setTimeout fires at once.
const longestTimer = 2 ** 31 - 1;
const longestDrainMs = 1000;

/** Milliseconds that a provider may stay silent. */
export interface SilenceLimits {
  /** Until the first sign of a reply; a reply that is not streamed gives none before it is whole. */
  readonly requestTimeoutMs: number;
  /** Between two signs of a streamed reply. */
  readonly idleTimeoutMs: number;
}

/** Reads a provider's events so that neither its silence nor its deafness to the signal can hang the turn. */
export class WatchedStream {
  readonly #iterator: AsyncIterator<ProviderEvent>;
  readonly #turn: TurnSignal;
  readonly #idleMs: number;
  #timer: NodeJS.Timeout;
  #interrupt: (error: AgentError) => void = () => {};

  constructor(events: AsyncIterable<ProviderEvent>, limits: SilenceLimits, turn: TurnSignal) {
    this.#iterator = events[Symbol.asyncIterator]();
    this.#turn = turn;
    this.#idleMs = limits.idleTimeoutMs;
    this.#timer = this.#limit(limits.requestTimeoutMs);
    turn.onAbort = () => this.#interrupt(abortedError(turn.signal));
  }

  /** The next event, undefined at the end. Throws `timeout` after too long a silence, `aborted` with the signal. */
  async next(): Promise<ProviderEvent | undefined> {
    // Only the provider's silence counts, not the time its reader takes.
    this.#timer.refresh();
    const result = await new Promise<IteratorResult<ProviderEvent>>((resolve, reject) => {
      this.#interrupt = reject;
      if (this.#turn.signal.aborted) this.#turn.onAbort?.();
      else this.#iterator.next().then(resolve, reject);
    });
    return result.done ? undefined : result.value;
  }

  /** From the first event on, silence is measured by the idle limit. */
  begun(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#limit(this.#idleMs);
  }

  /**
   * Lets a stream whose reply is complete come to its own end, so that its connection can serve the next request and what
   * wraps it can do its part. Waits a second at most.
   */
  async finish(): Promise<void> {
    let ended = false;
    const end = (): void => {
      ended = true;
    };
    const ending = this.#iterator.next().then(end, end);
    // In process the end comes at once; only a connection is worth a timer.
    for (let turn = 0; turn < 3 && !ended; turn += 1) await undefined;
    if (ended) return;
    clearTimeout(this.#timer);
    await new Promise<void>((resolve) => {
      this.#interrupt = () => resolve();
      this.#timer = this.#limit(longestDrainMs);
      void ending.then(resolve);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#turn.onAbort = undefined;
    // Not awaited: a provider that hangs would hang here too.
    this.#iterator.return?.().catch(() => undefined);
  }

  #limit(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.#interrupt(silenceError(milliseconds)), Math.min(milliseconds, longestTimer));
  }
}

function silenceError(milliseconds: number): AgentError {
  return new AgentError({
    code: "timeout",
    message: `The model sent nothing for ${milliseconds / 1000} s; check the connection, or raise idleTimeoutMs or requestTimeoutMs.`,
    retryable: true,
  });
}
