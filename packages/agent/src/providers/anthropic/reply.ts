import type {
  ContentBlock,
  Message,
  MessageDeltaUsage,
  RawContentBlockDelta,
  RawMessageStreamEvent,
  RefusalStopDetails,
  StopReason as WireStopReason,
} from "@anthropic-ai/sdk/resources/messages";
import { cutOff, parseArguments } from "../../conversation/parseArguments.ts";
import type { AssistantMessage, StopReason, ToolCallBlock, Usage } from "../../messages.ts";
import type { ProviderEvent, ReplyEvent } from "../../provider.ts";
import { toReplyEvent } from "../shared/toReplyEvent.ts";
import { badReply, type Service } from "../shared/wireErrors.ts";

/** What has arrived of a reply of the Messages API. */
interface AnthropicState {
  readonly service: Service;
  /** By index. */
  readonly blocks: Map<number, BlockState>;
  stopReason: WireStopReason | undefined;
  stopDetails: RefusalStopDetails | null | undefined;
  usage: WireUsage | undefined;
  done: boolean;
}

type WireUsage = { -readonly [Name in keyof MessageDeltaUsage]?: MessageDeltaUsage[Name] };

interface BlockState {
  readonly start: ContentBlock;
  text: string;
  /** The input of a call as JSON text so far. */
  json: string;
  signature: string;
}

export function createAnthropicState(service: Service): AnthropicState {
  return { service, blocks: new Map(), stopReason: undefined, stopDetails: undefined, usage: undefined, done: false };
}

/** Takes in one event of the stream and returns the events to show. */
export function reduceAnthropic(state: AnthropicState, event: RawMessageStreamEvent): ProviderEvent[] {
  switch (event.type) {
    case "message_start":
      addUsage(state, event.message.usage);
      return [];
    case "content_block_start":
      return blockStart(state, event.index, event.content_block);
    case "content_block_delta":
      return blockDelta(state.blocks.get(event.index), event.delta);
    case "content_block_stop":
      return [];
    case "message_delta":
      addUsage(state, event.usage);
      state.stopReason = event.delta.stop_reason ?? state.stopReason;
      state.stopDetails = event.delta.stop_details ?? state.stopDetails;
      return [];
    case "message_stop":
      state.done = state.stopReason !== undefined;
      return [];
    default:
      // An event of a later version of the API.
      event satisfies never;
      return [];
  }
}

/** A whole message as the events that a stream would have brought. */
export function* anthropicEvents(message: Message): Generator<RawMessageStreamEvent> {
  yield { type: "message_start", message };
  for (const [index, content_block] of message.content.entries()) {
    yield { type: "content_block_start", index, content_block } as RawMessageStreamEvent;
    yield { type: "content_block_stop", index };
  }
  const { container, stop_details, stop_reason, stop_sequence, usage } = message;
  yield { type: "message_delta", delta: { container, stop_details, stop_reason, stop_sequence }, usage };
  yield { type: "message_stop" };
}

function addUsage(state: AnthropicState, usage: WireUsage | undefined): void {
  const known = Object.entries(usage ?? {}).filter(([, value]) => value !== null);
  state.usage = { ...state.usage, ...Object.fromEntries(known) };
}

function blockStart(state: AnthropicState, index: number, block: ContentBlock): ProviderEvent[] {
  const text = block.type === "text" ? block.text : block.type === "thinking" ? block.thinking : "";
  const signature = block.type === "thinking" ? block.signature : "";
  state.blocks.set(index, { start: block, text: text ?? "", json: "", signature: signature ?? "" });
  return text ? [{ type: block.type === "text" ? "text-delta" : "reasoning-delta", text }] : [];
}

function blockDelta(block: BlockState | undefined, delta: RawContentBlockDelta): ProviderEvent[] {
  if (!block) return [];
  switch (delta.type) {
    case "text_delta":
      block.text += delta.text;
      return delta.text === "" ? [] : [{ type: "text-delta", text: delta.text }];
    case "thinking_delta":
      block.text += delta.thinking;
      return delta.thinking === "" ? [] : [{ type: "reasoning-delta", text: delta.thinking }];
    case "input_json_delta":
      block.json += delta.partial_json;
      return [];
    case "signature_delta":
      block.signature += delta.signature;
      return [];
    case "citations_delta":
      return [];
    default:
      delta satisfies never;
      return [];
  }
}

/** The reply, once a stop reason was seen. */
export function finishAnthropic(state: AnthropicState, model: string): ReplyEvent {
  if (state.stopReason === undefined) throw badReply(state.service, "ended before it was complete.");
  const stop = stopOf(state.stopReason);
  const limited = stop === "token-limit" || stop === "context-limit";
  const blocks = [...state.blocks.entries()].sort(([a], [b]) => a - b).map(([, block]) => block);
  const content = blocks.map((block, index) => toBlock(block, limited && index === blocks.length - 1));
  const detail = state.stopDetails?.explanation ?? state.stopDetails?.category;
  return toReplyEvent({ content, stop, model, detail, usage: state.usage && toUsage(state.usage) });
}

function stopOf(reason: WireStopReason): StopReason {
  switch (reason) {
    case "end_turn":
    case "stop_sequence":
      return "stop";
    case "tool_use":
      return "tool-calls";
    case "max_tokens":
      return "token-limit";
    case "pause_turn":
      return "pause";
    case "refusal":
      return "refusal";
    case "model_context_window_exceeded":
      return "context-limit";
    default:
      reason satisfies never;
      return "stop";
  }
}

function toBlock(block: BlockState, lastBeforeLimit: boolean): AssistantMessage["content"][number] {
  const { start, text, json, signature } = block;
  switch (start.type) {
    case "text":
      return { type: "text", text };
    case "thinking": {
      // Thinking without a signature was cut off; the service would refuse it.
      const data = { type: "thinking", thinking: text, signature };
      return signature === ""
        ? { type: "reasoning", text }
        : { type: "reasoning", text, opaque: { provider: "anthropic", data } };
    }
    case "tool_use":
      return toCall(start, json, lastBeforeLimit);
    default: {
      // Redacted thinking and items of hosted tools are sent back unchanged.
      const data = json === "" ? { ...start } : { ...start, input: parseArguments(json).args };
      return { type: "reasoning", text: "", opaque: { provider: "anthropic", data } };
    }
  }
}

function toCall(
  start: Extract<ContentBlock, { type: "tool_use" }>,
  json: string,
  lastBeforeLimit: boolean,
): ToolCallBlock {
  const parsed = parseArguments(json === "" ? start.input : json);
  // Without the streamed text a whole input cannot be told from a cut one.
  const cut = lastBeforeLimit && (json === "" || parsed.malformed !== undefined);
  return {
    type: "tool-call",
    id: start.id ?? "",
    name: start.name ?? "",
    ...(cut ? { args: {}, malformed: cutOff } : parsed),
  };
}

/** `input_tokens` excludes what was read from or written to the cache; here it includes both. */
function toUsage(usage: WireUsage): Usage {
  const cacheReadTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
  return {
    inputTokens: (usage.input_tokens ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: usage.output_tokens_details?.thinking_tokens ?? 0,
  };
}
