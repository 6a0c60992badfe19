import { AgentError } from "../errors.ts";
import type { ProviderEvent } from "../provider.ts";
import { longestTimer } from "./options.ts";
import type { Pulse } from "./pulse.ts";
import { createEventRedactor } from "./redact.ts";
import { endOf, type Service, toAgentError } from "./wireErrors.ts";

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
  try {
    const { chunks, pulse } = await limits.race(call.open(limits.signal));
    const iterator = iterate(chunks);
    reading = true;
    for (let pending = iterator.next(); !reducer.isDone(); ) {
      limits.idle();
      const next = await limits.race(pulse ? Promise.race([pending, pulse.next()]) : pending);
      if (next === undefined) {
        yield { type: "activity" };
        continue;
      }
      if (next.done) break;
      pending = iterator.next();
      const events = reducer.push(next.value);
      if (events.length === 0) yield { type: "activity" };
      for (const event of events) yield* clean(event);
    }
    limits.check();
    yield* clean(reducer.end());
    // Read to its end, the connection can serve the next request.
    if (reducer.isDone()) await limits.race(drain(iterator), longestDrainMs).catch(() => undefined);
  } catch (error) {
    const stop = limits.signal.aborted ? undefined : endOf(error);
    if (stop === undefined) throw limits.failure() ?? toAgentError(error, service, reading);
    yield { type: "reply", message: { role: "assistant", content: [] }, stop };
  } finally {
    limits.close();
  }
}

function iterate<Chunk>(chunks: AsyncIterable<Chunk> | Iterable<Chunk>): AsyncIterator<Chunk> | Iterator<Chunk> {
  return Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
}

async function drain(iterator: AsyncIterator<unknown> | Iterator<unknown>): Promise<void> {
  while (!(await iterator.next()).done);
}

/** The signal of one request: it follows the caller's and fires at the limits. */
function watch(call: Pick<Exchange<unknown>, "service" | "signal" | "timeoutMs" | "idleTimeoutMs">) {
  const controller = new AbortController();
  let failure: AgentError | undefined;
  let timer: NodeJS.Timeout | undefined;
  let interrupt: (error: AgentError) => void = () => {};
  const fail = (error: AgentError): void => {
    failure ??= error;
    controller.abort(error);
    interrupt(error);
  };
  const onAbort = (): void =>
    fail(new AgentError({ code: "aborted", message: "The request was aborted.", cause: call.signal.reason }));
  const arm = (milliseconds: number | undefined, option: string): void => {
    clearTimeout(timer);
    if (milliseconds === undefined) return;
    timer = setTimeout(() => fail(silence(call.service, milliseconds, option)), Math.min(milliseconds, longestTimer));
  };
  if (call.signal.aborted) onAbort();
  else call.signal.addEventListener("abort", onAbort, { once: true });
  arm(call.timeoutMs, "timeoutMs");
  return {
    signal: controller.signal,
    failure: () => failure,
    idle: () => arm(call.idleTimeoutMs, "idleTimeoutMs"),
    check: () => {
      if (failure) throw failure;
    },
    /** The promise, or the failure if that comes first: an SDK may be deaf to its signal. */
    race: <T>(promise: Promise<T> | T, limitMs?: number): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        interrupt = reject;
        if (failure) reject(failure);
        if (limitMs !== undefined) arm(limitMs, "drain");
        Promise.resolve(promise).then(resolve, reject);
      }),
    close: () => {
      clearTimeout(timer);
      call.signal.removeEventListener("abort", onAbort);
      controller.abort();
    },
  };
}

function silence(service: Service, milliseconds: number, option: string): AgentError {
  const message = `${service.label} sent nothing for ${milliseconds / 1000} s. Check the connection, or raise ${option}.`;
  return new AgentError({ code: "timeout", message, retryable: true });
}
