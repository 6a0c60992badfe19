import type OpenAI from "openai";
import type { ResponseCreateParams, ResponseStreamEvent } from "openai/resources/responses/responses";
import type { ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { openStream, openWhole } from "../shared/answer.ts";
import { debugRequest } from "../shared/debug.ts";
import { exchange, type Opened, type ReplyReducer } from "../shared/exchange.ts";
import { requireKey } from "../shared/loadSdk.ts";
import { defaultModels, priced } from "../shared/models.ts";
import { openaiClient } from "../shared/openaiClient.ts";
import { checkProviderOptions, environment, type ProviderOptions } from "../shared/options.ts";
import { clientKeys, secretsOf } from "../shared/secrets.ts";
import type { Service } from "../shared/wireErrors.ts";
import { remember, wellFormed } from "../shared/wireText.ts";
import { toResponsesItems, toResponsesTool, toResponsesToolChoice } from "./mapping.ts";
import { createResponsesState, finishResponses, reduceResponses, responsesEvents } from "./reply.ts";

const keyVariable = "OPENAI_API_KEY";

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
  readonly #options: OpenAIProviderOptions;
  readonly #service: Service;
  readonly #apiKey: string | undefined;
  readonly #author: string;
  readonly #items = remember((message) => toResponsesItems(message, this.#author));
  #client: Promise<OpenAI> | undefined;

  /** Throws `missing_key` when there is neither a key nor a client, `invalid_option` for an unknown option. */
  constructor(options: OpenAIProviderOptions = {}) {
    checkProviderOptions("OpenAIProvider", options);
    this.#options = options;
    this.model = options.model ?? defaultModels.openai;
    this.#author = `${this.name}/${this.model}`;
    const key = options.apiKey ?? environment(keyVariable);
    this.#apiKey = options.client ? undefined : requireKey("OpenAI", keyVariable, key);
    const baseURL = options.client?.baseURL ?? options.baseURL ?? environment("OPENAI_BASE_URL");
    this.#service = {
      name: this.name,
      label: "OpenAI",
      model: this.model,
      baseURL,
      keyVariable,
      secrets: secretsOf({ keys: [this.#apiKey, ...clientKeys(options.client)], headers: options.headers, baseURL }),
    };
  }

  send(request: ModelRequest): AsyncIterable<ProviderEvent> {
    const { timeoutMs, idleTimeoutMs } = this.#options;
    return exchange({
      service: this.#service,
      signal: request.signal,
      timeoutMs,
      idleTimeoutMs,
      reducer: this.#reducer(),
      open: (signal) => this.#open(request, signal),
    });
  }

  #reducer(): ReplyReducer<ResponseStreamEvent> {
    const state = createResponsesState(this.#service);
    return {
      push: (event) => reduceResponses(state, event),
      isDone: () => state.final !== undefined,
      end: () => priced(finishResponses(state, this.#author), this.#options.price),
    };
  }

  async #open(request: ModelRequest, signal: AbortSignal): Promise<Opened<ResponseStreamEvent>> {
    const { client, headers, stream = true } = this.#options;
    this.#client ??= client
      ? Promise.resolve(client as unknown as OpenAI)
      : openaiClient({ apiKey: this.#apiKey, baseURL: this.#service.baseURL, headers, foreign: false });
    const { responses } = await this.#client;
    const body = this.#body(request);
    debugRequest(this.name, body, this.#service.secrets);
    const options = { signal, maxRetries: 0 };
    if (stream) return openStream(responses.create({ ...body, stream }, options), responsesEvents, this.#service);
    return openWhole(responses.create({ ...body, stream }, options), responsesEvents, this.#service);
  }

  /** What differs from step to step comes last, so that each request begins with the whole history of the one before. */
  #body({ systemPrompt, messages, tools, toolChoice }: ModelRequest): ResponseCreateParams {
    const { maxTokens, reasoning, extraBody } = this.#options;
    return {
      model: this.model,
      store: false,
      include: ["reasoning.encrypted_content"],
      ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
      ...(reasoning !== undefined && {
        reasoning: { effort: reasoning, ...(reasoning !== "none" && { summary: "auto" }) },
      }),
      ...(systemPrompt !== "" && { instructions: wellFormed(systemPrompt) }),
      ...(tools.length > 0 && { tools: tools.map(toResponsesTool) }),
      input: messages.flatMap(this.#items),
      ...(tools.length > 0 && toolChoice !== undefined && { tool_choice: toResponsesToolChoice(toolChoice) }),
      ...extraBody,
    };
  }
}
