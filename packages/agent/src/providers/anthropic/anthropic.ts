import type Anthropic from "@anthropic-ai/sdk";
import type { Message, MessageCreateParamsBase, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import { longestDelayMs, toAnthropicTool } from "@toolcrib/core";
import type { ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { activityFetch } from "../shared/byteActivity.ts";
import { loadSdk } from "../shared/loadSdk.ts";
import { memoize } from "../shared/memoize.ts";
import { defaultModels } from "../shared/models.ts";
import { checkAddress, checkProviderOptions, environment, type ProviderOptions, serviceOf } from "../shared/options.ts";
import { createSend, type ReplyReducer, type Send } from "../shared/streamReply.ts";
import type { Service } from "../shared/wireErrors.ts";
import {
  joinTurns,
  toAnthropicReasoning,
  toAnthropicSystem,
  toAnthropicToolChoice,
  toAnthropicTurn,
} from "./mapping.ts";
import { anthropicEvents, createAnthropicState, finishAnthropic, reduceAnthropic } from "./reply.ts";

/** The wire requires a limit; every current model allows this one. */
const defaultMaxTokens = 32_000;

/**
 * What the provider needs of a client, by shape: those for Bedrock, Vertex and Foundry, of another major version or module
 * format have it too.
 */
export interface AnthropicClient {
  readonly baseURL: string;
  readonly messages: { create(...args: never[]): unknown };
}

export type AnthropicProviderOptions = ProviderOptions<AnthropicClient>;

/**
 * Models of Anthropic over the Messages API, with prompt caching: one cache point behind tools and system prompt, one at
 * the end of the conversation. Thinking goes back with its signatures. Key: `ANTHROPIC_API_KEY`; address:
 * `ANTHROPIC_BASE_URL`.
 */
export class AnthropicProvider implements Provider {
  readonly name = "anthropic";
  readonly model: string;
  readonly #send: Send;

  /** Throws `missing_key` when there is neither a key nor a client, `invalid_option` for an unknown option. */
  constructor(options: AnthropicProviderOptions = {}) {
    checkProviderOptions("AnthropicProvider", options);
    const { model = defaultModels.anthropic, baseURL = environment("ANTHROPIC_BASE_URL") } = options;
    this.model = model;
    const described = { name: this.name, label: "Anthropic", model, baseURL, keyVariable: "ANTHROPIC_API_KEY" };
    const { service, apiKey } = serviceOf(described, options);
    const author = `${this.name}/${model}`;
    this.#send = createSend(service, options, {
      createClient: () => createClient(apiKey, baseURL, options),
      toBody: createToBody(author, options),
      // The SDK refuses a long reply without streaming unless it is given a limit.
      post: (client: Pick<Anthropic, "messages">, body, signal) =>
        client.messages.create(body, { signal, maxRetries: 0, timeout: longestDelayMs }),
      toChunks: (message: Message) => anthropicEvents(message),
      createReducer: () => createReducer(service, author),
    });
  }

  send(request: ModelRequest): AsyncIterable<ProviderEvent> {
    return this.#send(request);
  }
}

function createReducer(service: Service, author: string): ReplyReducer<RawMessageStreamEvent> {
  const state = createAnthropicState(service);
  return {
    push: (event) => reduceAnthropic(state, event),
    isDone: () => state.done,
    end: () => finishAnthropic(state, author),
  };
}

async function createClient(
  apiKey: string | undefined,
  baseURL: string | undefined,
  { headers }: AnthropicProviderOptions,
): Promise<Anthropic> {
  checkAddress(baseURL);
  const { default: Client } = await loadSdk("@anthropic-ai/sdk", () => import("@anthropic-ai/sdk"));
  return new Client({
    apiKey: apiKey ?? null,
    authToken: null,
    ...(baseURL !== undefined && { baseURL }),
    defaultHeaders: { ...headers },
    fetch: activityFetch,
    maxRetries: 0,
    timeout: longestDelayMs,
    logLevel: "off",
  });
}

/**
 * The history comes last, and the cache point behind it is asked for at the top level, so that each request begins with
 * the whole of the one before, byte for byte.
 */
function createToBody(
  author: string,
  { model = defaultModels.anthropic, maxTokens = defaultMaxTokens, reasoning }: AnthropicProviderOptions,
): (request: ModelRequest) => MessageCreateParamsBase {
  const toTurn = memoize((message) => toAnthropicTurn(message, author));
  return ({ systemPrompt, messages, tools, toolChoice }) => ({
    model,
    max_tokens: maxTokens,
    cache_control: { type: "ephemeral" },
    ...(reasoning !== undefined && toAnthropicReasoning(reasoning)),
    ...(systemPrompt !== "" && { system: toAnthropicSystem(systemPrompt) }),
    ...(tools.length > 0 && { tools: tools.map(toAnthropicTool) }),
    messages: joinTurns(messages.map(toTurn)),
    ...(tools.length > 0 && toolChoice !== undefined && { tool_choice: toAnthropicToolChoice(toolChoice) }),
  });
}
