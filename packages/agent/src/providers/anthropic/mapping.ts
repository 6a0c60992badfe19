import type {
  BetaRequestToolAdditionBlock,
  BetaRequestToolRemovalBlock,
  BetaSystemMessageParam,
} from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type {
  Base64ImageSource,
  CacheControlEphemeral,
  ContentBlockParam,
  ImageBlockParam,
  MessageParam,
  TextBlockParam,
  ToolResultBlockParam,
  ToolUseBlockParam,
  ToolChoice as WireToolChoice,
} from "@anthropic-ai/sdk/resources/messages";
import { isObject } from "@toolcrib/core/text";
import type { AssistantMessage, ImageBlock, Message, TextBlock, ToolCallBlock, ToolMessage } from "../../messages.ts";
import type { ToolChoice } from "../../provider.ts";
import { wellFormedJson, wireId, wireName } from "../shared/wireText.ts";

type ImageType = Base64ImageSource["media_type"];
const imageTypes: ReadonlySet<string> = new Set<ImageType>(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const isImageType = (type: string): type is ImageType => imageTypes.has(type);

export function toAnthropicToolChoice(choice: ToolChoice): WireToolChoice {
  switch (choice) {
    case "auto":
    case "none":
      return { type: choice };
    case "required":
      return { type: "any" };
    default:
      return { type: "tool", name: choice.name };
  }
}

/** Returns the system prompt with its cache point: tools and system prompt are the same in every request. */
export function toAnthropicSystem(systemPrompt: string, cache_control: CacheControlEphemeral): TextBlockParam[] {
  return [{ type: "text", text: systemPrompt.toWellFormed(), cache_control }];
}

/** The number of blocks that a cache point looks back for what was written before. */
const lookBack = 20;

/** Puts a cache point on the last reply where so much has followed that the one at the end would miss that of the request before. */
export function withEarlierCachePoint(
  messages: readonly WireMessage[],
  cache_control: CacheControlEphemeral,
): readonly WireMessage[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const reply = messages[last];
  if (!reply || !Array.isArray(reply.content)) return messages;
  const added = messages.slice(last).reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
  const place = reply.content.findIndex(canBeMarked);
  if (added < lookBack || place < 0) return messages;
  const content = reply.content.map((block, index) => (index === place ? { ...block, cache_control } : block));
  return messages.map((message, index) => (index === last ? { ...reply, content } : message)) as WireMessage[];
}

function canBeMarked(block: WireBlock): boolean {
  return block.type === "tool_use" || (block.type === "text" && block.text.trim() !== "");
}

export type WireMessage = MessageParam | BetaSystemMessageParam;
type WireBlock = ContentBlockParam | BetaRequestToolAdditionBlock | BetaRequestToolRemovalBlock;

/** One wire message. `results`: it holds tool results; neighbouring ones become one message. */
export interface AnthropicTurn {
  readonly role: WireMessage["role"];
  readonly content: WireBlock[];
  readonly results: boolean;
}

/** Returns a message as a wire message; one with empty content is not sent. `own`: a reply goes back as it came. */
export function toAnthropicTurn(message: Message, own: boolean): AnthropicTurn {
  switch (message.role) {
    case "user":
      return { role: "user", content: toUserBlocks(message.content), results: false };
    case "assistant":
      return { role: "assistant", content: toAssistantBlocks(message, own), results: false };
    case "tool":
      return { role: "user", content: [toToolResult(message)], results: true };
    default:
      return message satisfies never;
  }
}

/** Returns the turns as messages: all results of one reply in one message, empty messages left out. */
export function joinTurns(turns: readonly AnthropicTurn[]): WireMessage[] {
  const messages: { role: WireMessage["role"]; content: WireBlock[] }[] = [];
  let previous: AnthropicTurn | undefined;
  for (const turn of turns) {
    if (turn.content.length === 0) continue;
    if (turn.results && previous?.results) messages.at(-1)?.content.push(...turn.content);
    else messages.push({ role: turn.role, content: turn.results ? [...turn.content] : turn.content });
    previous = turn;
  }
  return messages as WireMessage[];
}

function toUserBlocks(content: readonly (TextBlock | ImageBlock)[]): ContentBlockParam[] {
  const blocks = content.flatMap((block): ContentBlockParam[] => {
    if (block.type === "image") return [toImage(block)];
    return block.text.trim() === "" ? [] : [{ type: "text", text: block.text.toWellFormed() }];
  });
  // The wire refuses a message without text.
  return blocks.length > 0 ? blocks : [{ type: "text", text: "(no text)" }];
}

function toImage({ data, mimeType }: { data: string; mimeType: string }): ImageBlockParam | TextBlockParam {
  if (!isImageType(mimeType)) return { type: "text", text: `[a picture of the unsupported type ${mimeType}]` };
  return { type: "image", source: { type: "base64", media_type: mimeType, data } };
}

function toToolResult({ callId, output, isError, content }: ToolMessage): ToolResultBlockParam {
  const images = (content ?? []).flatMap((block) => (block.type === "image" ? [toImage(block)] : []));
  const text: TextBlockParam[] = output.trim() === "" ? [] : [{ type: "text", text: output.toWellFormed() }];
  const blocks = [...text, ...images];
  return {
    type: "tool_result",
    tool_use_id: wireId(callId),
    ...(blocks.length > 0 && { content: blocks }),
    ...(isError && { is_error: true }),
  };
}

/** Returns the blocks of a reply as they came. Text, thinking and input were left out of the raw blocks, since ours hold them. */
function toAssistantBlocks(message: AssistantMessage, own: boolean): ContentBlockParam[] {
  const blocks = message.content.flatMap((block): ContentBlockParam[] => {
    const raw = own ? rawOf(block) : undefined;
    switch (block.type) {
      case "text":
        if (block.text.trim() === "" && !raw) return [];
        return [{ ...raw, type: "text", text: block.text.toWellFormed() }];
      case "reasoning": {
        if (!raw) return [];
        const thinking = raw.type === "thinking" && { thinking: block.text.toWellFormed() };
        return [{ ...raw, ...thinking } as unknown as ContentBlockParam];
      }
      case "tool-call":
        return [toToolUse(block, raw)];
      default:
        return block satisfies never;
    }
  });
  // A message may not end in thinking, as a reply that was cut off may.
  while (blocks.at(-1)?.type === "thinking" || blocks.at(-1)?.type === "redacted_thinking") blocks.pop();
  return blocks;
}

/** Name and input are always ours: in older sessions the raw call may be that of a tool of the service, which stood for ours. */
function toToolUse({ id, name, args }: ToolCallBlock, raw: Record<string, unknown> | undefined): ToolUseBlockParam {
  return { ...raw, type: "tool_use", id: wireId(id), name: wireName(name), input: wellFormedJson(args) };
}

function rawOf({ opaque }: AssistantMessage["content"][number]): Record<string, unknown> | undefined {
  const data = opaque?.provider === "anthropic" && isObject(opaque.data) ? opaque.data : {};
  // Without a type it is no block of the wire.
  return typeof data.type === "string" ? wellFormedJson(data) : undefined;
}
