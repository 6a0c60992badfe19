import { AgentError } from "../errors.ts";
import { type SilenceLimits, SilenceWatch } from "./silenceWatch.ts";

/**
 * The one abort signal of a turn, which follows the caller's and is renewed only when an attempt had to be ended; with the
 * turn's one timer.
 */
export class TurnSignal {
  readonly #caller: AbortSignal | undefined;
  readonly #follow = (): void => this.abort(this.#caller?.reason);
  #controller: AbortController = new AbortController();
  /** Called when the signal fires; the loop waits for one thing at a time, so one is enough. */
  onAbort: (() => void) | undefined;

  readonly silence: SilenceWatch;

  constructor(caller: AbortSignal | undefined, limits: SilenceLimits) {
    this.#caller = caller;
    this.silence = new SilenceWatch(limits);
    if (caller?.aborted) this.#follow();
    else caller?.addEventListener("abort", this.#follow);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
    this.onAbort?.();
  }

  /** Ends what still runs under the current signal; what starts after it gets a fresh one. */
  renew(): void {
    this.abort();
    if (!this.#caller?.aborted) this.#controller = new AbortController();
  }

  throwIfAborted(text?: string): void {
    if (this.signal.aborted) throw abortedError(this.signal, text);
  }

  dispose(): void {
    this.#caller?.removeEventListener("abort", this.#follow);
    this.silence.stop();
  }
}

/** The typed error of an aborted turn: the caller's reason is its cause. */
export function abortedError(signal: AbortSignal, text?: string): AgentError {
  const options = { code: "aborted", message: "The turn was aborted.", cause: signal.reason } as const;
  return new AgentError(text ? { ...options, text } : options);
}
