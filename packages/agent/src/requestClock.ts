import { longestDelayMs } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { AgentError } from "./errors.ts";

/** Milliseconds that a model may be silent. */
export interface RequestLimits {
  /** Until the first sign of a reply; a reply that is not streamed gives none before it is whole. */
  readonly requestTimeoutMs: number;
  /** Between two signs of a streamed reply. */
  readonly idleTimeoutMs: number;
  /** Between two parts of the reply itself (thinking, text, arguments of calls), however many signs come, and until the first. */
  readonly contentTimeoutMs: number;
}

export const defaultRequestLimits: RequestLimits = {
  requestTimeoutMs: 600_000,
  idleTimeoutMs: 90_000,
  contentTimeoutMs: 1_800_000,
};

const longestDrainMs = 1000;

/** A request whose reply is whole, and when it has ended. */
interface Ending {
  readonly events: AsyncIterator<unknown>;
  readonly ended: Promise<void>;
}

/**
 * Ends requests to a model that are silent, late or aborted, also where the provider ignores its signal. One clock serves
 * all requests of a turn: one timer, and one signal that follows the caller's. The timer has the shorter of the two limits,
 * and the longer one is counted in its ticks: a timer for each wait would cost more than the rest of a step.
 */
export class RequestClock {
  readonly #caller: AbortSignal | undefined;
  readonly #follow = (): void => this.abort(this.#caller?.reason);
  readonly #limits: RequestLimits;
  readonly #tickMs: number;
  readonly #timer: NodeJS.Timeout;
  #controller: AbortController = new AbortController();
  #signal: AbortSignal = this.#controller.signal;
  #limit: "requestTimeoutMs" | "idleTimeoutMs" = "requestTimeoutMs";
  #silentMs = 0;
  /** The time that was waited since the last part of the reply, but for the wait in progress. */
  #emptyMs = 0;
  /** Ends the wait in progress; there is one at a time. */
  #interrupt: (error: AgentError) => void = () => {};
  /** A request whose reply is whole, until it has ended. */
  #ending: Ending | undefined;

  constructor(caller: AbortSignal | undefined, limits: RequestLimits) {
    this.#caller = caller;
    this.#limits = limits;
    this.#tickMs = Math.min(limits.requestTimeoutMs, limits.idleTimeoutMs, limits.contentTimeoutMs, longestDelayMs);
    this.#timer = setInterval(() => this.#tick(), this.#tickMs);
    if (caller?.aborted) this.#follow();
    else caller?.addEventListener("abort", this.#follow);
  }

  get signal(): AbortSignal {
    return this.#signal;
  }

  throwIfAborted(text?: string): void {
    if (this.#signal.aborted) throw abortedError(this.#signal, text);
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
    this.#interrupt(abortedError(this.#signal));
  }

  /** Ends what still runs under the current signal; what starts later gets a new one. */
  renew(): void {
    this.abort();
    if (this.#caller?.aborted) return;
    this.#controller = new AbortController();
    this.#signal = this.#controller.signal;
  }

  /** Starts the clock of a request: `requestTimeoutMs` counts until its first event, then `idleTimeoutMs`. */
  begin(): void {
    this.#limit = "requestTimeoutMs";
    this.#emptyMs = 0;
  }

  /** Resolves to the next event of the request; rejects with `timeout` after too long a silence and with `aborted` at the signal. */
  next<T>(events: AsyncIterator<T>): Promise<IteratorResult<T>> {
    // Only the silence of the model counts, not the time its reader takes.
    this.#silentMs = 0;
    this.#timer.refresh();
    const start = performance.now();
    return new Promise((resolve, reject) => {
      this.#interrupt = reject;
      if (this.#signal.aborted) return reject(abortedError(this.#signal));
      events.next().then((result) => {
        // An event of an earlier attempt may come late.
        if (this.#interrupt === reject) {
          this.#limit = "idleTimeoutMs";
          this.#emptyMs = isContent(result.value) ? 0 : this.#emptyMs + performance.now() - start;
        }
        if (this.#isEmptyFor(0)) reject(silenceError(this.#limits.contentTimeoutMs, "contentTimeoutMs"));
        resolve(result);
      }, reject);
    });
  }

  /** Reads a request whose reply is whole to its end, so that its connection can serve the next one; `drained` waits for that. */
  drain(events: AsyncIterator<unknown>): void {
    // A provider that still hangs may end one of its requests during a later one.
    const end = (): void => {
      if (this.#ending === ending) this.#ending = undefined;
    };
    const ending: Ending = { events, ended: events.next().then(end, end) };
    this.#ending = ending;
  }

  /** Waits for the end of the request, and ends it after a second; undefined if none is left to end. */
  drained(): Promise<void> | undefined {
    return this.#ending && this.#waitForEnd(this.#ending);
  }

  async #waitForEnd(ending: Ending): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, longestDrainMs);
    this.#interrupt = () => resolve();
    void ending.ended.then(resolve);
    await promise;
    clearTimeout(timer);
    if (this.#ending !== ending) return;
    this.renew();
    this.#close();
  }

  #close(): void {
    closeEvents(this.#ending?.events);
    this.#ending = undefined;
  }

  dispose(): void {
    this.#close();
    this.#caller?.removeEventListener("abort", this.#follow);
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.#silentMs += this.#tickMs;
    const limitMs = this.#limits[this.#limit];
    if (this.#silentMs >= limitMs) this.#interrupt(silenceError(limitMs, this.#limit));
    else if (this.#isEmptyFor(this.#silentMs))
      this.#interrupt(silenceError(this.#limits.contentTimeoutMs, "contentTimeoutMs"));
  }

  #isEmptyFor(moreMs: number): boolean {
    return this.#emptyMs + moreMs >= this.#limits.contentTimeoutMs;
  }
}

/** Yields the events of one request that keeps its own clock, up to its reply. Leaving the iteration ends the request. */
export async function* clockedEvents<T extends { readonly type: string }>(
  open: (signal: AbortSignal) => AsyncIterator<T>,
  caller: AbortSignal,
  limits: RequestLimits,
): AsyncGenerator<T, void> {
  const clock = new RequestClock(caller, limits);
  const events = open(clock.signal);
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await clock.next(events);
      ended = done === true;
      if (done) return;
      yield value;
      if (value.type !== "reply") continue;
      ended = true;
      clock.drain(events);
      await clock.drained();
      return;
    }
  } finally {
    if (!ended) {
      clock.abort();
      closeEvents(events);
    }
    clock.dispose();
  }
}

/** Tells a provider that nobody reads on. Not awaited: a provider that hangs would hang its caller too. */
export function closeEvents(events: AsyncIterator<unknown> | undefined): void {
  events?.return?.().catch(() => undefined);
}

/** Makes the error of an abort. The caller's reason is the cause. */
export function abortedError(signal: AbortSignal, text?: string): AgentError {
  const options = { code: "aborted", message: "Aborted by the caller's signal.", cause: signal.reason } as const;
  return new AgentError(text ? { ...options, text } : options);
}

/** Returns whether an event is a part of the reply. Signs that keep a connection open are none. */
function isContent(event: unknown): boolean {
  if (!isObject(event)) return false;
  const { type, text } = event;
  return type === "activity" ? event.isContent === true : type === "reply" || (typeof text === "string" && text !== "");
}

function silenceError(milliseconds: number, option: keyof RequestLimits): AgentError {
  const what = option === "contentTimeoutMs" ? "no part of its reply" : "nothing";
  const message = `The model sent ${what} for ${milliseconds / 1000} s. Check the connection, or raise ${option}.`;
  return new AgentError({ code: "timeout", message, retryable: true });
}
