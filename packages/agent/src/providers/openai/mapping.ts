import type { ContentBlock } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";
import type {
  ResponseCreateParams,
  ResponseInputItem,
  ResponseOutputItem,
  ResponseReasoningItem,
} from "openai/resources/responses/responses";
import type { AssistantMessage, ImageBlock, Message, TextBlock, ToolCallBlock, ToolMessage } from "../../messages.ts";
import type { ToolChoice } from "../../provider.ts";
import { argumentsText, wellFormed, wellFormedJson, wireId, wireName } from "../shared/wireText.ts";

type InputPart = Exclude<ResponseInputItem.Message["content"], string>[number];

export function toResponsesToolChoice(choice: ToolChoice): NonNullable<ResponseCreateParams["tool_choice"]> {
  return typeof choice === "string" ? choice : { type: "function", name: choice.name };
}

/**
 * A message as input items. A reply of the same `model` (`openai/NAME`) is replayed item by item, reasoning included. `toCall`: the items of
 * calls that have a form of their own.
 */
export function toResponsesItems(
  message: Message,
  model: string,
  toCall: (call: ToolCallBlock) => ResponseInputItem[] | undefined = () => undefined,
): ResponseInputItem[] {
  switch (message.role) {
    case "user":
      return [{ type: "message", role: "user", content: message.content.map(toInputPart) }];
    case "assistant":
      return toOutputItems(message, message.model === model, toCall);
    case "tool":
      return [toCallOutput(message)];
    default:
      return message satisfies never;
  }
}

function toInputPart(block: TextBlock | ImageBlock): InputPart {
  if (block.type === "text") return { type: "input_text", text: wellFormed(block.text) };
  return { type: "input_image", detail: "auto", image_url: `data:${block.mimeType};base64,${block.data}` };
}

function toCallOutput({ callId, output, content }: ToolMessage): ResponseInputItem {
  const images = (content ?? []).filter(
    (block): block is Extract<ContentBlock, { type: "image" }> => block.type === "image",
  );
  const text = wellFormed(output);
  return {
    type: "function_call_output",
    call_id: wireId(callId),
    output: images.length === 0 ? text : [{ type: "input_text", text }, ...images.map(toOutputImage)],
  };
}

function toOutputImage(image: { data: string; mimeType: string }): { type: "input_image"; image_url: string } {
  return { type: "input_image", image_url: `data:${image.mimeType};base64,${image.data}` };
}

function toOutputItems(
  message: AssistantMessage,
  own: boolean,
  toCall: (call: ToolCallBlock) => ResponseInputItem[] | undefined,
): ResponseInputItem[] {
  const items = message.content.flatMap((block): ResponseInputItem[] => {
    const data =
      own && block.opaque?.provider === "openai" && isObject(block.opaque.data) ? block.opaque.data : undefined;
    switch (block.type) {
      case "text":
        return block.text === "" ? [] : [toOutputMessage(wellFormed(block.text), data)];
      case "reasoning":
        return data === undefined ? [] : [wellFormedJson(data) as ResponseInputItem];
      case "tool-call":
        return toCall(block) ?? [toFunctionCall(block, data?.id)];
      default:
        return block satisfies never;
    }
  });
  // The service refuses a reasoning item with nothing after it, as a reply that was cut off may have.
  while (items.at(-1)?.type === "reasoning") items.pop();
  return items;
}

function toFunctionCall({ id, name, args }: ToolCallBlock, itemId: unknown): ResponseInputItem {
  return {
    type: "function_call",
    call_id: wireId(id),
    name: wireName(name),
    arguments: argumentsText(args),
    ...(typeof itemId === "string" && { id: itemId }),
  };
}

function toOutputMessage(text: string, data: Record<string, unknown> = {}): ResponseInputItem {
  const { id, phase } = data;
  const phased = phase === "commentary" || phase === "final_answer" ? ({ phase } as const) : undefined;
  if (typeof id !== "string") return { role: "assistant", content: text, ...phased };
  const content = [{ type: "output_text" as const, text, annotations: [] }];
  return { type: "message", role: "assistant", id, status: "completed", content, ...phased };
}

/** The part of an output item that has to be sent back; the whole item for hosted tools, which this package does not know. */
export function toOpaque(item: ResponseOutputItem): Record<string, unknown> | undefined {
  switch (item.type) {
    case "message":
      return { id: item.id, ...(item.phase && { phase: item.phase }) };
    case "function_call":
      return item.id === undefined ? undefined : { id: item.id };
    case "reasoning":
      return reasoningOpaque(item);
    default:
      return { ...item };
  }
}

/** Nothing is stored at the service, so a reasoning item without its encrypted content is useless to it. */
function reasoningOpaque(item: ResponseReasoningItem): Record<string, unknown> | undefined {
  if (!item.encrypted_content) return undefined;
  return {
    type: "reasoning",
    id: item.id,
    summary: item.summary,
    encrypted_content: item.encrypted_content,
    ...(item.content && { content: item.content }),
  };
}
