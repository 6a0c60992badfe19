import { AgentError } from "../../errors.ts";
import type { ProviderEvent } from "../../provider.ts";
import { endOfTurn } from "./endOfTurn.ts";
import { longestTimer } from "./options.ts";
import type { Pulse } from "./pulse.ts";
import { createEventRedactor } from "./redact.ts";
import { type Service, toAgentError } from "./wireErrors.ts";

/** Turns the chunks of one reply into events. */
export interface ReplyReducer<Chunk> {
  push(chunk: Chunk): ProviderEvent[];
  /** Whether the wire said that nothing more follows. */
  isDone(): boolean;
  /** The reply; throws a `bad_reply` AgentError when no finish was seen. */
  end(): ProviderEvent;
}

/** One request to a service. */
export interface Exchange<Chunk> {
  readonly service: Service;
  readonly signal: AbortSignal;
  /** Milliseconds; no limit of its own when undefined. */
  readonly timeoutMs: number | undefined;
  readonly idleTimeoutMs: number | undefined;
  readonly reducer: ReplyReducer<Chunk>;
  open(signal: AbortSignal): Promise<Opened<Chunk>>;
}

/** An answer that has begun: its chunks, and the pulse of its bytes where there is one. */
export interface Opened<Chunk> {
  readonly chunks: AsyncIterable<Chunk> | Iterable<Chunk>;
  readonly pulse?: Pulse | undefined;
}

const longestDrainMs = 500;

/** Sends one request and yields what its reply holds; throws an AgentError. Ends the request when its reader leaves. */
export async function* exchange<Chunk>(call: Exchange<Chunk>): AsyncGenerator<ProviderEvent> {
  const { service, reducer } = call;
  const clean = createEventRedactor(service.secrets);
  const limits = watch(call);
  let reading = false;
  let ended = false;
  try {
    const { chunks, pulse } = await limits.race(call.open(limits.signal), call.timeoutMs, "timeoutMs");
    const iterator = iterate(chunks);
    reading = true;
    for (let pending: Promise<IteratorResult<Chunk>> | undefined; !reducer.isDone(); ) {
      pending ??= Promise.resolve(iterator.next());
      const sign = pulse ? Promise.race([pending, pulse.next()]) : pending;
      const next = await limits.race(sign, call.idleTimeoutMs, "idleTimeoutMs");
      if (next?.done) {
        ended = true;
        break;
      }
      const events = next ? reducer.push(next.value) : [];
      if (next) pending = undefined;
      if (events.length === 0) yield { type: "activity" };
      for (const event of events) yield* clean(event);
    }
    yield* clean(reducer.end());
    // Read to its end, the connection can serve the next request.
    if (!ended) ended = await limits.race(drain(iterator), longestDrainMs, "drain").catch(() => false);
  } catch (error) {
    const end = limits.signal.aborted ? undefined : endOfTurn(error, service.secrets);
    if (end === undefined) throw limits.failure() ?? toAgentError(error, service, reading);
    yield { type: "reply", message: { role: "assistant", content: [] }, ...end };
  } finally {
    limits.close(ended);
  }
}

function iterate<Chunk>(chunks: AsyncIterable<Chunk> | Iterable<Chunk>): AsyncIterator<Chunk> | Iterator<Chunk> {
  return Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
}

async function drain(iterator: AsyncIterator<unknown> | Iterator<unknown>): Promise<true> {
  while (!(await iterator.next()).done);
  return true;
}

/** The signal of one request: it follows the caller's and fires at the limits. */
function watch({ service, signal }: Pick<Exchange<unknown>, "service" | "signal">) {
  const controller = new AbortController();
  let failure: AgentError | undefined;
  let interrupt: (error: AgentError) => void = () => {};
  const fail = (error: AgentError): void => {
    failure ??= error;
    controller.abort(error);
    interrupt(error);
  };
  const onAbort = (): void =>
    fail(new AgentError({ code: "aborted", message: "The request was aborted.", cause: signal.reason }));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });

  /** The promise, or the failure if that comes first: an SDK may be deaf to its signal. Only this wait is timed. */
  async function race<T>(promise: Promise<T>, limitMs: number | undefined, option: string): Promise<T> {
    const timer =
      limitMs === undefined
        ? undefined
        : setTimeout(() => fail(silence(service, limitMs, option)), Math.min(limitMs, longestTimer));
    try {
      return await new Promise<T>((resolve, reject) => {
        interrupt = reject;
        if (failure) reject(failure);
        promise.then(resolve, reject);
      });
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    signal: controller.signal,
    race,
    failure: () => failure,
    close: (ended: boolean) => {
      signal.removeEventListener("abort", onAbort);
      if (!ended) controller.abort();
    },
  };
}

function silence(service: Service, milliseconds: number, option: string): AgentError {
  const message = `${service.label} sent nothing for ${milliseconds / 1000} s. Check the connection, or raise ${option}.`;
  return new AgentError({ code: "timeout", message, retryable: true });
}
