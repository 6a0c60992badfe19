import type OpenAI from "openai";
import type {
  ChatCompletion,
  ChatCompletionCreateParams,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { memoize } from "../../memoize.ts";
import type { Message } from "../../messages.ts";
import type { Abilities, ModelRequest } from "../../provider.ts";
import { ContentReader } from "../../textCalls/contentReader.ts";
import { OfferedTools } from "../../textCalls/endCalls.ts";
import { toAnswerFormat } from "../models/answerFormat.ts";
import { modelRules } from "../models/models.ts";
import { writesTextCalls } from "../models/openModels.ts";
import { acceptedToolChoice, canForce } from "../models/settings.ts";
import { openaiClient } from "../shared/openaiClient.ts";
import { noSupportedChanges, unchangedSince } from "../shared/opening.ts";
import { type ProviderOptions, type ServiceDescription, serviceOf } from "../shared/options.ts";
import { createSend, type Send } from "../shared/streamReply.ts";
import type { Compat } from "./compat.ts";
import { createLearned, type Learned, learnFrom, withToolAlone } from "./learned.ts";
import {
  type ChatAuthor,
  joinUserMessages,
  toChatMessage,
  toChatSystem,
  toChatToolChoice,
  toChatTools,
} from "./mapping.ts";
import { ChatReply, chatChunks } from "./reply.ts";

/** The members that a provider of chat completions uses of a client, by shape. */
export interface ChatClient {
  readonly baseURL: string;
  readonly chat: { readonly completions: { create(...args: never[]): unknown } };
}

/** Creates the `send` of a provider that speaks chat completions. Throws `missing_key`. */
export function createChatSend(
  described: ServiceDescription,
  compat: Compat,
  options: ProviderOptions<ChatClient>,
): Send {
  const { service, apiKey } = serviceOf(described, options);
  const { baseURL } = described;
  const author = { name: service.name, model: `${service.name}/${service.model}` };
  const learned = createLearned(compat);
  const { textCalls = writesTextCalls(service.model) } = compat;
  const toBody = createToBody(author, service.model, { compat, learned }, options);
  return createSend(service, options, {
    createClient: () => openaiClient({ ...options, apiKey, baseURL, foreign: true }),
    toBody: (request) => (learned.namedTool ? toBody(request) : withToolAlone(toBody(request))),
    again: { toBody: (body, failure) => learnFrom(learned, body, failure) },
    post: (client: OpenAI, body, signal) => client.chat.completions.create(body, { signal, maxRetries: 0 }),
    toChunks: (completion: ChatCompletion) => chatChunks(completion),
    createReducer: ({ tools, toolChoice }) => {
      const offered = toolChoice === "none" ? [] : tools;
      const content = textCalls ? new ContentReader(new OfferedTools(offered)) : undefined;
      return new ChatReply(service, author.model, compat.carriedFields, content);
    },
  });
}

/** Returns what a model behind a server can be asked for. */
export function chatAbilities(
  described: Pick<ServiceDescription, "name" | "model">,
  { answerFormat }: Compat,
  { reasoning }: ProviderOptions<ChatClient>,
): Abilities {
  return {
    forcedTools: canForce(modelRules(described), reasoning),
    answersBy: (schema) => answerFormat && toAnswerFormat(schema) !== undefined,
  };
}

/** Builds the body. Parts that differ from step to step come last, so that each request begins with the whole history of the one before. */
function createToBody(
  author: ChatAuthor,
  model: string,
  { compat, learned }: { readonly compat: Compat; readonly learned: Learned },
  { maxTokens, reasoning, stream = true }: ProviderOptions<ChatClient>,
): (request: ModelRequest) => ChatCompletionCreateParams {
  const toWire = memoize((message: Message) => toChatMessage(message, author, compat));
  const toPlain = memoize((message: Message) => toChatMessage(message, author, { ...compat, replayReasoning: false }));
  const rules = modelRules({ name: author.name, model });
  const mayForce = canForce(rules, reasoning);
  const toMessages = (request: ModelRequest): ChatCompletionMessageParam[] => {
    const since = rules?.bindsThinking ? unchangedSince(request, noSupportedChanges) : 0;
    const messages = request.messages.map((message, index) => (index < since ? toPlain(message) : toWire(message)));
    return compat.joinUserMessages ? joinUserMessages(messages) : messages;
  };
  return (request) => {
    const { systemPrompt, tools, toolChoice, answerSchema } = request;
    const format = compat.answerFormat && answerSchema ? toAnswerFormat(answerSchema) : undefined;
    return {
      model,
      ...compat.body,
      ...(stream && learned.streamUsage && { stream_options: { include_usage: true } }),
      ...(maxTokens !== undefined && { [learned.maxTokensField]: maxTokens }),
      ...(reasoning !== undefined &&
        (compat.effortField === "reasoning" ? { reasoning: { effort: reasoning } } : { reasoning_effort: reasoning })),
      ...(tools.length > 0 && { tools: toChatTools(tools, compat) }),
      messages: [...(systemPrompt === "" ? [] : [toChatSystem(systemPrompt)]), ...toMessages(request)],
      ...(tools.length > 0 &&
        toolChoice !== undefined && { tool_choice: toChatToolChoice(acceptedToolChoice(toolChoice, mayForce)) }),
      ...(format && { response_format: { type: "json_schema", json_schema: { name: "answer", ...format } } }),
    };
  };
}
