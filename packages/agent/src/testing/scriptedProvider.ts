import { isError } from "@toolcrib/core/internal";
import { AgentError } from "../errors.ts";
import type { AssistantMessage, Message, StopReason, Usage } from "../messages.ts";
import type { ModelRequest, Provider, ProviderEvent } from "../provider.ts";
import { abortedError } from "../requestClock.ts";

/** A reply in parts. */
export interface ScriptedParts {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly {
    readonly name: string;
    readonly args?: Record<string, unknown>;
    readonly id?: string;
    /** The fault of arguments that did not arrive whole. */
    readonly malformed?: string;
  }[];
  /** `tool-calls` with calls, else `stop`. */
  readonly stop?: StopReason;
  /** The service's words about that stop. */
  readonly detail?: string;
  readonly usage?: Partial<Usage>;
}

/** One reply: text, parts, an error to throw, events to yield as they are, or a function of the request. */
export type ScriptedReply =
  | string
  | ScriptedParts
  | Error
  | readonly ProviderEvent[]
  | ((request: ModelRequest) => ScriptedReply | Promise<ScriptedReply> | AsyncIterable<ProviderEvent>);

/** A provider whose replies are given in advance, to test an agent without a key. */
export class ScriptedProvider implements Provider {
  readonly name: string = "scripted";
  readonly model: string = "script";
  /** The requests so far, each with its own copy of the list of messages. */
  readonly requests: (Omit<ModelRequest, "messages"> & { readonly messages: readonly Message[] })[] = [];
  readonly #replies: ScriptedReply[];

  constructor(replies: readonly ScriptedReply[]) {
    this.#replies = [...replies];
  }

  async *send(request: ModelRequest): AsyncGenerator<ProviderEvent, void> {
    this.requests.push({ ...request, messages: [...request.messages] });
    let reply: ScriptedReply | AsyncIterable<ProviderEvent> | undefined = this.#replies.shift();
    while (typeof reply === "function") reply = await reply(request);
    if (request.signal.aborted) throw abortedError(request.signal);
    if (reply === undefined) {
      throw new AgentError({
        code: "invalid_request",
        message: `The script has no reply for request ${this.requests.length}; add one.`,
      });
    }
    if (isError(reply)) throw reply;
    if (typeof reply === "string") yield* eventsOf({ text: reply });
    else if (Symbol.iterator in reply || Symbol.asyncIterator in reply) yield* reply;
    else yield* eventsOf(reply, this.requests.length);
  }
}

function* eventsOf(parts: ScriptedParts, position = 0): Generator<ProviderEvent, void> {
  const { text = "", reasoning = "", calls = [], stop = calls.length > 0 ? "tool-calls" : "stop", usage } = parts;
  const content: AssistantMessage["content"][number][] = [];
  if (reasoning !== "") {
    yield { type: "reasoning-delta", text: reasoning };
    content.push({ type: "reasoning", text: reasoning });
  }
  for (const piece of text.match(/\s*\S+\s*/g) ?? []) yield { type: "text-delta", text: piece };
  if (text !== "") content.push({ type: "text", text });
  for (const [index, { name, args = {}, id = `scripted_${position}_${index}`, malformed }] of calls.entries()) {
    content.push({ type: "tool-call", id, name, args, ...(malformed === undefined ? {} : { malformed }) });
  }
  const message: AssistantMessage = { role: "assistant", content, model: "scripted/script" };
  const said = parts.detail === undefined ? {} : { detail: parts.detail };
  yield { type: "reply", message, stop, ...said, ...(usage && { usage: { ...nothing, ...usage } }) };
}

const nothing: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
