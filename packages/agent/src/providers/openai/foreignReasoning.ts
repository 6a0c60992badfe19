import { isObject } from "@toolcrib/core/text";
import type { ResponseCreateParams, ResponseInputItem } from "openai/resources/responses/responses";
import type { AssistantMessage, Message, ReasoningBlock } from "../../messages.ts";
import type { ReplyEvent } from "../../provider.ts";
import { describeFailure } from "../errors/describeFailure.ts";

/*
 * Encrypted reasoning is bound to the account and the address that wrote it. Another one refuses the request that holds it, and goes on
 * without it.
 */

/** Returns the request to send after one whose reasoning the service cannot read. Undefined if it had none. */
export function withoutForeignReasoning(
  body: ResponseCreateParams,
  failure: unknown,
): ResponseCreateParams | undefined {
  const { status, code, message } = describeFailure(failure);
  const { input } = body;
  if (status !== 400 || !Array.isArray(input) || !/encrypted[ _]content/i.test(`${code} ${message}`)) return undefined;
  const items = withoutReasoning(input);
  return items.length < input.length ? { ...body, input: items } : undefined;
}

/** Leaves reasoning out, and the ids that would ask for it. */
export function withoutReasoning(items: readonly ResponseInputItem[]): ResponseInputItem[] {
  return items.flatMap((item) => {
    if (item.type === "reasoning") return [];
    const { id: _, ...rest } = item as { readonly id?: unknown };
    return [rest as ResponseInputItem];
  });
}

/** Marks a reply before which reasoning is not to be sent. The mark is no item of the wire. */
export function markForeignReasoning(reply: ReplyEvent): ReplyEvent {
  const data = { type: "reasoning", dropEarlier: true };
  const mark: ReasoningBlock = { type: "reasoning", text: "", opaque: { provider: "openai", data } };
  return { ...reply, message: { ...reply.message, content: [...reply.message.content, mark] } };
}

/** Returns the number of messages whose reasoning is not to be sent. */
export function foreignBefore(messages: readonly Message[]): number {
  const isMarked = ({ opaque }: AssistantMessage["content"][number]): boolean =>
    opaque?.provider === "openai" && isObject(opaque.data) && opaque.data.dropEarlier === true;
  const marked = messages.findLastIndex((message) => message.role === "assistant" && message.content.some(isMarked));
  return Math.max(0, marked);
}
