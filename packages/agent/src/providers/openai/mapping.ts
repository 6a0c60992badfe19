import { isObject } from "@toolcrib/core/text";
import type { ResponseInputItem, ResponseOutputItem } from "openai/resources/responses/responses";
import type { AssistantMessage, ImageBlock, Message, TextBlock, ToolCallBlock, ToolMessage } from "../../messages.ts";
import { argumentsText, wellFormedJson, wireId, wireName } from "../shared/wireText.ts";

type RawItem = Record<string, unknown>;

type InputPart = Exclude<ResponseInputItem.Message["content"], string>[number];

/** Returns a message as input items. A reply of the same `model` (`openai/NAME`) is replayed item by item, reasoning included. */
export function toResponsesItems(message: Message, model: string): ResponseInputItem[] {
  switch (message.role) {
    case "user":
      return [{ type: "message", role: "user", content: message.content.map(toInputPart) }];
    case "assistant":
      return toOutputItems(message, message.model === model);
    case "tool":
      return [toCallOutput(message)];
    default:
      return message satisfies never;
  }
}

function toInputPart(block: TextBlock | ImageBlock): InputPart {
  if (block.type === "text") return { type: "input_text", text: block.text.toWellFormed() };
  return { type: "input_image", detail: "auto", image_url: `data:${block.mimeType};base64,${block.data}` };
}

function toCallOutput({ callId, output, content }: ToolMessage): ResponseInputItem {
  const images = (content ?? []).flatMap((block) =>
    block.type === "image"
      ? [{ type: "input_image" as const, image_url: `data:${block.mimeType};base64,${block.data}` }]
      : [],
  );
  const text = output.toWellFormed();
  return {
    type: "function_call_output",
    call_id: wireId(callId),
    output: images.length === 0 ? text : [{ type: "input_text", text }, ...images],
  };
}

/**
 * Returns the items of a reply: those of the same model as they came, with the texts of our blocks, which were left out of the items. Without
 * its encrypted content reasoning is useless to a service that stores nothing; what follows it then goes back without an id, which
 * would ask for it.
 */
function toOutputItems(message: AssistantMessage, own: boolean): ResponseInputItem[] {
  let lacksReasoning = false;
  const items = message.content.flatMap((block): ResponseInputItem[] => {
    const raw = own ? rawOf(block) : undefined;
    if (block.type === "reasoning") {
      const isKept = raw !== undefined && (raw.type !== "reasoning" || Boolean(raw.encrypted_content));
      lacksReasoning ||= own && !isKept;
      return isKept ? [raw as unknown as ResponseInputItem] : [];
    }
    if (lacksReasoning) delete raw?.id;
    if (block.type === "text") return block.text === "" ? [] : [toOutputMessage(block.text.toWellFormed(), raw)];
    return [toFunctionCall(block, raw)];
  });
  // The service refuses a reasoning item with nothing after it, as a reply that was cut off may have.
  while (items.at(-1)?.type === "reasoning") items.pop();
  return items;
}

function rawOf({ opaque }: AssistantMessage["content"][number]): RawItem | undefined {
  const data = opaque?.provider === "openai" ? wellFormedJson(opaque.data) : undefined;
  return isObject(data) ? data : undefined;
}

function toFunctionCall({ id, name, args, malformed }: ToolCallBlock, item?: RawItem): ResponseInputItem {
  // In older sessions the item may be the call of a tool of the service, which stood for ours.
  const raw = item?.type === "function_call" ? item : undefined;
  // A model may write blanks or `null` for no arguments, which the service does not take back.
  const text = String(raw?.arguments);
  // Nor half a character, which it may have written as an escape.
  const isObjectText = malformed === undefined && /^\s*\{/.test(text) && !/\\ud[89a-f]/i.test(text);
  const written = isObjectText ? text : argumentsText(args);
  const call = { call_id: wireId(id), name: wireName(name), arguments: written };
  return { ...(raw ?? { type: "function_call" }), ...call } as ResponseInputItem;
}

function toOutputMessage(text: string, raw: RawItem = {}): ResponseInputItem {
  const { id, phase, content } = raw;
  if (typeof id !== "string")
    return { role: "assistant", content: text, ...((phase === "commentary" || phase === "final_answer") && { phase }) };
  const isSaid = Array.isArray(content) && content.length > 0;
  const parts: readonly unknown[] = isSaid ? content : [{ type: "output_text", annotations: [] }];
  const filled = isTextAlone(parts) ? [{ ...parts[0], text }] : parts;
  return { ...raw, content: filled } as ResponseInputItem;
}

function isTextAlone(parts: readonly unknown[]): parts is readonly [object] {
  return parts.length === 1 && isObject(parts[0]) && parts[0].type === "output_text";
}

/** Returns an item as it goes back, without what its block holds already: a text alone, and arguments that we would write the same. */
export function toRawItem(item: ResponseOutputItem, args?: ToolCallBlock["args"]): RawItem {
  switch (item.type) {
    case "message":
      return { ...item, ...(isTextAlone(item.content) && { content: [{ ...item.content[0], text: "" }] }) };
    case "function_call": {
      const isOurs = args === undefined || item.arguments === argumentsText(args);
      return { ...item, ...(item.status && { status: "completed" }), ...(isOurs && { arguments: "" }) };
    }
    default:
      return { ...item };
  }
}
