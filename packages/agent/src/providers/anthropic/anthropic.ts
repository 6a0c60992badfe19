import type Anthropic from "@anthropic-ai/sdk";
import type { MessageCreateParamsBase, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { openStream, openWhole } from "../shared/answer.ts";
import { debugRequest } from "../shared/debug.ts";
import { exchange, type Opened, type ReplyReducer } from "../shared/exchange.ts";
import { loadSdk, requireKey } from "../shared/loadSdk.ts";
import { defaultModels, priced } from "../shared/models.ts";
import {
  checkAddress,
  checkProviderOptions,
  environment,
  longestTimer,
  type ProviderOptions,
} from "../shared/options.ts";
import { pulsingFetch } from "../shared/pulse.ts";
import { clientKeys, secretsOf } from "../shared/secrets.ts";
import type { Service } from "../shared/wireErrors.ts";
import { remember } from "../shared/wireText.ts";
import {
  joinTurns,
  toAnthropicReasoning,
  toAnthropicSystem,
  toAnthropicTool,
  toAnthropicToolChoice,
  toAnthropicTurn,
} from "./mapping.ts";
import { anthropicEvents, createAnthropicState, finishAnthropic, reduceAnthropic } from "./reply.ts";

const keyVariable = "ANTHROPIC_API_KEY";
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
  readonly #options: AnthropicProviderOptions;
  readonly #service: Service;
  readonly #apiKey: string | undefined;
  readonly #author: string;
  readonly #turn = remember((message) => toAnthropicTurn(message, this.#author));
  #client: Promise<Pick<Anthropic, "messages">> | undefined;

  /** Throws `missing_key` when there is neither a key nor a client, `invalid_option` for an unknown option. */
  constructor(options: AnthropicProviderOptions = {}) {
    checkProviderOptions("AnthropicProvider", options);
    this.#options = options;
    this.model = options.model ?? defaultModels.anthropic;
    this.#author = `${this.name}/${this.model}`;
    const key = options.apiKey ?? environment(keyVariable);
    this.#apiKey = options.client ? undefined : requireKey("Anthropic", keyVariable, key);
    const baseURL = options.client?.baseURL ?? options.baseURL ?? environment("ANTHROPIC_BASE_URL");
    this.#service = {
      name: this.name,
      label: "Anthropic",
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

  #reducer(): ReplyReducer<RawMessageStreamEvent> {
    const state = createAnthropicState(this.#service);
    return {
      push: (event) => reduceAnthropic(state, event),
      isDone: () => state.done,
      end: () => priced(finishAnthropic(state, this.#author), this.#options.price),
    };
  }

  async #open(request: ModelRequest, signal: AbortSignal): Promise<Opened<RawMessageStreamEvent>> {
    const { client, stream = true } = this.#options;
    this.#client ??= client ? Promise.resolve(client as unknown as Anthropic) : this.#createClient();
    const { messages } = await this.#client;
    const body = this.#body(request);
    debugRequest(this.name, body, this.#service.secrets);
    // The SDK refuses a long reply without streaming unless it is given a limit.
    const options = { signal, maxRetries: 0, timeout: longestTimer };
    if (stream) return openStream(messages.create({ ...body, stream }, options), anthropicEvents, this.#service);
    return openWhole(messages.create({ ...body, stream }, options), anthropicEvents, this.#service);
  }

  async #createClient(): Promise<Anthropic> {
    checkAddress(this.#service.baseURL);
    const { default: Client } = await loadSdk("@anthropic-ai/sdk", () => import("@anthropic-ai/sdk"));
    const { baseURL, headers } = this.#options;
    return new Client({
      apiKey: this.#apiKey ?? null,
      authToken: null,
      ...(baseURL !== undefined && { baseURL }),
      defaultHeaders: { ...headers },
      fetch: pulsingFetch,
      maxRetries: 0,
      timeout: longestTimer,
      logLevel: "off",
    });
  }

  /**
   * The history comes last, and the cache point behind it is asked for at the top level, so that each request begins with
   * the whole of the one before, byte for byte.
   */
  #body({ systemPrompt, messages, tools, toolChoice }: ModelRequest): MessageCreateParamsBase {
    const { maxTokens = defaultMaxTokens, reasoning, extraBody } = this.#options;
    return {
      model: this.model,
      max_tokens: maxTokens,
      cache_control: { type: "ephemeral" },
      ...(reasoning !== undefined && toAnthropicReasoning(reasoning)),
      ...(systemPrompt !== "" && { system: toAnthropicSystem(systemPrompt) }),
      ...(tools.length > 0 && { tools: tools.map(toAnthropicTool) }),
      messages: joinTurns(messages.map(this.#turn)),
      ...(tools.length > 0 && toolChoice !== undefined && { tool_choice: toAnthropicToolChoice(toolChoice) }),
      ...extraBody,
    };
  }
}
