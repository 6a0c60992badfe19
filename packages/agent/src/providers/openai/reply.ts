import type {
  Response,
  ResponseFunctionToolCall,
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseReasoningItem,
  ResponseStreamEvent,
  ResponseUsage,
} from "openai/resources/responses/responses";
import { cutOff, parseArguments } from "../../conversation/parseArguments.ts";
import type { AssistantMessage, OpaqueData, StopReason, TextPhase, ToolCallBlock, Usage } from "../../messages.ts";
import type { ProviderEvent, ReplyEvent } from "../../provider.ts";
import { contentSign, TextSeams } from "../../textSeams.ts";
import { endMeaning, endReason } from "../errors/endWords.ts";
import { badReply, type Service, serviceFault } from "../errors/wireErrors.ts";
import { type ReplyReducer, toReplyEvent } from "../shared/streamReply.ts";
import { toRawItem } from "./mapping.ts";

interface ItemState {
  item: ResponseOutputItem;
  /** Text or reasoning shown so far. */
  shown: string;
  /** Arguments of a call so far. */
  json: string;
  whole: boolean;
}

/** A reply of the Responses API, as its events come. `author`: `provider/model`. */
export class ResponsesReply implements ReplyReducer<ResponseStreamEvent> {
  readonly #service: Service;
  readonly #author: string;
  /** By output index. */
  readonly #items = new Map<number, ItemState>();
  readonly #seams = new TextSeams();
  #final: Response | undefined;

  constructor(service: Service, author: string) {
    this.#service = service;
    this.#author = author;
  }

  get isDone(): boolean {
    return this.#final !== undefined;
  }

  push(event: ResponseStreamEvent): ProviderEvent[] {
    switch (event.type) {
      case "response.output_item.added":
        this.#items.set(event.output_index, { item: event.item, shown: "", json: "", whole: false });
        return this.#separate(event.item);
      case "response.output_item.done":
        return this.#itemDone(event.output_index, event.item);
      case "response.output_text.delta":
      case "response.refusal.delta":
        return this.#show(event.output_index, "text-delta", event.delta);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#show(event.output_index, "reasoning-delta", event.delta);
      case "response.function_call_arguments.delta": {
        const entry = this.#items.get(event.output_index);
        if (entry) entry.json += event.delta;
        return event.delta ? [contentSign] : [];
      }
      case "response.reasoning_summary_part.added":
        return event.summary_index > 0 ? this.#show(event.output_index, "reasoning-delta", "\n\n") : [];
      case "response.completed":
      case "response.incomplete":
        this.#final = event.response;
        // Some servers send the items only here.
        return event.response.output.flatMap((item, index) =>
          this.#items.get(index)?.whole ? [] : this.#itemDone(index, item),
        );
      case "response.failed":
        throw serviceFault(event.response.error ?? { message: "the reply failed" });
      case "error":
        throw serviceFault(event);
      default:
        // Progress of hosted tools, and events of later versions.
        return [];
    }
  }

  #show(index: number, type: "text-delta" | "reasoning-delta", text: string): ProviderEvent[] {
    const entry = this.#items.get(index);
    if (entry) entry.shown += text;
    if (text === "") return [];
    return type === "text-delta" ? this.#seams.show(text, entry && phaseOf(entry.item)) : [{ type, text }];
  }

  #separate(item: ResponseOutputItem): ProviderEvent[] {
    if (item.type === "message") return [];
    this.#seams.separate();
    return item.type === "reasoning" ? [] : [contentSign];
  }

  #itemDone(index: number, item: ResponseOutputItem): ProviderEvent[] {
    const { shown = "", json = "" } = this.#items.get(index) ?? {};
    this.#items.set(index, { item, shown, json, whole: true });
    const signs = this.#separate(item);
    if (shown !== "") return signs;
    if (item.type === "message") return this.#show(index, "text-delta", messageText(item));
    return item.type === "reasoning" ? this.#show(index, "reasoning-delta", reasoningText(item)) : signs;
  }

  end(): ReplyEvent {
    const final = this.#final;
    if (!final) throw badReply(this.#service, "ended before it was complete.");
    const entries = [...this.#items].sort(([a], [b]) => a - b).map(([, entry]) => entry);
    const refusal = refusalOf(entries);
    const stop = stopOf(final, refusal, this.#service);
    const limited = stop === "token-limit" || stop === "context-limit";
    const content = entries.map((entry) => toBlock(entry, limited));
    const detail = stop === "refusal" ? refusal : unknownReason(final);
    const usage = final.usage ? toUsage(final.usage, final.service_tier) : undefined;
    return toReplyEvent({ content, stop, model: this.#author, detail, usage }, this.#service);
  }
}

/** Yields a whole response as the events that a stream would have brought. */
export function* responsesEvents(response: Response): Generator<ResponseStreamEvent> {
  for (const [output_index, item] of response.output.entries()) {
    yield { type: "response.output_item.done", output_index, item, sequence_number: output_index };
  }
  const sequence_number = response.output.length;
  if (response.status === "failed") yield { type: "response.failed", response, sequence_number };
  else if (response.status === "incomplete") yield { type: "response.incomplete", response, sequence_number };
  // Its status tells whether it is whole.
  else yield { type: "response.completed", response, sequence_number };
}

function phaseOf(item: ResponseOutputItem): TextPhase | undefined {
  const phase = item.type === "message" ? item.phase : undefined;
  return phase === "commentary" || phase === "final_answer" ? phase : undefined;
}

function stopOf(final: Response, refusal: string, service: Service): StopReason {
  if (final.status === "incomplete") {
    const meaning = endMeaning(final.incomplete_details?.reason);
    return meaning === undefined || meaning === "stop" || meaning === "fault" ? "token-limit" : meaning;
  }
  return refusal === "" ? endReason(final.status ?? "completed", service) : "refusal";
}

function refusalOf(entries: readonly ItemState[]): string {
  const parts = entries.flatMap(({ item }) => (item.type === "message" ? item.content : []));
  return parts.map((part) => (part.type === "refusal" ? part.refusal || "refused" : "")).join("");
}

/** Returns why a reply is incomplete, unless it is one of the two reasons that the API documents. */
function unknownReason(final: Response): string | undefined {
  const reason: string | undefined = final.incomplete_details?.reason;
  return reason === "max_output_tokens" || reason === "content_filter" ? undefined : reason;
}

function toBlock(entry: ItemState, limited: boolean): AssistantMessage["content"][number] {
  const { item } = entry;
  const opaque = (args?: ToolCallBlock["args"]): { opaque: OpaqueData } => ({
    opaque: { provider: "openai", data: toRawItem(item, args) },
  });
  switch (item.type) {
    case "message": {
      const phase = phaseOf(item);
      return { type: "text", text: messageText(item) || entry.shown, ...(phase && { phase }), ...opaque() };
    }
    case "reasoning":
      return { type: "reasoning", text: reasoningText(item) || entry.shown, ...opaque() };
    case "function_call": {
      const call = toCall(item, entry, limited);
      return { ...call, ...opaque(call.malformed === undefined ? call.args : undefined) };
    }
    default:
      return { type: "reasoning", text: "", ...opaque() };
  }
}

function toCall(item: ResponseFunctionToolCall, entry: ItemState, limited: boolean): ToolCallBlock {
  const parsed = parseArguments(item.arguments || entry.json);
  const cut = limited && (!entry.whole || item.status === "incomplete" || parsed.malformed !== undefined);
  return {
    type: "tool-call",
    id: item.call_id ?? "",
    name: item.name ?? "",
    ...(cut ? { args: {}, malformed: cutOff } : parsed),
  };
}

function messageText(item: ResponseOutputMessage): string {
  return item.content.map((part) => (part.type === "refusal" ? part.refusal : part.text)).join("");
}

function reasoningText(item: ResponseReasoningItem): string {
  const parts = item.summary.length > 0 ? item.summary : (item.content ?? []);
  return parts.map((part) => part.text).join("\n\n");
}

/** The price of each way to serve a request, in terms of the usual one. */
const tierTimes: Readonly<Record<string, number>> = { priority: 2, fast: 2, flex: 0.5, batch: 0.5 };

/** Converts the usage: `input_tokens` already includes cached ones. */
function toUsage(usage: ResponseUsage, tier: Response["service_tier"]): Usage {
  const times = tierTimes[tier ?? "default"];
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadTokens: usage.input_tokens_details?.cached_tokens ?? 0,
    cacheWriteTokens: usage.input_tokens_details?.cache_write_tokens ?? 0,
    reasoningTokens: usage.output_tokens_details?.reasoning_tokens ?? 0,
    ...(times !== undefined && { priceTimes: times }),
  };
}
