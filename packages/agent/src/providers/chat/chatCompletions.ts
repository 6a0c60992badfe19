import type OpenAI from "openai";
import type { ChatCompletionChunk, ChatCompletionCreateParams } from "openai/resources/chat/completions";
import type { ModelRequest, ProviderEvent } from "../../provider.ts";
import { openStream, openWhole } from "../shared/answer.ts";
import { debugRequest } from "../shared/debug.ts";
import { exchange, type Opened, type ReplyReducer } from "../shared/exchange.ts";
import { priced } from "../shared/models.ts";
import { openaiClient } from "../shared/openaiClient.ts";
import type { ProviderOptions } from "../shared/options.ts";
import type { Service } from "../shared/wireErrors.ts";
import { remember } from "../shared/wireText.ts";
import type { Compat } from "./compat.ts";
import { toChatMessage, toChatSystem, toChatTool, toChatToolChoice } from "./mapping.ts";
import { chatChunks, createChatState, finishChat, reduceChat } from "./reply.ts";

/** What a provider of chat completions needs of a client, by shape. */
export interface ChatClient {
  readonly baseURL: string;
  readonly chat: { readonly completions: { create(...args: never[]): unknown } };
}

/** What tells one server of chat completions from another. */
export interface ChatServer {
  readonly service: Service;
  readonly apiKey: string | undefined;
  readonly baseURL: string;
  readonly compat: Compat;
  readonly options: ProviderOptions<ChatClient>;
}

/** The `send` of a provider that speaks chat completions. */
export function createChatSend(server: ChatServer): (request: ModelRequest) => AsyncIterable<ProviderEvent> {
  const { service, compat, options, apiKey, baseURL } = server;
  const author = { name: service.name, model: `${service.name}/${service.model}` };
  const toWire = remember((message) => toChatMessage(message, author, compat));
  let client: Promise<OpenAI> | undefined;

  function reducer(): ReplyReducer<ChatCompletionChunk> {
    const state = createChatState(service);
    return {
      push: (chunk) => reduceChat(state, chunk),
      // The usage may come behind the finish, so only the end of the stream is the end.
      isDone: () => false,
      end: () => priced(finishChat(state, author.model), options.price),
    };
  }

  /** What differs from step to step comes last, so that each request begins with the whole history of the one before. */
  function body({ systemPrompt, messages, tools, toolChoice }: ModelRequest): ChatCompletionCreateParams {
    const { maxTokens, reasoning, extraBody, stream = true } = options;
    const system = systemPrompt === "" ? [] : [toChatSystem(systemPrompt)];
    return {
      model: service.model,
      ...compat.body,
      ...(stream && compat.streamUsage && { stream_options: { include_usage: true } }),
      ...(maxTokens !== undefined && { [compat.maxTokensField]: maxTokens }),
      ...(reasoning !== undefined &&
        (compat.effortField === "reasoning" ? { reasoning: { effort: reasoning } } : { reasoning_effort: reasoning })),
      ...(tools.length > 0 && { tools: tools.map((tool) => toChatTool(tool, compat)) }),
      messages: [...system, ...messages.map(toWire)],
      ...(tools.length > 0 && toolChoice !== undefined && { tool_choice: toChatToolChoice(toolChoice) }),
      ...extraBody,
    };
  }

  async function open(request: ModelRequest, signal: AbortSignal): Promise<Opened<ChatCompletionChunk>> {
    const { headers, stream = true } = options;
    client ??= options.client
      ? Promise.resolve(options.client as unknown as OpenAI)
      : openaiClient({ apiKey, baseURL, headers, foreign: true });
    const { completions } = (await client).chat;
    const params = body(request);
    debugRequest(service.name, params, service.secrets);
    const call = { signal, maxRetries: 0 };
    if (stream) return openStream(completions.create({ ...params, stream }, call), chatChunks, service);
    return openWhole(completions.create({ ...params, stream }, call), chatChunks, service);
  }

  return (request) => {
    const { timeoutMs, idleTimeoutMs } = options;
    const { signal } = request;
    return exchange({
      service,
      signal,
      timeoutMs,
      idleTimeoutMs,
      reducer: reducer(),
      open: (own) => open(request, own),
    });
  };
}
