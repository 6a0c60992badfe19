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
  if (isAsyncIterable(returned)) return returned[Symbol.asyncIterator]();
  throw mistake(provider, "send returned no async iterable; write it as async *send(request) { yield … }");
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    Symbol.asyncIterator in value &&
    typeof value[Symbol.asyncIterator] === "function"
  );
}

/**
 * Checks what comes from a provider before history has it: the one check between them. Providers are written by users too, so text given as a string becomes a
 * block and missing counts are 0. A reply comes out as history keeps it; `callIds` grows by the ids of its calls. Throws
 * `bad_reply` for anything else than a ProviderEvent.
 */
export function validateEvent(provider: Provider, event: unknown, callIds: Set<string>): ProviderEvent {
  if (!isObject(event)) throw mistake(provider, `an event is an object with a type, received ${quote(event)}`);
  switch (event.type) {
    case "activity":
      return { type: event.type };
    case "text-delta":
    case "reasoning-delta":
      checkPhase(provider, event.phase);
      if (isDelta(event)) return event;
      throw mistake(provider, `a ${event.type} event needs text, a string, received ${quote(event.text)}`);
    case "thinking-dropped":
      return { type: event.type, blocks: finite(event.blocks), reason: String(event.reason) };
    case "reply":
      return validateReply(provider, event, callIds);
    default:
      throw mistake(
        provider,
        `the type of an event is activity, text-delta, reasoning-delta, thinking-dropped or reply, received ${quote(event.type)}`,
      );
  }
}

function isDelta(event: object): event is Extract<ProviderEvent, { readonly type: "text-delta" | "reasoning-delta" }> {
  return "text" in event && typeof event.text === "string";
}

function validateReply(provider: Provider, event: Record<string, unknown>, callIds: Set<string>): ReplyEvent {
  const { message, stop, usage, detail, failed } = event;
  if (!isStop(stop)) {
    throw mistake(provider, `the stop of a reply is one of ${[...stops].join(", ")}, received ${quote(stop)}`);
  }
  if (!isObject(message)) throw mistake(provider, `a reply needs a message, an object, received ${quote(message)}`);
  const content = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
  if (!Array.isArray(content)) {
    throw mistake(provider, `the content of a reply is a list of blocks, received ${quote(content)}`);
  }
  for (const block of content) checkBlock(provider, block);
  return {
    type: "reply",
    message: toValidReply({ ...message, role: "assistant", content } as AssistantMessage, callIds),
    stop,
    ...(typeof detail === "string" && { detail }),
    ...(failed === true && { failed }),
    ...(isObject(usage) && { usage: wholeUsage(usage) }),
  };
}

function isStop(value: unknown): value is StopReason {
  return stops.has(value);
}

function checkBlock(provider: Provider, block: unknown): void {
  const { type, text, name, phase } = isObject(block) ? block : {};
  if ((type === "text" || type === "reasoning") && typeof text !== "string")
    throw mistake(provider, `a ${type} block needs text, a string, received ${quote(text)}`);
  if (type === "tool-call" && typeof name !== "string")
    throw mistake(provider, `a tool-call block needs name, a string, received ${quote(name)}`);
  if (type !== "text" && type !== "reasoning" && type !== "tool-call")
    throw mistake(provider, `the type of a block is text, reasoning or tool-call, received ${quote(type)}`);
  if (type === "text") checkPhase(provider, phase);
}

function checkPhase(provider: Provider, phase: unknown): void {
  if (phase !== undefined && phase !== "commentary" && phase !== "final_answer")
    throw mistake(provider, `the phase of a text is commentary or final_answer, received ${quote(phase)}`);
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
