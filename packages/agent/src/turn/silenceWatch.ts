import { AgentError } from "../errors.ts";

// Beyond this, setInterval fires at once.
const longestTimer = 2 ** 31 - 1;

/** Milliseconds that a provider may stay silent. */
export interface SilenceLimits {
  /** Until the first sign of a reply; a reply that is not streamed gives none before it is whole. */
  readonly requestTimeoutMs: number;
  /** Between two signs of a streamed reply. */
  readonly idleTimeoutMs: number;
}

/**
 * Measures silence with one timer a turn. The timer has the shorter of the two limits; the longer one is counted in its
 * ticks, so it is exact to one tick.
 */
export class SilenceWatch {
  readonly #tickMs: number;
  readonly #limits: SilenceLimits;
  readonly #timer: NodeJS.Timeout;
  #limitMs: number = Number.POSITIVE_INFINITY;
  #silentMs = 0;
  /** Called at the limit. */
  onSilence: ((error: AgentError) => void) | undefined;

  constructor(limits: SilenceLimits) {
    this.#limits = limits;
    this.#tickMs = Math.min(limits.requestTimeoutMs, limits.idleTimeoutMs, longestTimer);
    this.#timer = setInterval(() => this.#tick(), this.#tickMs);
  }

  /** A request goes out: until its first sign of life the request's limit counts. */
  begin(): void {
    this.#limitMs = this.#limits.requestTimeoutMs;
  }

  /** The reply has begun: from here on the idle limit counts. */
  begun(): void {
    this.#limitMs = this.#limits.idleTimeoutMs;
  }

  /** Something came, or somebody begins to wait. */
  refresh(): void {
    this.#silentMs = 0;
    this.#timer.refresh();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.#silentMs += this.#tickMs;
    if (this.#silentMs >= this.#limitMs) this.onSilence?.(silenceError(this.#limitMs));
  }
}

function silenceError(milliseconds: number): AgentError {
  return new AgentError({
    code: "timeout",
    message: `The model sent nothing for ${milliseconds / 1000} s; check the connection, or raise idleTimeoutMs or requestTimeoutMs.`,
    retryable: true,
  });
}
