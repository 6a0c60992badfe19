import { isObject } from "@toolcrib/core/text";
import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import { cutOff, parseArguments } from "../../conversation/parseArguments.ts";
import type { AssistantMessage, OpaqueData, ReasoningBlock, StopReason, ToolCallBlock, Usage } from "../../messages.ts";
import type { ProviderEvent, ReplyEvent } from "../../provider.ts";
import type { ContentPart, ContentReader } from "../../textCalls/contentReader.ts";
import { contentSign, seamBetween, TextSeams } from "../../textSeams.ts";
import { endReason } from "../errors/endWords.ts";
import { badReply, type Service, serviceFault } from "../errors/wireErrors.ts";
import { type ReplyReducer, toReplyEvent } from "../shared/streamReply.ts";
import { addCall, type CallState } from "./calls.ts";
import { addCarried, type Carried } from "./carried.ts";
import { laterUsage } from "./usage.ts";

type Delta = ChatCompletionChunk.Choice.Delta;
/** The fields in which servers put reasoning beside the standard ones. */
type Reasoning = { reasoning?: string | null; reasoning_content?: string | null; reasoning_details?: unknown };

/** A reply of chat completions, as its chunks come. `author`: `provider/model`. */
export class ChatReply implements ReplyReducer<ChatCompletionChunk> {
  readonly #service: Service;
  readonly #author: string;
  /** The fields beside the standard ones that go back with a message and its calls. */
  readonly #carriedFields: readonly string[];
  readonly #carried: Carried = {};
  readonly #seams = new TextSeams();
  /** Splits the text of a model that writes thinking and calls as text. */
  readonly #content: ContentReader | undefined;
  #thought = "";
  #textCalls: readonly ToolCallBlock[] = [];
  #text = "";
  #refusal = "";
  #reasoning = "";
  #reasoningField: "reasoning" | "reasoning_content" = "reasoning";
  /** OpenRouter's reasoning blocks, to be sent back unchanged. */
  readonly #details: Record<string, unknown>[] = [];
  readonly #calls: CallState[] = [];
  #finish: string | undefined;
  /** The finish reason of the service behind a gateway. */
  #nativeFinish: string | undefined;
  #usage: Usage | undefined;
  /** The usage may come after the finish, so only the end of the stream is the end. */
  readonly isDone = false;

  constructor(service: Service, author: string, carriedFields: readonly string[], content?: ContentReader) {
    this.#service = service;
    this.#author = author;
    this.#carriedFields = carriedFields;
    this.#content = content;
  }

  push(chunk: ChatCompletionChunk): ProviderEvent[] {
    const fault = isObject(chunk) ? chunk.error : undefined;
    if (fault) throw serviceFault(fault);
    // In the form of vLLM.
    if (isObject(chunk) && String(chunk.object) === "error") throw serviceFault(chunk);
    this.#usage = laterUsage(this.#usage, chunk.usage);
    const choice = chunk.choices?.[0];
    if (!choice) return [];
    const { usage, error, native_finish_reason: native } = choice as typeof choice & Record<string, unknown>;
    // Kimi's.
    this.#usage = laterUsage(this.#usage, usage);
    if (error) throw serviceFault(error);
    const events = choice.delta ? this.#pushDelta(choice.delta) : [];
    if (choice.finish_reason) this.#finish = choice.finish_reason;
    if (typeof native === "string") this.#nativeFinish = native;
    return events;
  }

  #pushDelta(delta: Delta & Reasoning): ProviderEvent[] {
    const events: ProviderEvent[] = [];
    const reasoning = delta.reasoning || delta.reasoning_content;
    if (reasoning) {
      this.#seams.separate();
      this.#reasoning += reasoning;
      this.#reasoningField = delta.reasoning ? "reasoning" : "reasoning_content";
      events.push({ type: "reasoning-delta", text: reasoning });
    }
    if (Array.isArray(delta.reasoning_details)) {
      for (const detail of delta.reasoning_details) if (isObject(detail)) addDetail(this.#details, detail);
    }
    if (delta.refusal) this.#refusal += delta.refusal;
    const text = contentText(delta.content);
    events.push(...this.#showParts(this.#content?.push(text) ?? [{ type: "text", text }]));
    if (delta.refusal) events.push(...this.#showText(delta.refusal));
    if (text !== "" && events.length === 0) events.push(contentSign);
    addCarried(this.#carried, delta, this.#carriedFields);
    for (const piece of delta.tool_calls ?? []) {
      this.#seams.separate();
      addCarried(addCall(this.#calls, piece).carried, piece, this.#carriedFields);
      if (events.length === 0 && (piece.id || piece.function?.name || piece.function?.arguments))
        events.push(contentSign);
    }
    return events;
  }

  #showText(text: string): ProviderEvent[] {
    const events = this.#seams.show(text);
    for (const event of events) if (event.type === "text-delta") this.#text += event.text;
    return events;
  }

  #showParts(parts: readonly ContentPart[]): ProviderEvent[] {
    return parts.flatMap(({ type, text }) => {
      if (type === "text") return this.#showText(text);
      this.#seams.separate();
      if (type === "thinking") {
        this.#thought += text;
        return [{ type: "reasoning-delta", text } as const];
      }
      this.#thought += seamBetween(this.#thought, this.#text) + this.#text;
      this.#text = "";
      return [];
    });
  }

  /** Calls within text that was held back are none if the service sent calls itself. */
  flush(): ProviderEvent[] {
    if (!this.#content || this.#finish === undefined) return [];
    const stop = endReason(this.#finish, this.#service);
    const isWhole = this.#refusal === "" && stop !== "refusal" && stop !== "content-filter";
    const ended = this.#content.end(isWhole && this.#calls.length === 0);
    this.#textCalls = ended.calls;
    return this.#showParts(ended.parts);
  }

  end(): ReplyEvent {
    const service = this.#service;
    const calls = this.#calls;
    const word = this.#finish;
    if (word === undefined) throw badReply(service, "ended before it was complete.");
    const stop: StopReason = this.#refusal === "" ? endReason(word, service) : "refusal";
    const isLimited = stop === "token-limit" || stop === "context-limit";
    const text = this.#thought === "" ? this.#text : this.#text.replace(/^\n+/, "");
    const content: AssistantMessage["content"] = [
      ...this.#reasonings(),
      ...(text === "" ? [] : [{ type: "text", text } as const]),
      ...calls.map((call, at) => toCall(call, service, isLimited && at === calls.length - 1)),
      ...this.#textCalls,
    ];
    const detail = this.#refusal || (stop === "content-filter" ? this.#nativeFinish : undefined);
    return toReplyEvent({ content, stop, word, model: this.#author, detail, usage: this.#usage }, service);
  }

  #reasonings(): ReasoningBlock[] {
    const reasoning = (text: string, data: Carried): ReasoningBlock => {
      return { type: "reasoning", text, ...opaque(this.#service, data) };
    };
    const blocks: ReasoningBlock[] = [];
    if (this.#details.length > 0) blocks.push(reasoning(this.#reasoning, { reasoning_details: this.#details }));
    else if (this.#reasoning !== "")
      blocks.push(reasoning(this.#reasoning, { [this.#reasoningField]: this.#reasoning }));
    // Beside the text, of which the model may have said nothing.
    if (Object.keys(this.#carried).length > 0) blocks.push(reasoning("", this.#carried));
    const thought = this.#thought.trim();
    // Thinking in the text goes back there: templates of models cut it out by its tags.
    if (thought !== "") blocks.push(reasoning(thought, { inContent: this.#content?.thinkTags }));
    return blocks;
  }
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
