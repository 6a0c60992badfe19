import type { Message as AgUiMessage, ToolMessage as AgUiResult, ContentPart, ToolCall } from "@ag-ui/core";
import type { ImageBlock, TextBlock, ToolMessage } from "@toolcrib/agent";

export type { AgUiMessage };

type Result = Pick<ToolMessage, "callId" | "output" | "isError" | "content">;

/** Returns the content of a message of the user as AG-UI has it. */
export function userContent(content: readonly (TextBlock | ImageBlock)[]): string | ContentPart[] {
  if (content.every((block) => block.type === "text")) return content.map(({ text }) => text).join("\n\n");
  return content.map((block) => (block.type === "text" ? { type: "text", text: block.text } : mediaPart(block)));
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
