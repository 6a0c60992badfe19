import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import type { Message, ToolMessage } from "@toolcrib/agent";
import type { AnyToolRegistry } from "@toolcrib/core";
import { withoutControls } from "@toolcrib/core/text";
import { resultContent } from "./output.ts";
import { parentOf, showPastCall } from "./toolCalls.ts";
import type { AcpCall, AcpSession } from "./types.ts";

/** Yields a conversation as the client would have been told it, message by message; calls that wait are `pending`. */
export async function* replay({ agent }: AcpSession): AsyncGenerator<SessionUpdate, void> {
  const messages = agent.sessionContext;
  const results = new Map(messages.flatMap((one) => (one.role === "tool" ? [[one.callId, one] as const] : [])));
  const { pending } = agent;
  const waiting = new Set(pending.map(({ callId, within }) => within ?? callId));
  for (const message of messages) {
    if (message.role === "tool") continue;
    const messageId = crypto.randomUUID();
    for (const block of message.content) {
      if (block.type === "tool-call") {
        const ended = waiting.has(block.id) ? isPending : endOf(results.get(block.id));
        yield await toolCall(block, agent.toolRegistry, ended);
        for (const call of pending.filter(({ within }) => within === block.id))
          yield await toolCall({ ...call, id: call.callId }, agent.toolRegistry, isPending);
      } else if (block.type === "image" || block.text !== "") {
        yield { sessionUpdate: updateOf(message, block.type), messageId, content: contentOf(block) };
      }
    }
  }
}

const isPending = { status: "pending" } as const;

async function toolCall(
  call: AcpCall & { readonly id: string; readonly within?: string },
  registry: AnyToolRegistry,
  ended: ReturnType<typeof endOf> | typeof isPending,
): Promise<SessionUpdate> {
  const { id: toolCallId, name, args: rawInput, within } = call;
  const shown = await showPastCall(call, registry);
  return { sessionUpdate: "tool_call", toolCallId, name, rawInput, ...shown, ...ended, ...parentOf(within) };
}

type Block = Exclude<Exclude<Message, ToolMessage>["content"][number], { type: "tool-call" }>;

function updateOf(message: Message, type: Block["type"]) {
  if (message.role === "user") return "user_message_chunk";
  return type === "reasoning" ? "agent_thought_chunk" : "agent_message_chunk";
}

function contentOf(block: Block): ContentBlock {
  if (block.type === "image") return { type: "image", data: block.data, mimeType: block.mimeType };
  return { type: "text", text: withoutControls(block.text) };
}

function endOf(result: ToolMessage | undefined) {
  if (result === undefined) return { status: "failed" as const };
  const { output, isError } = result;
  return {
    status: isError ? ("failed" as const) : ("completed" as const),
    content: resultContent(result),
    rawOutput: { output },
  };
}
