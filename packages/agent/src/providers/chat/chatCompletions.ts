import type OpenAI from "openai";
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParams,
} from "openai/resources/chat/completions";
import type { ModelRequest } from "../../provider.ts";
import { memoize } from "../shared/memoize.ts";
import { openaiClient } from "../shared/openaiClient.ts";
import { type ProviderOptions, type ServiceDescription, serviceOf } from "../shared/options.ts";
import { createSend, type ReplyReducer, type Send } from "../shared/streamReply.ts";
import type { Service } from "../shared/wireErrors.ts";
import type { Compat } from "./compat.ts";
import { type ChatAuthor, toChatMessage, toChatSystem, toChatTool, toChatToolChoice } from "./mapping.ts";
import { chatChunks, createChatState, finishChat, reduceChat } from "./reply.ts";

/** What a provider of chat completions needs of a client, by shape. */
export interface ChatClient {
  readonly baseURL: string;
  readonly chat: { readonly completions: { create(...args: never[]): unknown } };
}

/** The `send` of a provider that speaks chat completions. Throws `missing_key`. */
export function createChatSend(
  described: ServiceDescription,
  compat: Compat,
  options: ProviderOptions<ChatClient>,
): Send {
  const { service, apiKey } = serviceOf(described, options);
  const { baseURL } = described;
  const author = { name: service.name, model: `${service.name}/${service.model}` };
  return createSend(service, options, {
    createClient: () => openaiClient({ apiKey, baseURL, headers: options.headers, foreign: true }),
    toBody: createToBody(author, service.model, compat, options),
    post: (client: OpenAI, body, signal) => client.chat.completions.create(body, { signal, maxRetries: 0 }),
    toChunks: (completion: ChatCompletion) => chatChunks(completion),
    createReducer: () => createReducer(service, author.model),
  });
}

function createReducer(service: Service, author: string): ReplyReducer<ChatCompletionChunk> {
  const state = createChatState(service);
  return {
    push: (chunk) => reduceChat(state, chunk),
    // The usage may come after the finish, so only the end of the stream is the end.
    isDone: () => false,
    end: () => finishChat(state, author),
  };
}

/** What differs from step to step comes last, so that each request begins with the whole history of the one before. */
function createToBody(
  author: ChatAuthor,
  model: string,
  compat: Compat,
  { maxTokens, reasoning, stream = true }: ProviderOptions<ChatClient>,
): (request: ModelRequest) => ChatCompletionCreateParams {
  const toWire = memoize((message) => toChatMessage(message, author, compat));
  return ({ systemPrompt, messages, tools, toolChoice }) => ({
    model,
    ...compat.body,
    ...(stream && compat.streamUsage && { stream_options: { include_usage: true } }),
    ...(maxTokens !== undefined && { [compat.maxTokensField]: maxTokens }),
    ...(reasoning !== undefined &&
      (compat.effortField === "reasoning" ? { reasoning: { effort: reasoning } } : { reasoning_effort: reasoning })),
    ...(tools.length > 0 && { tools: tools.map((tool) => toChatTool(tool, compat)) }),
    messages: [...(systemPrompt === "" ? [] : [toChatSystem(systemPrompt)]), ...messages.map(toWire)],
    ...(tools.length > 0 && toolChoice !== undefined && { tool_choice: toChatToolChoice(toolChoice) }),
  });
}
