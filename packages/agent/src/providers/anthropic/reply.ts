import type { BetaInputTransformation } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type {
  CacheCreation,
  Message,
  MessageDeltaUsage,
  RawContentBlockDelta,
  RawMessageStreamEvent,
  RefusalStopDetails,
  StopReason as WireStopReason,
} from "@anthropic-ai/sdk/resources/messages";
import { cutOff, parseArguments } from "../../conversation/parseArguments.ts";
import type { AssistantMessage, OpaqueData, ToolCallBlock, Usage } from "../../messages.ts";
import type { ProviderEvent, ReplyEvent } from "../../provider.ts";
import { contentSign, TextSeams } from "../../textSeams.ts";
import { endReason } from "../errors/endWords.ts";
import { badReply, type Service } from "../errors/wireErrors.ts";
import { type ReplyReducer, toReplyEvent } from "../shared/streamReply.ts";
import { droppedThinking } from "./thinkingBinding.ts";

type WireUsage = { -readonly [Name in keyof MessageDeltaUsage]?: MessageDeltaUsage[Name] } & {
  cache_creation?: CacheCreation | null;
  inference_geo?: string | null;
  speed?: string | null;
};

type RawBlock = Record<string, unknown>;

interface BlockState {
  /** The block as it came, which its deltas add to. */
  readonly raw: RawBlock;
  /** The input of a call as JSON text so far. */
  json: string;
}

/** A reply of the Messages API, as its events come. `author`: `provider/model`. */
export class AnthropicReply implements ReplyReducer<RawMessageStreamEvent> {
  readonly #service: Service;
  readonly #author: string;
  /** By index. */
  readonly #blocks = new Map<number, BlockState>();
  readonly #seams = new TextSeams();
  #stopReason: WireStopReason | undefined;
  #stopDetails: RefusalStopDetails | null | undefined;
  #usage: WireUsage | undefined;
  isDone = false;

  constructor(service: Service, author: string) {
    this.#service = service;
    this.#author = author;
  }

  push(event: RawMessageStreamEvent): ProviderEvent[] {
    switch (event.type) {
      case "message_start": {
        this.#addUsage(event.message.usage);
        // The types of the SDK have it in the beta namespace alone.
        const { input_transformations } = event.message as { input_transformations?: BetaInputTransformation[] };
        return droppedThinking(input_transformations);
      }
      case "content_block_start": {
        const block = event.content_block;
        this.#blocks.set(event.index, { raw: { ...block }, json: "" });
        if (block.type === "text") return this.#seams.show(textIn(block.text));
        this.#seams.separate();
        return block.type === "thinking" ? thought(block.thinking) : [contentSign];
      }
      case "content_block_delta":
        return blockDelta(this.#blocks.get(event.index), event.delta, this.#seams);
      case "content_block_stop":
        return [];
      case "message_delta":
        this.#addUsage(event.usage);
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        this.#stopDetails = event.delta.stop_details ?? this.#stopDetails;
        return [];
      case "message_stop":
        this.isDone = this.#stopReason !== undefined;
        return [];
      default:
        // An event of a later version of the API.
        event satisfies never;
        return [];
    }
  }

  #addUsage(usage: WireUsage | undefined): void {
    const known = Object.entries(usage ?? {}).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }

  end(): ReplyEvent {
    const service = this.#service;
    const word = this.#stopReason;
    if (word === undefined) throw badReply(service, "ended before it was complete.");
    const blocks = [...this.#blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
    const isHosted = blocks.some(({ raw }) => raw.type === "server_tool_use");
    // The calls may be those of hosted tools.
    const stop = word === "tool_use" && isHosted ? "stop" : endReason(word, service);
    const limited = stop === "token-limit" || stop === "context-limit";
    const hasText = blocks.some(({ raw }) => raw.type === "text" && textIn(raw.text).trim() !== "");
    const isClaude = /claude/i.test(service.model);
    const content = blocks.map((block, index) =>
      toBlock(block, { isClaude, hasText, lastBeforeLimit: limited && index === blocks.length - 1 }),
    );
    const detail = this.#stopDetails?.explanation ?? this.#stopDetails?.category;
    const usage = this.#usage && toUsage(this.#usage);
    return toReplyEvent({ content, stop, word, model: this.#author, detail, usage }, service);
  }
}

/** Yields a whole message as the events that a stream would have brought. */
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

function blockDelta(block: BlockState | undefined, delta: RawContentBlockDelta, seams: TextSeams): ProviderEvent[] {
  if (!block) return [];
  const { raw } = block;
  switch (delta.type) {
    case "text_delta":
      raw.text = textIn(raw.text) + delta.text;
      return seams.show(textIn(delta.text));
    case "thinking_delta":
      raw.thinking = textIn(raw.thinking) + delta.thinking;
      return thought(delta.thinking);
    case "input_json_delta":
      block.json += delta.partial_json;
      return delta.partial_json ? [contentSign] : [];
    case "signature_delta":
      raw.signature = textIn(raw.signature) + delta.signature;
      return delta.signature ? [contentSign] : [];
    case "citations_delta":
      raw.citations = [...(Array.isArray(raw.citations) ? raw.citations : []), delta.citation];
      return [];
    default: {
      delta satisfies never;
      // A delta of a later version, such as that of a compaction: its fields are the block's.
      const { type: _, ...fields }: RawBlock = delta;
      Object.assign(raw, fields);
      return [contentSign];
    }
  }
}

function thought(text: string | undefined): ProviderEvent[] {
  return text ? [{ type: "reasoning-delta", text }] : [];
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

interface Within {
  readonly isClaude: boolean;
  /** It holds a text that is not blank, so that the service takes a blank one back. */
  readonly hasText: boolean;
  readonly lastBeforeLimit: boolean;
}

function toBlock({ raw, json }: BlockState, { isClaude, hasText, lastBeforeLimit }: Within): Block {
  switch (raw.type) {
    case "text": {
      const text = textIn(raw.text);
      const isBlank = text.trim() === "";
      const keeps = isBlank ? hasText && text !== "" : !hasOnly(raw, "type,text");
      return { type: "text", text, ...(keeps && opaque({ ...raw, text: "" })) };
    }
    case "thinking": {
      const data = { ...raw, thinking: "" };
      // A Claude's thinking without a signature was cut off; the service would refuse it. Other models sign nothing.
      const goesBack = textIn(raw.signature) !== "" || !isClaude;
      return { type: "reasoning", text: textIn(raw.thinking), ...(goesBack && opaque(data)) };
    }
    case "tool_use":
      return toCall(raw, json, lastBeforeLimit);
    default:
      // Redacted thinking, and the blocks of hosted tools.
      return {
        type: "reasoning",
        text: "",
        ...opaque(json === "" ? raw : { ...raw, input: parseArguments(json).args }),
      };
  }
}

type Block = AssistantMessage["content"][number];

function opaque(data: RawBlock): { opaque: OpaqueData } {
  return { opaque: { provider: "anthropic", data } };
}

function hasOnly(raw: RawBlock, fields: string): boolean {
  return Object.keys(raw).join() === fields;
}

function toCall(raw: RawBlock, json: string, lastBeforeLimit: boolean): ToolCallBlock {
  const parsed = parseArguments(json === "" ? raw.input : json);
  // Without the streamed text a whole input cannot be told from a cut one.
  const cut = lastBeforeLimit && (json === "" || parsed.malformed !== undefined);
  return {
    type: "tool-call",
    id: textIn(raw.id),
    name: textIn(raw.name),
    ...(cut ? { args: {}, malformed: cutOff } : parsed),
    ...(!hasOnly(raw, "type,id,name,input") && opaque({ ...raw, input: {} })),
  };
}

/** Converts the usage: `input_tokens` excludes what was read from or written to the cache; here it includes both. */
function toUsage(usage: WireUsage): Usage {
  const cacheReadTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
  const times = (usage.speed === "fast" ? 2 : 1) * (usage.inference_geo === "us" ? 1.1 : 1);
  const cacheWriteHourTokens = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  return {
    inputTokens: (usage.input_tokens ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    ...(cacheWriteHourTokens > 0 && { cacheWriteHourTokens }),
    reasoningTokens: usage.output_tokens_details?.thinking_tokens ?? 0,
    ...(times !== 1 && { priceTimes: times }),
  };
}
