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

/**
 * Returns the request to send after one that was refused, undefined where there is none: for changed thinking with the choice, or without
 * thinking where there is none; without thinking that another platform or account wrote; and without the choice, where an address that is
 * not `isFull` refuses it. The service may word it differently some day.
 */
export function afterRefusal<Body extends BindingFields>(
  body: Body,
  failure: unknown,
  isFull: boolean,
): Body | undefined {
  const { status, message } = describeFailure(failure);
  if (status !== 400) return undefined;
  const isThinking = /thinking/i.test(message);
  const hasSome = body.messages.some(hasThinking);
  const isChosen = body.betas.includes(bindingBeta);
  if (isThinking && /conversation|prefix|mismatch|binding/i.test(message)) {
    if (hasChoice(body)) return isChosen ? undefined : dropChanged(body);
    return hasSome ? withoutThinking(body) : undefined;
  }
  if (isThinking && hasSome && /signature|account|organi[sz]ation/i.test(message))
    return { ...withoutThinking(body), isForeign: true };
  if (isFull || !isChosen) return undefined;
  const { block_binding: _, ...thinking } = { ...body.thinking };
  return withoutThinking({ ...body, thinking, betas: body.betas.filter((beta) => beta !== bindingBeta) });
}

/** Returns the request of a conversation in which an earlier one failed for changed thinking. */
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

/** Marks a reply whose request had to be sent again, so that the choice goes with the conversation. The mark is no block of the wire. */
export function markThinkingDropped(message: AssistantMessage, { betas, isForeign }: BindingFields): AssistantMessage {
  const data = { dropChanged: isForeign ? "before" : betas.includes(bindingBeta) ? true : "all" };
  const mark: ReasoningBlock = { type: "reasoning", text: "", opaque: { provider: "anthropic", data } };
  return { ...message, content: [...message.content, mark] };
}

/** Returns the thinking to drop: what the service finds changed (true), `all`, or all `before` this reply, of another platform. */
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
