import type { BetaInputTransformation } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { ContentBlockParam, MessageParam } from "@anthropic-ai/sdk/resources/messages";
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
  readonly thinking?: object;
  readonly betas: readonly string[];
  readonly messages: readonly WireMessage[];
}

/** The same request with the choice to go on. A model that binds thinking adapts it where nothing is set; `between_tools` has no choice. */
export function dropChanged<Body extends BindingFields>(body: Body): Body {
  const { thinking = { type: "adaptive" }, betas } = body;
  return {
    ...body,
    ...(hasChoice(body) && { thinking: { ...thinking, block_binding: { prefix_mismatch_behavior: "drop_block" } } }),
    betas: [...betas, bindingBeta],
  };
}

/** The request to send after one that failed for changed thinking: with the choice, or without thinking where there is none. */
export function afterMismatch<Body extends BindingFields>(body: Body): Body | undefined {
  if (hasChoice(body)) return body.betas.includes(bindingBeta) ? undefined : dropChanged(body);
  return body.messages.some(hasThinking) ? withoutThinking(body) : undefined;
}

/** The same for a conversation in which a request failed so. */
export function goingOn<Body extends BindingFields>(body: Body): Body {
  return hasChoice(body) ? dropChanged(body) : withoutThinking(body);
}

function hasChoice({ thinking }: BindingFields): boolean {
  const { type } = (thinking ?? { type: "adaptive" }) as { readonly type?: unknown };
  return type === "adaptive" || type === "enabled";
}

/** All of it may be left out, but none between others. */
function withoutThinking<Body extends BindingFields>(body: Body): Body {
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
  const { status, message } = describeFailure(failure);
  return status === 400 && /thinking/i.test(message) && /conversation|prefix|mismatch|binding/i.test(message);
}

/** Marks a reply whose request had to be sent again, so that the choice goes with the conversation. The mark is no block of the wire. */
export function withDropMark(message: AssistantMessage): AssistantMessage {
  const mark: ReasoningBlock = {
    type: "reasoning",
    text: "",
    opaque: { provider: "anthropic", data: { dropChanged: true } },
  };
  return { ...message, content: [...message.content, mark] };
}

export function hasDropMark({ content }: AssistantMessage): boolean {
  return content.some(
    ({ opaque }) => opaque?.provider === "anthropic" && (opaque.data as { dropChanged?: unknown }).dropChanged === true,
  );
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
