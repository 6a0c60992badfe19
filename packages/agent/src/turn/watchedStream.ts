import type { AgentError } from "../errors.ts";
import type { SilenceWatch } from "./silenceWatch.ts";
import { abortedError, type TurnSignal } from "./turnSignal.ts";

const longestDrainMs = 1000;

/** Reads a provider's events so that neither its silence nor its deafness to the signal can hang the turn. */
export class WatchedStream {
  readonly #iterator: AsyncIterator<unknown>;
  readonly #turn: TurnSignal;
  readonly #silence: SilenceWatch;
  #interrupt: (error: AgentError) => void = () => {};
  #ended = false;

  constructor(events: AsyncIterator<unknown>, turn: TurnSignal, silence: SilenceWatch) {
    this.#iterator = events;
    this.#turn = turn;
    this.#silence = silence;
    silence.begin();
    silence.onSilence = (error) => this.#interrupt(error);
    turn.onAbort = () => this.#interrupt(abortedError(turn.signal));
  }

  /** Rejects with `timeout` after too long a silence, with `aborted` when the signal fires. */
  next(): Promise<IteratorResult<unknown>> {
    // Only the provider's silence counts, not the time its reader takes.
    this.#silence.refresh();
    return new Promise((resolve, reject) => {
      this.#interrupt = reject;
      if (this.#turn.signal.aborted) this.#turn.onAbort?.();
      else this.#iterator.next().then(resolve, reject);
    });
  }

  /**
   * Lets a stream whose reply is complete come to its own end, so that its connection can serve the next request and what
   * wraps it can do its part. Waits a second at most.
   */
  async finish(): Promise<void> {
    const end = (): void => {
      this.#ended = true;
    };
    const ending = this.#iterator.next().then(end, end);
    // In process the end comes at once; only a connection is worth a timer.
    for (let turn = 0; turn < 3 && !this.#ended; turn += 1) await undefined;
    if (this.#ended) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, longestDrainMs);
      this.#interrupt = () => resolve();
      void ending.then(resolve);
    });
    clearTimeout(timer);
  }

  close(): void {
    this.#turn.onAbort = undefined;
    this.#silence.onSilence = undefined;
    // Not awaited: a provider that hangs would hang here too.
    if (!this.#ended) this.#iterator.return?.().catch(() => undefined);
  }
}
