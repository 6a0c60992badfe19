import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import type { AssistantMessage } from "../src/messages.ts";
import type { Provider, ReplyEvent } from "../src/provider.ts";
import { AnthropicReply } from "../src/providers/anthropic/reply.ts";
import { defaultCompat } from "../src/providers/chat/compat.ts";
import { ChatReply } from "../src/providers/chat/reply.ts";
import type { Service } from "../src/providers/errors/wireErrors.ts";
import { ResponsesReply } from "../src/providers/openai/reply.ts";
import { validateEvent } from "../src/turn/validateEvent.ts";

/* What the reducers make of the events of a wire. */

export const service: Service = {
  ...{ name: "test", label: "Test", model: "m", baseURL: undefined, keyVariable: undefined, secrets: [] },
};

/** Each delta comes in a chunk of its own, the finish reason in the last. */
export function chatReply(deltas: readonly object[], finish_reason = "stop"): ReplyEvent {
  const reply = new ChatReply(service, "test/m", defaultCompat.carriedFields);
  for (const delta of deltas) reply.push({ choices: [{ index: 0, delta, finish_reason: null }] } as never);
  reply.push({ choices: [{ index: 0, delta: {}, finish_reason }] } as unknown as ChatCompletionChunk);
  return reply.end();
}

export type Block = readonly [start: object, ...deltas: object[]];

export function messagesReply(blocks: readonly Block[], stop_reason: string): ReplyEvent {
  const reply = new AnthropicReply(service, "anthropic/m");
  const push = (event: object) => reply.push(event as RawMessageStreamEvent);
  for (const [index, [content_block, ...deltas]] of blocks.entries()) {
    push({ type: "content_block_start", index, content_block });
    for (const delta of deltas) push({ type: "content_block_delta", index, delta });
    push({ type: "content_block_stop", index });
  }
  push({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 1, input_tokens: null } });
  push({ type: "message_stop" });
  return reply.end();
}

/** `events` come before the whole response. */
export function responsesReply(output: readonly object[], events: readonly object[] = [], fields: object = {}) {
  const reply = new ResponsesReply(service, "openai/m");
  const response = { output, status: "completed", ...fields };
  const shown = [...events, { type: "response.completed", response }].flatMap((event) =>
    reply.push(event as ResponseStreamEvent),
  );
  return { shown, reply: reply.end() };
}

export function callsOf({ content }: AssistantMessage) {
  return content.flatMap((block) => (block.type === "tool-call" ? [{ name: block.name, args: block.args }] : []));
}

/** The reply as history and journal keep it. */
export function kept(event: ReplyEvent): AssistantMessage {
  const checked = validateEvent({ name: "test" } as Provider, event, new Set());
  if (checked.type !== "reply") throw new Error("no reply");
  return JSON.parse(JSON.stringify(checked.message)) as AssistantMessage;
}
