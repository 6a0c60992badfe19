import { AgentError } from "./errors.ts";
import type { ProviderEvent } from "./provider.ts";
import { abortedError } from "./turnSignal.ts";

// Beyond this, setTimeout fires at once.
const longestTimer = 2 ** 31 - 1;

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
  readonly #signal: AbortSignal;
  readonly #idleMs: number;
  readonly #onAbort = (): void => this.#interrupt(abortedError(this.#signal));
  #timer: NodeJS.Timeout;
  #interrupt: (error: AgentError) => void = () => {};

  constructor(events: AsyncIterable<ProviderEvent>, limits: SilenceLimits, signal: AbortSignal) {
    this.#iterator = events[Symbol.asyncIterator]();
    this.#signal = signal;
    this.#idleMs = limits.idleTimeoutMs;
    this.#timer = this.#limit(limits.requestTimeoutMs);
    signal.addEventListener("abort", this.#onAbort);
  }

  /** The next event, undefined at the end. Throws `timeout` after too long a silence, `aborted` with the signal. */
  async next(): Promise<ProviderEvent | undefined> {
    // Only the provider's silence counts, not the time its reader takes.
    this.#timer.refresh();
    const result = await new Promise<IteratorResult<ProviderEvent>>((resolve, reject) => {
      this.#interrupt = reject;
      if (this.#signal.aborted) this.#onAbort();
      else this.#iterator.next().then(resolve, reject);
    });
    return result.done ? undefined : result.value;
  }

  /** From the first event on, silence is measured by the idle limit. */
  begun(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#limit(this.#idleMs);
  }

  /** Lets a stream whose reply is complete come to its own end, so that its connection can serve the next request. */
  async finish(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = this.#limit(1000);
    await this.next().catch(() => undefined);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#onAbort);
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
