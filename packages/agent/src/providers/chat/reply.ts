import { isObject } from "@toolcrib/core/text";
import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import { cutOff, parseArguments } from "../../conversation/parseArguments.ts";
import type {
  AssistantMessage,
  OpaqueData,
  ReasoningBlock,
  StopReason,
  TextBlock,
  ToolCallBlock,
  Usage,
} from "../../messages.ts";
import type { ProviderEvent, ReplyEvent } from "../../provider.ts";
import type { ContentPart, ContentReader } from "../../textCalls/contentReader.ts";
import { contentSign, seamBetween, TextSeams } from "../../textSeams.ts";
import { endReason } from "../errors/endWords.ts";
import { badReply, type Service, serviceFault } from "../errors/wireErrors.ts";
import { toReplyEvent } from "../shared/toReplyEvent.ts";
import { addCall, type CallState } from "./calls.ts";
import { addCarried, type Carried } from "./carried.ts";
import { laterUsage } from "./usage.ts";

type Delta = ChatCompletionChunk.Choice.Delta;
/** The fields in which servers put reasoning beside the standard ones. */
type Reasoning = { reasoning?: string | null; reasoning_content?: string | null; reasoning_details?: unknown };

/** The part of a chat completions reply that has arrived. */
interface ChatState {
  readonly service: Service;
  /** The fields beside the standard ones that go back with a message and its calls. */
  readonly carriedFields: readonly string[];
  readonly carried: Carried;
  readonly seams: TextSeams;
  /** Splits the text of a model that writes thinking and calls as text. */
  readonly content: ContentReader | undefined;
  /** The thinking and calls in it. */
  thought: string;
  textCalls: readonly ToolCallBlock[];
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

export function createChatState(
  service: Service,
  carriedFields: readonly string[],
  content?: ContentReader,
): ChatState {
  return {
    service,
    carriedFields,
    carried: {},
    seams: new TextSeams(),
    content,
    thought: "",
    textCalls: [],
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
  // In the form of vLLM.
  if (isObject(chunk) && String(chunk.object) === "error") throw serviceFault(chunk);
  state.usage = laterUsage(state.usage, chunk.usage);
  const choice = chunk.choices?.[0];
  if (!choice) return [];
  // Kimi's.
  if (isObject(choice)) state.usage = laterUsage(state.usage, choice.usage);
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
  const { seams } = state;
  const reasoning = delta.reasoning || delta.reasoning_content;
  if (reasoning) {
    seams.separate();
    state.reasoning += reasoning;
    state.reasoningField = delta.reasoning ? "reasoning" : "reasoning_content";
    events.push({ type: "reasoning-delta", text: reasoning });
  }
  if (Array.isArray(delta.reasoning_details)) {
    for (const detail of delta.reasoning_details) if (isObject(detail)) addDetail(state.details, detail);
  }
  if (delta.refusal) state.refusal += delta.refusal;
  const text = contentText(delta.content);
  const parts = state.content?.push(text) ?? [{ type: "text", text } as const];
  events.push(...showParts(state, parts));
  if (delta.refusal) events.push(...showText(state, delta.refusal));
  if (text !== "" && events.length === 0) events.push(contentSign);
  addCarried(state.carried, delta, state.carriedFields);
  for (const piece of delta.tool_calls ?? []) {
    seams.separate();
    addCarried(addCall(state.calls, piece).carried, piece, state.carriedFields);
    if (events.length === 0 && (piece.id || piece.function?.name || piece.function?.arguments))
      events.push(contentSign);
  }
  return events;
}

function showText(state: ChatState, text: string): ProviderEvent[] {
  const events = state.seams.show(text);
  for (const event of events) if (event.type === "text-delta") state.text += event.text;
  return events;
}

function showParts(state: ChatState, parts: readonly ContentPart[]): ProviderEvent[] {
  return parts.flatMap(({ type, text }) => {
    if (type === "text") return showText(state, text);
    state.seams.separate();
    if (type === "thinking") {
      state.thought += text;
      return [{ type: "reasoning-delta", text } as const];
    }
    state.thought += seamBetween(state.thought, state.text) + state.text;
    state.text = "";
    return [];
  });
}

/** Returns the events of text that was held back, once the end is known; calls within it are none if the service sent calls itself. */
export function flushChat(state: ChatState): ProviderEvent[] {
  const { content, finish, service, calls, refusal } = state;
  if (!content || finish === undefined) return [];
  const mayCall = refusal === "" && calls.length === 0 && !isFiltered(endReason(finish, service));
  const ended = content.end(mayCall);
  state.textCalls = ended.calls;
  return showParts(state, ended.parts);
}

function isFiltered(stop: StopReason): boolean {
  return stop === "refusal" || stop === "content-filter";
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

/** Returns the reply, once a finish reason was seen. */
export function finishChat(state: ChatState, model: string): ReplyEvent {
  if (state.finish === undefined) throw badReply(state.service, "ended before it was complete.");
  const stop: StopReason = state.refusal === "" ? endReason(state.finish, state.service) : "refusal";
  const content: AssistantMessage["content"][number][] = [];
  const { service, carried, calls } = state;
  if (state.reasoning !== "" || state.details.length > 0) content.push(toReasoning(state));
  // Beside the text, of which the model may have said nothing.
  if (Object.keys(carried).length > 0) content.push({ type: "reasoning", text: "", ...opaque(service, carried) });
  if (state.thought.trim() !== "") content.push(toThought(state));
  const text = state.thought === "" ? state.text : state.text.replace(/^\n+/, "");
  if (text !== "") content.push({ type: "text", text } satisfies TextBlock);
  const isLimited = stop === "token-limit" || stop === "context-limit";
  content.push(
    ...calls.map((call, at) => toCall(call, service, isLimited && at === calls.length - 1)),
    ...state.textCalls,
  );
  const detail = state.refusal || (stop === "content-filter" ? state.nativeFinish : undefined);
  return toReplyEvent({ content, stop, word: state.finish, model, detail, usage: state.usage }, state.service);
}

function toReasoning({ service, reasoning, reasoningField, details }: ChatState): ReasoningBlock {
  const data = details.length > 0 ? { reasoning_details: details } : { [reasoningField ?? "reasoning"]: reasoning };
  return { type: "reasoning", text: reasoning, ...opaque(service, data) };
}

/** Thinking in the text goes back there: templates of models cut it out by its tags. */
function toThought({ service, thought, content }: ChatState): ReasoningBlock {
  return { type: "reasoning", text: thought.trim(), ...opaque(service, { inContent: content?.thinkTags }) };
}

function opaque({ name }: Service, data: Carried): { opaque: OpaqueData } {
  return { opaque: { provider: name, data } };
}

function toCall({ id, name, args, carried }: CallState, service: Service, lastBeforeLimit: boolean): ToolCallBlock {
  const parsed = parseArguments(args);
  const cut = lastBeforeLimit && (parsed.malformed !== undefined || args === undefined || args === "");
  return {
    type: "tool-call",
    ...{ id, name },
    ...(cut ? { args: {}, malformed: cutOff } : parsed),
    ...(Object.keys(carried).length > 0 && opaque(service, carried)),
  };
}
