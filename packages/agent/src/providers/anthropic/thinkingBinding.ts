import type { BetaInputTransformation } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { ContentBlockParam, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { isObject } from "@toolcrib/core/text";
import type { AssistantMessage, ReasoningBlock } from "../../messages.ts";
import type { ProviderEvent } from "../../provider.ts";
import { describeFailure } from "../errors/describeFailure.ts";
import type { WireMessage } from "./mapping.ts";

/*
 * The service binds thinking to all that stood before it. Where that has changed, the request either fails or goes on without that
 * thinking; `drop_block` asks for the latter.
 */

const bindingBeta = "thinking-binding-controls-2026-08-01";

/** The parts of a body that bear on it. */
interface BindingFields {
  readonly thinking?: { readonly type?: unknown; readonly block_binding?: unknown };
  readonly betas: readonly string[];
  readonly messages: readonly WireMessage[];
  /** Its thinking was left out as that of another platform. Not sent. */
  readonly isForeign?: true;
}

/** Returns the same request with the choice to go on. A model that binds thinking adapts it where nothing is set; `between_tools` has no choice. */
export function dropChanged<Body extends BindingFields>(body: Body): Body {
  const { thinking = { type: "adaptive" }, betas } = body;
  return {
    ...body,
    ...(hasChoice(body) && { thinking: { ...thinking, block_binding: { prefix_mismatch_behavior: "drop_block" } } }),
    betas: [...betas, bindingBeta],
  };
}

/** Returns the request to send after one that failed for changed thinking: with the choice, or without thinking where there is none. */
export function afterMismatch<Body extends BindingFields>(body: Body): Body | undefined {
  if (hasChoice(body)) return body.betas.includes(bindingBeta) ? undefined : dropChanged(body);
  return body.messages.some(hasThinking) ? withoutThinking(body) : undefined;
}

/** Returns the request to send where an address refuses the choice, too: without it, and without thinking. Undefined if it had none. */
export function withoutChoice<Body extends BindingFields>(body: Body): Body | undefined {
  if (!body.betas.includes(bindingBeta)) return undefined;
  const { block_binding: _, ...thinking } = { ...body.thinking };
  return withoutThinking({ ...body, thinking, betas: body.betas.filter((beta) => beta !== bindingBeta) });
}

/** Does the same for a conversation in which a request failed so. */
export function afterEarlierMismatch<Body extends BindingFields>(body: Body): Body {
  return hasChoice(body) ? dropChanged(body) : withoutThinking(body);
}

function hasChoice({ thinking }: BindingFields): boolean {
  const { type } = thinking ?? { type: "adaptive" };
  return type === "adaptive" || type === "enabled";
}

/** Leaves thinking out: all of it may go, but none between others. */
export function withoutThinking<Body extends BindingFields>(body: Body): Body {
  const messages = body.messages.flatMap((message) => {
    if (!hasThinking(message)) return message;
    const content = message.content.filter((block) => !isThinking(block));
    return content.length === 0 ? [] : { ...message, content };
  });
  return { ...body, messages };
}

function hasThinking(message: WireMessage): message is MessageParam & { content: ContentBlockParam[] } {
  return Array.isArray(message.content) && message.content.some(isThinking);
}

function isThinking({ type }: { readonly type: string }): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/** Returns whether a request failed since what stands before thinking has changed. The service may word it differently some day. */
export function isPrefixMismatch(failure: unknown): boolean {
  const { message } = describeFailure(failure);
  return isRefused(failure) && /thinking/i.test(message) && /conversation|prefix|mismatch|binding/i.test(message);
}

/** Returns the request to send after one whose thinking this platform or account did not write: without it. Undefined if it had none. */
export function withoutForeignThinking<Body extends BindingFields>(body: Body, failure: unknown): Body | undefined {
  const { message } = describeFailure(failure);
  const isForeign = /signature|account|organi[sz]ation/i.test(message) && /thinking/i.test(message);
  return isForeign && isRefused(failure) && body.messages.some(hasThinking)
    ? { ...withoutThinking(body), isForeign: true }
    : undefined;
}

export function isRefused(failure: unknown): boolean {
  return describeFailure(failure).status === 400;
}

/** Marks a reply whose request had to be sent again, so that the choice goes with the conversation. The mark is no block of the wire. */
export function markThinkingDropped(message: AssistantMessage, { betas, isForeign }: BindingFields): AssistantMessage {
  const data = { dropChanged: isForeign ? "before" : betas.includes(bindingBeta) ? true : "all" };
  const mark: ReasoningBlock = { type: "reasoning", text: "", opaque: { provider: "anthropic", data } };
  return { ...message, content: [...message.content, mark] };
}

/**
 * Returns what the conversation drops: the thinking that the service finds changed (true), `all` where it gives no choice, or all `before` this
 * reply, which another platform wrote.
 */
export function thinkingToDrop({ content }: AssistantMessage): true | "all" | "before" | undefined {
  const marks = content.map(({ opaque }) =>
    opaque?.provider === "anthropic" && isObject(opaque.data) ? opaque.data.dropChanged : undefined,
  );
  return marks.find((mark) => mark === true || mark === "all" || mark === "before");
}

/** Lists thinking that the service left out, except where this model cannot read another's. */
export function droppedThinking(
  transformations: readonly BetaInputTransformation[] | null | undefined,
): ProviderEvent[] {
  const dropped = (transformations ?? []).filter(
    (one) => one.type === "thinking_dropped" && one.reason !== "model_binding_mismatch",
  );
  const [first] = dropped;
  return first ? [{ type: "thinking-dropped", blocks: dropped.length, reason: first.reason }] : [];
}
