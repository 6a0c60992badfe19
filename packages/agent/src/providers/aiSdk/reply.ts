// A reply of an AI SDK model, from the parts of its stream.
import { isObject } from "@toolcrib/core/text";
import { cutOff, parseArguments } from "../../conversation/parseArguments.ts";
import type { AssistantMessage, OpaqueData, StopReason, ToolCallBlock, Usage } from "../../messages.ts";
import type { ProviderEvent } from "../../provider.ts";
import { badReply, type Service } from "../errors/wireErrors.ts";
import type { ReplyReducer } from "../shared/streamReply.ts";
import { toReplyEvent } from "../shared/toReplyEvent.ts";

/** A part of a stream, by its `type`; the fields of each are in the AI SDK's specification. */
export type AiSdkPart = { readonly type: string } & Readonly<Record<string, unknown>>;

type Block = AssistantMessage["content"][number];
/** A text or a piece of reasoning that still grows. */
interface Growing {
  readonly type: "text" | "reasoning";
  text: string;
  metadata: Record<string, unknown> | undefined;
}

/** Makes what reads one reply. `toError` shapes an error that comes as a part. */
export function createAiSdkReducer(
  service: Service,
  author: string,
  toError: (error: unknown) => unknown,
): ReplyReducer<AiSdkPart> {
  const blocks: (Block | Growing)[] = [];
  const growing = new Map<unknown, Growing>();
  let finish: AiSdkPart | undefined;

  const opaque = (data: Record<string, unknown>): { opaque: OpaqueData } => ({
    opaque: { provider: service.name, data },
  });
  const grow = (part: AiSdkPart, type: Growing["type"]): ProviderEvent[] => {
    const key = `${type} ${String(part.id)}`;
    let block = growing.get(key);
    if (!block) {
      block = { type, text: "", metadata: undefined };
      growing.set(key, block);
      blocks.push(block);
    }
    if (isObject(part.providerMetadata)) block.metadata = { ...block.metadata, ...part.providerMetadata };
    if (part.type.endsWith("-end")) growing.delete(key);
    if (typeof part.delta !== "string" || part.delta === "") return [];
    block.text += part.delta;
    return [{ type: type === "text" ? "text-delta" : "reasoning-delta", text: part.delta }];
  };
  const toBlock = (block: Block | Growing): Block => {
    if (!("metadata" in block)) return block;
    const { type, text, metadata } = block;
    return { type, text, ...(metadata && opaque({ providerOptions: metadata })) };
  };

  return {
    push(part) {
      switch (part.type) {
        case "text-start":
        case "text-delta":
        case "text-end":
          return grow(part, "text");
        case "reasoning-start":
        case "reasoning-delta":
        case "reasoning-end":
          return grow(part, "reasoning");
        case "tool-call":
          if (part.providerExecuted === true) throw badReply(service, "holds a call that its own service has run.");
          blocks.push(toCall(part, opaque));
          return [];
        case "reasoning-file":
        case "custom":
          // Shown to nobody, and sent back as it came.
          blocks.push({ type: "reasoning", text: "", ...opaque({ ...toInput(part) }) });
          return [];
        case "finish":
          finish = part;
          return [];
        case "error":
          throw toError(part.error);
        default:
          return [];
      }
    },
    isDone: () => false,
    end() {
      const reason = isObject(finish?.finishReason) ? finish.finishReason : undefined;
      if (!finish || !reason) throw badReply(service, "ended before it was complete.");
      const stop = stopOf(reason, service);
      const content = blocks.map(toBlock).filter((block) => block.type !== "text" || block.text !== "");
      return toReplyEvent({
        content: stop === "token-limit" ? withoutHalfCall(content) : content,
        stop,
        model: author,
        detail: stop === "refusal" || stop === "content-filter" ? String(reason.raw ?? "") : undefined,
        usage: toUsage(finish.usage),
      });
    },
  };
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

function toCall(part: AiSdkPart, opaque: (data: Record<string, unknown>) => { opaque: OpaqueData }): ToolCallBlock {
  return {
    type: "tool-call",
    id: String(part.toolCallId ?? ""),
    name: String(part.toolName ?? ""),
    ...parseArguments(part.input),
    ...(isObject(part.providerMetadata) && opaque({ providerOptions: part.providerMetadata })),
  };
}

/** Converts a block to input: metadata goes back as options. */
function toInput({ providerMetadata, ...part }: AiSdkPart): Record<string, unknown> {
  return { ...part, ...(isObject(providerMetadata) && { providerOptions: providerMetadata }) };
}

/** Drops a last call whose arguments are no whole object: the limit cut it off. */
function withoutHalfCall(content: Block[]): Block[] {
  const last = content.at(-1);
  if (last?.type !== "tool-call" || (last.malformed === undefined && Object.keys(last.args).length > 0)) return content;
  return [...content.slice(0, -1), { ...last, args: {}, malformed: cutOff }];
}

function stopOf(reason: Record<string, unknown>, service: Service): StopReason {
  switch (reason.raw) {
    case "refusal":
      return "refusal";
    case "pause_turn":
      return "pause";
    case "model_context_window_exceeded":
      return "context-limit";
  }
  switch (reason.unified) {
    case "length":
      return "token-limit";
    case "content-filter":
      return "content-filter";
    case "tool-calls":
      return "tool-calls";
    case "stop":
      return "stop";
    default:
      // `error`, `interrupted` and `other`: nothing says that the reply is whole.
      throw badReply(service, `ended without a finish (${String(reason.raw ?? reason.unified)}).`);
  }
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
