// A reply of an AI SDK model, from the parts of its stream.
import { isObject } from "@toolcrib/core/text";
import { cutOff, parseArguments } from "../../conversation/parseArguments.ts";
import type { AssistantMessage, OpaqueData, StopReason, TextPhase, ToolCallBlock, Usage } from "../../messages.ts";
import type { ProviderEvent, ReplyEvent } from "../../provider.ts";
import { contentSign, TextSeams } from "../../textSeams.ts";
import { endMeaning, endReason } from "../errors/endWords.ts";
import { badReply, type Service } from "../errors/wireErrors.ts";
import { createPartLimit } from "../shared/serviceFetch.ts";
import { type ReplyReducer, toReplyEvent } from "../shared/streamReply.ts";

/** A part of a stream, by its `type`; the fields of each are in the AI SDK's specification. */
export type AiSdkPart = { readonly type: string } & Readonly<Record<string, unknown>>;

type Block = AssistantMessage["content"][number];
interface Growing {
  readonly type: "text" | "reasoning";
  text: string;
  metadata: Record<string, unknown> | undefined;
}

/** A reply of an AI SDK model, as its parts come. `author`: `provider/model`; `toError` shapes an error that comes as a part. */
export class AiSdkReply implements ReplyReducer<AiSdkPart> {
  readonly #service: Service;
  readonly #author: string;
  readonly #toError: (error: unknown) => unknown;
  readonly #blocks: (Block | Growing)[] = [];
  readonly #growing = new Map<unknown, Growing>();
  readonly #seams = new TextSeams();
  readonly #count = createPartLimit();
  #finish: AiSdkPart | undefined;
  readonly isDone = false;

  constructor(service: Service, author: string, toError: (error: unknown) => unknown) {
    this.#service = service;
    this.#author = author;
    this.#toError = toError;
  }

  push(part: AiSdkPart): ProviderEvent[] {
    this.#count(part);
    switch (part.type) {
      case "text-start":
      case "text-delta":
      case "text-end":
        return this.#grow(part, "text");
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        this.#seams.separate();
        return this.#grow(part, "reasoning");
      case "tool-input-start":
      case "tool-input-delta":
        return [contentSign];
      case "tool-call":
        if (part.providerExecuted === true) throw badReply(this.#service, "holds a call that its own service has run.");
        return this.#add(toCall(part));
      case "reasoning-file":
      case "custom": {
        // Shown to nobody, and sent back as it came; metadata goes back as options.
        const { providerMetadata, ...data } = part;
        const options = isObject(providerMetadata) && { providerOptions: providerMetadata };
        return this.#add({ type: "reasoning", text: "", ...opaque({ ...data, ...options }) });
      }
      case "finish":
        this.#finish = part;
        return [];
      case "error":
        throw this.#toError(part.error);
      default:
        return [];
    }
  }

  #add(block: Block): ProviderEvent[] {
    this.#seams.separate();
    this.#blocks.push(block);
    return [contentSign];
  }

  #grow(part: AiSdkPart, type: Growing["type"]): ProviderEvent[] {
    const key = `${type} ${String(part.id)}`;
    let block = this.#growing.get(key);
    if (!block) {
      block = { type, text: "", metadata: undefined };
      this.#growing.set(key, block);
      this.#blocks.push(block);
    }
    if (isObject(part.providerMetadata)) block.metadata = { ...block.metadata, ...part.providerMetadata };
    if (part.type.endsWith("-end")) this.#growing.delete(key);
    if (typeof part.delta !== "string" || part.delta === "") return [];
    block.text += part.delta;
    if (type === "text") return this.#seams.show(part.delta, phaseOf(block.metadata));
    return [{ type: "reasoning-delta", text: part.delta }];
  }

  end(): ReplyEvent {
    const finish = this.#finish;
    const reason = isObject(finish?.finishReason) ? finish.finishReason : undefined;
    if (!finish || !reason) throw badReply(this.#service, "ended before it was complete.");
    const stop = stopOf(reason, this.#service);
    const content = this.#blocks
      .map((block) => ("metadata" in block ? toGrown(block) : block))
      .filter((block) => block.type !== "text" || block.text !== "");
    const reply = {
      content: stop === "token-limit" || stop === "context-limit" ? withoutHalfCall(content) : content,
      stop,
      word: reason.raw ?? reason.unified,
      model: this.#author,
      detail: stop === "refusal" || stop === "content-filter" ? String(reason.raw ?? "") : undefined,
      usage: toUsage(finish.usage),
    };
    return toReplyEvent(reply, this.#service);
  }
}

/** Yields the parts that a whole reply would have come in. */
export function* contentParts(whole: unknown): Generator<AiSdkPart> {
  const { content, finishReason, usage } = isObject(whole) ? whole : {};
  const parts = Array.isArray(content) ? (content as AiSdkPart[]) : [];
  for (const [id, part] of parts.entries()) {
    if (part.type !== "text" && part.type !== "reasoning") yield part;
    else {
      yield { type: `${part.type}-delta`, id, delta: part.text };
      yield { type: `${part.type}-end`, id, providerMetadata: part.providerMetadata };
    }
  }
  yield { type: "finish", finishReason, usage };
}

function opaque(data: Record<string, unknown>): { opaque: OpaqueData } {
  return { opaque: { provider: "ai-sdk", data } };
}

function toGrown({ type, text, metadata }: Growing): Block {
  const carried = metadata && opaque({ providerOptions: metadata });
  const phase = type === "text" ? phaseOf(metadata) : undefined;
  return phase ? { type: "text", text, phase, ...carried } : { type, text, ...carried };
}

function phaseOf(metadata: Record<string, unknown> | undefined): TextPhase | undefined {
  const phases = Object.values(metadata ?? {}).map((vendor) => (isObject(vendor) ? vendor.phase : undefined));
  return phases.find((phase) => phase === "commentary" || phase === "final_answer");
}

function toCall(part: AiSdkPart): ToolCallBlock {
  return {
    type: "tool-call",
    id: String(part.toolCallId ?? ""),
    name: String(part.toolName ?? ""),
    ...parseArguments(part.input),
    ...(isObject(part.providerMetadata) && opaque({ providerOptions: part.providerMetadata })),
  };
}

/** Drops a last call whose arguments are no whole object: the limit cut it off. */
function withoutHalfCall(content: Block[]): Block[] {
  const last = content.at(-1);
  if (last?.type !== "tool-call" || (last.malformed === undefined && Object.keys(last.args).length > 0)) return content;
  return [...content.slice(0, -1), { ...last, args: {}, malformed: cutOff }];
}

/** The word of the service itself, where it is known, says more than that of the AI SDK, which has `other` for many. */
function stopOf({ raw, unified }: Record<string, unknown>, service: Service): StopReason {
  return endReason(endMeaning(raw) === undefined ? (unified === "other" ? raw : unified) : raw, service);
}

function toUsage(usage: unknown): Usage | undefined {
  const { inputTokens, outputTokens } = isObject(usage) ? usage : {};
  const [input, output] = [inputTokens, outputTokens].map((part) => (isObject(part) ? part : {}));
  const count = (value: unknown): number => (typeof value === "number" && value > 0 ? value : 0);
  if (input?.total === undefined && output?.total === undefined) return undefined;
  return {
    inputTokens: count(input?.total),
    outputTokens: count(output?.total),
    cacheReadTokens: count(input?.cacheRead),
    cacheWriteTokens: count(input?.cacheWrite),
    reasoningTokens: count(output?.reasoning),
  };
}
