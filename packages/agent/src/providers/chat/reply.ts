import { isObject } from "@toolcrib/core/text";
import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import { cutOff, parseArguments } from "../../conversation/parseArguments.ts";
import type { AssistantMessage, ReasoningBlock, StopReason, TextBlock, ToolCallBlock, Usage } from "../../messages.ts";
import type { ProviderEvent, ReplyEvent } from "../../provider.ts";
import { badReply, type Service, serviceFault } from "../errors/wireErrors.ts";
import { toReplyEvent } from "../shared/toReplyEvent.ts";

type Delta = ChatCompletionChunk.Choice.Delta;
type CallDelta = NonNullable<Delta["tool_calls"]>[number];
/** The fields in which servers put reasoning beside the standard ones. */
type Reasoning = { reasoning?: string | null; reasoning_content?: string | null; reasoning_details?: unknown };

/** The part of a chat completions reply that has arrived. */
interface ChatState {
  readonly service: Service;
  text: string;
  refusal: string;
  reasoning: string;
  reasoningField: "reasoning" | "reasoning_content" | undefined;
  /** OpenRouter's reasoning blocks, to be sent back unchanged. */
  readonly details: Record<string, unknown>[];
  readonly calls: CallState[];
  finish: string | undefined;
  /** The finish reason of the service behind a gateway. */
  nativeFinish: string | undefined;
  usage: Usage | undefined;
}

interface CallState {
  readonly index: number | undefined;
  id: string;
  name: string;
  /** As text; some servers send an object. */
  args: unknown;
}

export function createChatState(service: Service): ChatState {
  return {
    service,
    text: "",
    refusal: "",
    reasoning: "",
    reasoningField: undefined,
    details: [],
    calls: [],
    finish: undefined,
    nativeFinish: undefined,
    usage: undefined,
  };
}

/** Takes in one chunk of the stream and returns the events to show. */
export function reduceChat(state: ChatState, chunk: ChatCompletionChunk): ProviderEvent[] {
  const fault = isObject(chunk) ? chunk.error : undefined;
  if (fault) throw serviceFault(fault);
  if (chunk.usage) state.usage = toUsage(chunk.usage);
  const choice = chunk.choices?.[0];
  if (!choice) return [];
  const choiceFault = isObject(choice) ? choice.error : undefined;
  if (choiceFault) throw serviceFault(choiceFault);
  const events = choice.delta ? reduceDelta(state, choice.delta) : [];
  if (choice.finish_reason) state.finish = choice.finish_reason;
  const native = isObject(choice) ? choice.native_finish_reason : undefined;
  if (typeof native === "string") state.nativeFinish = native;
  return events;
}

/** Yields a whole completion as the one chunk that a stream would have brought. */
export function* chatChunks(completion: ChatCompletion): Generator<ChatCompletionChunk> {
  const [choice] = completion.choices ?? [];
  const calls = choice?.message?.tool_calls ?? undefined;
  const delta = { ...choice?.message, tool_calls: calls?.map((call, index) => ({ ...call, index })) } as Delta;
  yield {
    ...completion,
    object: "chat.completion.chunk",
    choices: choice ? [{ ...choice, delta }] : [],
  } as ChatCompletionChunk;
}

function reduceDelta(state: ChatState, delta: Delta & Reasoning): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  const reasoning = delta.reasoning || delta.reasoning_content;
  if (reasoning) {
    state.reasoning += reasoning;
    state.reasoningField = delta.reasoning ? "reasoning" : "reasoning_content";
    events.push({ type: "reasoning-delta", text: reasoning });
  }
  if (Array.isArray(delta.reasoning_details)) {
    for (const detail of delta.reasoning_details) if (isObject(detail)) addDetail(state.details, detail);
  }
  if (delta.refusal) state.refusal += delta.refusal;
  for (const text of [contentText(delta.content), delta.refusal]) {
    if (!text) continue;
    state.text += text;
    events.push({ type: "text-delta", text });
  }
  for (const call of delta.tool_calls ?? []) addCall(state.calls, call);
  return events;
}

/** Joins the parts that some servers send instead of a string. */
function contentText(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return content.map((part) => (isObject(part) && typeof part.text === "string" ? part.text : "")).join("");
}

/** Joins the pieces of one block (same kind and index): the service expects whole blocks back. */
function addDetail(details: Record<string, unknown>[], piece: Record<string, unknown>): void {
  const last = details.at(-1);
  const joins = last !== undefined && last.type === piece.type && last.index === piece.index && last.id === piece.id;
  if (!joins || piece.type === "reasoning.encrypted") {
    details.push({ ...piece });
    return;
  }
  for (const [name, value] of Object.entries(piece)) {
    const earlier = last[name];
    const grows = (name === "text" || name === "summary") && typeof value === "string" && typeof earlier === "string";
    if (grows) last[name] = earlier + value;
    else if (value !== null && value !== undefined) last[name] = value;
  }
}

/** Adds a piece of a call. Servers differ: the index may be missing or always 0, the id sent once or in every piece, the name too. */
function addCall(calls: CallState[], piece: CallDelta): void {
  const id = piece.id ?? "";
  const name = piece.function?.name ?? "";
  const args: unknown = piece.function?.arguments;
  const open = calls.findLast((call) =>
    piece.index === undefined ? id === "" || call.id === id : call.index === piece.index,
  );
  const startsAnew = open === undefined || (id !== "" && open.id !== "" && open.id !== id && name !== "");
  if (startsAnew || (piece.index === undefined && id === "" && name !== "")) {
    calls.push({ index: piece.index, id, name, args });
    return;
  }
  if (open.id === "") open.id = id;
  if (name !== open.name) open.name += name;
  if (typeof args === "string") open.args = typeof open.args === "string" ? open.args + args : args;
  else if (args !== undefined && args !== null) open.args = args;
}

/** Returns the reply, once a finish reason was seen. */
export function finishChat(state: ChatState, model: string): ReplyEvent {
  if (state.finish === undefined) throw badReply(state.service, "ended before it was complete.");
  const stop = stopOf(state);
  const content: AssistantMessage["content"][number][] = [];
  if (state.reasoning !== "" || state.details.length > 0) content.push(toReasoning(state));
  if (state.text !== "") content.push({ type: "text", text: state.text } satisfies TextBlock);
  content.push(
    ...state.calls.map((call, index) => toCall(call, stop === "token-limit" && index === state.calls.length - 1)),
  );
  const detail = state.refusal || (stop === "content-filter" ? state.nativeFinish : undefined);
  return toReplyEvent({ content, stop, model, detail, usage: state.usage });
}

function stopOf(state: ChatState): StopReason {
  if (state.refusal !== "") return "refusal";
  switch (state.finish) {
    case "length":
      return "token-limit";
    case "content_filter":
      return "content-filter";
    case "tool_calls":
    case "function_call":
      return "tool-calls";
    case "error":
      throw serviceFault({ message: "The service ended the reply with an error.", code: "server_error" });
    default:
      // `stop`, and other words of some servers for it.
      return "stop";
  }
}

function toReasoning({ service, reasoning, reasoningField, details }: ChatState): ReasoningBlock {
  const data = details.length > 0 ? { reasoning_details: details } : { [reasoningField ?? "reasoning"]: reasoning };
  return { type: "reasoning", text: reasoning, opaque: { provider: service.name, data } };
}

function toCall(call: CallState, lastBeforeLimit: boolean): ToolCallBlock {
  const parsed = parseArguments(call.args);
  const cut = lastBeforeLimit && (parsed.malformed !== undefined || call.args === undefined || call.args === "");
  return { type: "tool-call", id: call.id, name: call.name, ...(cut ? { args: {}, malformed: cutOff } : parsed) };
}

/** Converts the usage: `prompt_tokens` includes cached ones; `cost` is OpenRouter's, in dollars. */
function toUsage(usage: NonNullable<ChatCompletionChunk["usage"]> & { cost?: unknown }): Usage {
  return {
    inputTokens: usage.prompt_tokens ?? 0,
    outputTokens: usage.completion_tokens ?? 0,
    cacheReadTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    cacheWriteTokens: usage.prompt_tokens_details?.cache_write_tokens ?? 0,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
    ...(typeof usage.cost === "number" && { cost: usage.cost }),
  };
}
