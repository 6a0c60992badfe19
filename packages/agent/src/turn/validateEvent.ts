import { quote } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { toValidReply } from "../conversation/conversation.ts";
import { AgentError } from "../errors.ts";
import type { AssistantMessage, StopReason, Usage } from "../messages.ts";
import type { Provider, ProviderEvent, ReplyEvent } from "../provider.ts";

const stops: ReadonlySet<unknown> = new Set<StopReason>([
  ...(["stop", "tool-calls", "token-limit", "context-limit", "refusal", "content-filter", "pause"] as const),
]);

/** Returns the iterator of what `send` returned; throws `bad_reply` unless that is an async iterable. */
export function iteratorOf(provider: Provider, returned: unknown): AsyncIterator<unknown> {
  const events = returned as Partial<AsyncIterable<unknown>> | null | undefined;
  if (typeof events?.[Symbol.asyncIterator] === "function")
    return (events as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  throw mistake(provider, "send returned no async iterable; write it as async *send(request) { yield … }");
}

/**
 * Checks what comes from a provider before history has it: the one check between them. Providers are written by users too, so text given as a string becomes a
 * block and missing counts are 0. A reply comes out as history keeps it; `callIds` grows by the ids of its calls. Throws
 * `bad_reply` for anything else than a ProviderEvent.
 */
export function validateEvent(provider: Provider, event: unknown, callIds: Set<string>): ProviderEvent {
  const expect: Expect = (fits, rule, received) => {
    if (!fits) throw mistake(provider, `${rule}, received ${quote(received)}`);
  };
  if (!isObject(event)) throw mistake(provider, `an event is an object with a type, received ${quote(event)}`);
  const { type, text, phase } = event;
  switch (type) {
    case "activity":
      return { type };
    case "text-delta":
    case "reasoning-delta":
      checkPhase(expect, phase);
      expect(typeof text === "string", `a ${type} event needs text, a string`, text);
      return event as ProviderEvent;
    case "thinking-dropped":
      return { type, blocks: finite(event.blocks), reason: String(event.reason) };
    case "reply":
      return validateReply(expect, event, callIds);
    default: {
      const types = "activity, text-delta, reasoning-delta, thinking-dropped or reply";
      throw mistake(provider, `the type of an event is ${types}, received ${quote(type)}`);
    }
  }
}

/** Throws the mistake unless a value fits. */
type Expect = (fits: boolean, rule: string, received: unknown) => void;

function validateReply(expect: Expect, event: Record<string, unknown>, callIds: Set<string>): ReplyEvent {
  const { message, stop, usage, detail, failed } = event;
  expect(stops.has(stop), `the stop of a reply is one of ${[...stops].join(", ")}`, stop);
  expect(isObject(message), "a reply needs a message, an object", message);
  const given = message as Record<string, unknown>;
  const content = typeof given.content === "string" ? [{ type: "text", text: given.content }] : given.content;
  expect(Array.isArray(content), "the content of a reply is a list of blocks", content);
  for (const block of content as readonly unknown[]) checkBlock(expect, block);
  return {
    type: "reply",
    message: toValidReply({ ...given, role: "assistant", content } as AssistantMessage, callIds),
    stop: stop as StopReason,
    ...(typeof detail === "string" && { detail }),
    ...(failed === true && { failed }),
    ...(isObject(usage) && { usage: wholeUsage(usage) }),
  };
}

function checkBlock(expect: Expect, block: unknown): void {
  const { type, text, name, phase } = isObject(block) ? block : {};
  if (type === "tool-call") expect(typeof name === "string", "a tool-call block needs name, a string", name);
  else {
    const isWords = type === "text" || type === "reasoning";
    expect(isWords, "the type of a block is text, reasoning or tool-call", type);
    expect(typeof text === "string", `a ${type} block needs text, a string`, text);
  }
  if (type === "text") checkPhase(expect, phase);
}

function checkPhase(expect: Expect, phase: unknown): void {
  const fits = phase === undefined || phase === "commentary" || phase === "final_answer";
  expect(fits, "the phase of a text is commentary or final_answer", phase);
}

function wholeUsage(usage: Record<string, unknown>): Usage {
  const { cost, cacheWriteHourTokens, priceTimes } = usage;
  return {
    inputTokens: finite(usage.inputTokens),
    outputTokens: finite(usage.outputTokens),
    cacheReadTokens: finite(usage.cacheReadTokens),
    cacheWriteTokens: finite(usage.cacheWriteTokens),
    ...(cacheWriteHourTokens !== undefined && { cacheWriteHourTokens: finite(cacheWriteHourTokens) }),
    reasoningTokens: finite(usage.reasoningTokens),
    ...(typeof priceTimes === "number" && { priceTimes: finite(priceTimes) }),
    ...(typeof cost === "number" && Number.isFinite(cost) ? { cost } : {}),
  };
}

function finite(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

function mistake(provider: Provider, problem: string): AgentError {
  return new AgentError({
    code: "bad_reply",
    message: `The provider ${provider.name} does not follow the Provider interface: ${problem}.`,
  });
}
