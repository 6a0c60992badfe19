import { toOpenAIResponsesTool } from "@toolcrib/core";
import type OpenAI from "openai";
import type { Response, ResponseCreateParams, ResponseStreamEvent } from "openai/resources/responses/responses";
import type { ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { memoize } from "../shared/memoize.ts";
import { defaultModels } from "../shared/models.ts";
import { openaiClient } from "../shared/openaiClient.ts";
import { checkProviderOptions, environment, type ProviderOptions, serviceOf } from "../shared/options.ts";
import { createSend, type ReplyReducer, type Send } from "../shared/streamReply.ts";
import type { Service } from "../shared/wireErrors.ts";
import { wellFormed } from "../shared/wireText.ts";
import { toResponsesItems, toResponsesToolChoice } from "./mapping.ts";
import { createResponsesState, finishResponses, reduceResponses, responsesEvents } from "./reply.ts";

/** What the provider needs of a client, by shape: clients of another major version or module format have it too. */
export interface OpenAIClient {
  readonly baseURL: string;
  readonly responses: { create(...args: never[]): unknown };
}

export type OpenAIProviderOptions = ProviderOptions<OpenAIClient>;

/**
 * Models of OpenAI over the Responses API, stateless: nothing is stored at the service, and every request replays the
 * items in order, encrypted reasoning included. Key: `OPENAI_API_KEY`; address: `OPENAI_BASE_URL`.
 */
export class OpenAIProvider implements Provider {
  readonly name = "openai";
  readonly model: string;
  readonly #send: Send;

  /** Throws `missing_key` when there is neither a key nor a client, `invalid_option` for an unknown option. */
  constructor(options: OpenAIProviderOptions = {}) {
    checkProviderOptions("OpenAIProvider", options);
    const { model = defaultModels.openai, baseURL = environment("OPENAI_BASE_URL"), headers } = options;
    this.model = model;
    const described = { name: this.name, label: "OpenAI", model, baseURL, keyVariable: "OPENAI_API_KEY" };
    const { service, apiKey } = serviceOf(described, options);
    const author = `${this.name}/${model}`;
    this.#send = createSend(service, options, {
      createClient: () => openaiClient({ apiKey, baseURL, headers, foreign: false }),
      toBody: createToBody(author, options),
      post: (client: OpenAI, body, signal) => client.responses.create(body, { signal, maxRetries: 0 }),
      toChunks: (response: Response) => responsesEvents(response),
      createReducer: () => createReducer(service, author),
    });
  }

  send(request: ModelRequest): AsyncIterable<ProviderEvent> {
    return this.#send(request);
  }
}

function createReducer(service: Service, author: string): ReplyReducer<ResponseStreamEvent> {
  const state = createResponsesState(service);
  return {
    push: (event) => reduceResponses(state, event),
    isDone: () => state.final !== undefined,
    end: () => finishResponses(state, author),
  };
}

/** What differs from step to step comes last, so that each request begins with the whole history of the one before. */
function createToBody(
  author: string,
  { model = defaultModels.openai, maxTokens, reasoning }: OpenAIProviderOptions,
): (request: ModelRequest) => ResponseCreateParams {
  const toItems = memoize((message) => toResponsesItems(message, author));
  return ({ systemPrompt, messages, tools, toolChoice }) => ({
    model,
    store: false,
    include: ["reasoning.encrypted_content"],
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(reasoning !== undefined && {
      reasoning: { effort: reasoning, ...(reasoning !== "none" && { summary: "auto" }) },
    }),
    ...(systemPrompt !== "" && { instructions: wellFormed(systemPrompt) }),
    ...(tools.length > 0 && { tools: tools.map(toOpenAIResponsesTool) }),
    input: messages.flatMap(toItems),
    ...(tools.length > 0 && toolChoice !== undefined && { tool_choice: toResponsesToolChoice(toolChoice) }),
  });
}
