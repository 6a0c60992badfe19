import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@toolcrib/core/text";
import { AgentError, isAgentError } from "../errors.ts";
import type { AgentEvent } from "../messages.ts";
import type { ModelRequest, Provider, ReplyEvent } from "../provider.ts";
import { abortedError, closeEvents, type RequestClock } from "../requestClock.ts";
import { iteratorOf, validateEvent } from "./validateEvent.ts";

export interface RetryLimits {
  /** Attempts in all for one reply. */
  readonly attempts: number;
  /** The first wait is at most this; each further one at most twice the one before. Milliseconds. */
  readonly baseDelayMs: number;
  /** No wait is longer, whatever the service asks for. Milliseconds. */
  readonly maxDelayMs: number;
}

export interface ReplyRequest {
  readonly provider: Provider;
  readonly content: Omit<ModelRequest, "signal" | "isTimed">;
  readonly clock: RequestClock;
  readonly limits: RetryLimits;
  /** The ids of the conversation's calls so far; grows by those of the reply. */
  readonly callIds: Set<string>;
  /** The text is not shown. */
  readonly hidden?: boolean;
}

/** Requests one whole reply. Tried again after a failure that may pass: tools run only once it is complete. Throws an AgentError. */
export async function* requestReply(request: ReplyRequest): AsyncGenerator<AgentEvent, ReplyEvent> {
  const { provider, content, clock, limits, callIds, hidden = false } = request;
  await clock.drained();
  for (let attempt = 1; ; attempt += 1) {
    clock.throwIfAborted();
    let text = "";
    let events: AsyncIterator<unknown> | undefined;
    try {
      events = iteratorOf(provider, provider.send({ ...content, signal: clock.signal, isTimed: true }));
      clock.begin();
      for (;;) {
        const { done, value } = await clock.next(events);
        if (done) throw endedEarly(provider);
        const event = validateEvent(provider, value, callIds);
        if (event.type === "reply") {
          clock.drain(events);
          events = undefined;
          return event;
        }
        if (event.type === "text-delta") text += event.text;
        if (!hidden && event.type !== "activity" && !("text" in event && event.text === "")) yield event;
      }
    } catch (error) {
      if (clock.signal.aborted) throw abortedError(clock.signal, text);
      const failure = asAgentError(error, provider);
      if (!failure.retryable || attempt >= limits.attempts) throw failure;
      if (failure.code === "timeout") clock.renew();
      const delayMs = delayOf(failure, attempt, limits);
      const { message, remedy } = failure;
      const discardText = !hidden && text !== "";
      yield { type: "retry", attempt: attempt + 1, delayMs, message, discardText, ...(remedy && { remedy }) };
      await sleep(delayMs, undefined, { signal: clock.signal }).catch(() => undefined);
    } finally {
      closeEvents(events);
    }
  }
}

/** Chooses the delay with full jitter, so that many clients do not come back together. */
function delayOf(failure: AgentError, attempt: number, limits: RetryLimits): number {
  const jittered = Math.random() * Math.min(limits.maxDelayMs, limits.baseDelayMs * 2 ** (attempt - 1));
  return Math.round(Math.min(limits.maxDelayMs, failure.retryAfterMs ?? jittered));
}

function endedEarly(provider: Provider): AgentError {
  return new AgentError({
    code: "bad_reply",
    message: `The answer of ${provider.name} ended before it was complete.`,
    retryable: true,
  });
}

function asAgentError(error: unknown, provider: Provider): AgentError {
  if (isAgentError(error)) return error;
  return new AgentError({
    code: "bad_reply",
    message: `The provider ${provider.name} failed: ${messageOf(error)}`,
    cause: error,
  });
}
