import { setTimeout as sleep } from "node:timers/promises";
import { AgentError, isAgentError, messageOf } from "../errors.ts";
import type { AgentEvent } from "../messages.ts";
import type { ModelRequest, Provider, ProviderEvent } from "../provider.ts";
import { admitEvent, readable } from "./admitEvent.ts";
import { abortedError, type TurnSignal } from "./turnSignal.ts";
import { WatchedStream } from "./watchedStream.ts";

export interface RetryLimits {
  /** Attempts in all for one reply. */
  readonly attempts: number;
  /** The first wait is at most this; each further one at most twice the one before. Milliseconds. */
  readonly baseDelayMs: number;
  /** No wait is longer, whatever the service asks for. Milliseconds. */
  readonly maxDelayMs: number;
}

export type Reply = Extract<ProviderEvent, { type: "reply" }>;

/** A request but for the signal, which changes when an attempt had to be ended. */
export type RequestContent = Omit<ModelRequest, "signal">;

/**
 * One whole reply of the model, tried again after a failure that may pass. Safe to repeat because tools run only once
 * the reply is complete. Throws an AgentError.
 */
export async function* requestReply(
  provider: Provider,
  content: RequestContent,
  turn: TurnSignal,
  limits: RetryLimits,
): AsyncGenerator<AgentEvent, Reply> {
  for (let attempt = 1; ; attempt += 1) {
    turn.throwIfAborted();
    let text = "";
    let stream: WatchedStream | undefined;
    try {
      const events = readable(provider, provider.send({ ...content, signal: turn.signal }));
      stream = new WatchedStream(events, turn, turn.silence);
      for (let first = true; ; first = false) {
        const { done, value } = await stream.next();
        if (done) throw endedEarly(provider);
        const event = admitEvent(provider, value);
        if (event.type === "reply") {
          await stream.finish();
          return event;
        }
        if (first) turn.silence.begun();
        if (event.type === "text-delta") text += event.text;
        if (event.type !== "activity" && event.text !== "") yield event;
      }
    } catch (error) {
      if (turn.signal.aborted) throw abortedError(turn.signal, text);
      const failure = asAgentError(error, provider);
      if (!failure.retryable || attempt >= limits.attempts) throw failure;
      if (failure.code === "timeout") turn.renew();
      const delayMs = delayOf(failure, attempt, limits);
      const { message, remedy } = failure;
      const discardText = text !== "";
      yield { type: "retry", attempt: attempt + 1, delayMs, message, discardText, ...(remedy && { remedy }) };
      await sleep(delayMs, undefined, { signal: turn.signal }).catch(() => undefined);
    } finally {
      stream?.close();
    }
  }
}

/** Full jitter, so that many clients do not come back together. */
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
