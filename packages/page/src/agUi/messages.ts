import type { Message as AgUiMessage, ToolMessage as AgUiResult, ContentPart, ToolCall } from "@ag-ui/core";
import type { ImageBlock, Message, TextBlock, ToolMessage } from "@toolcrib/agent";
import type { SessionState } from "../protocol.ts";

export type { AgUiMessage };

type AssistantBlock = Extract<Message, { role: "assistant" }>["content"][number];
type Result = Pick<ToolMessage, "callId" | "output" | "isError" | "content">;

/** Returns the messages of a session as AG-UI has them. A call that waits has no result. */
export function toAgUiMessages({ messages, pending }: SessionState, isCurrent: boolean): AgUiMessage[] {
  const lastReply = messages.findLastIndex(({ role }) => role === "assistant");
  const shown = messages.flatMap((message, index): AgUiMessage[] => {
    const id = `message-${index}`;
    if (message.role === "user") return [{ id, role: "user", content: userContent(message.content) }];
    if (message.role === "assistant") return fromReply(message.content, id);
    return index > lastReply && isPlaceholder(message) ? [] : [toolMessage(message, isCurrent)];
  });
  const within = pending.flatMap(({ callId, name, args, within }): AgUiMessage[] =>
    within === undefined ? [] : [fromCallWithin({ id: callId, name, args }, within)],
  );
  return [...shown, ...within];
}

function userContent(content: readonly (TextBlock | ImageBlock)[]): string | ContentPart[] {
  if (content.every((block) => block.type === "text")) return content.map(({ text }) => text).join("\n\n");
  return content.map((block) => (block.type === "text" ? { type: "text", text: block.text } : mediaPart(block)));
}

/** Returns a message for each text and each reasoning, in order; the calls belong to the text before them. */
function fromReply(blocks: readonly AssistantBlock[], id: string): AgUiMessage[] {
  const messages: AgUiMessage[] = [];
  let carrier: Extract<AgUiMessage, { role: "assistant" }> | undefined;
  for (const block of blocks) {
    const partId = `${id}:${messages.length + 1}`;
    if (block.type === "reasoning") {
      if (block.text !== "") messages.push({ id: partId, role: "reasoning", content: block.text });
    } else if (block.type === "text") {
      carrier = { id: partId, role: "assistant", content: block.text };
      messages.push(carrier);
    } else {
      if (!carrier) {
        carrier = { id: partId, role: "assistant", content: "" };
        messages.push(carrier);
      }
      carrier.toolCalls = [...(carrier.toolCalls ?? []), toolCall(block)];
    }
  }
  return messages;
}

function fromCallWithin(call: Parameters<typeof toolCall>[0], within: string): AgUiMessage {
  return {
    id: `${call.id}:call`,
    role: "assistant",
    content: "",
    toolCalls: [{ ...toolCall(call), metadata: { within } }],
  };
}

/** Returns a call as AG-UI has it. */
export function toolCall({
  id,
  name,
  args,
}: {
  readonly id: string;
  readonly name: string;
  readonly args: object;
}): ToolCall {
  return { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
}

/** Returns the result of a call as AG-UI has it: its pictures as parts, which a client before 1.0 does not know. */
export function toolMessage({ callId, output, isError, content = [] }: Result, isCurrent: boolean): AgUiResult {
  const media = content.flatMap((block): ContentPart[] => (block.type === "text" ? [] : [mediaPart(block)]));
  const hasParts = isCurrent && media.length > 0;
  return {
    ...{ id: `${callId}:result`, role: "tool", toolCallId: callId },
    content: hasParts ? [{ type: "text", text: output }, ...media] : output,
    ...(isError && { metadata: { isError } }),
  };
}

function mediaPart<Type extends "image" | "audio">(block: { type: Type; data: string; mimeType: string }) {
  return { type: block.type, source: { type: "data" as const, value: block.data, mimeType: block.mimeType } };
}

/** Returns whether a result stands for a call that waits. */
function isPlaceholder({ isError, output }: ToolMessage): boolean {
  return (
    isError &&
    /^(?:Error executing [\w-]+: Not run: waiting for approval|Waiting for approval; \d+ calls made)$/.test(output)
  );
}
