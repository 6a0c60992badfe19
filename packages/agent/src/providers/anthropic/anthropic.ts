import type Anthropic from "@anthropic-ai/sdk";
import type {
  Message,
  MessageCreateParamsBase,
  MessageParam,
  RawMessageStreamEvent,
  ToolUnion,
  ToolChoice as WireToolChoice,
} from "@anthropic-ai/sdk/resources/messages";
import { longestDelayMs, toAnthropicTool } from "@toolcrib/core";
import type { AssistantMessage } from "../../messages.ts";
import { checkKind } from "../../options.ts";
import type { ModelRequest, Provider, ProviderEvent, ReplyEvent, ToolChoice } from "../../provider.ts";
import { activityFetch } from "../shared/byteActivity.ts";
import { loadSdk } from "../shared/loadSdk.ts";
import { memoize } from "../shared/memoize.ts";
import { defaultModels } from "../shared/models.ts";
import { checkAddress, checkProviderOptions, environment, type ProviderOptions, serviceOf } from "../shared/options.ts";
import { createSend, type ReplyReducer, type Send } from "../shared/streamReply.ts";
import type { Service } from "../shared/wireErrors.ts";
import { replyThatInserts } from "./insertText.ts";
import {
  joinTurns,
  toAnthropicReasoning,
  toAnthropicSystem,
  toAnthropicToolChoice,
  toAnthropicTurn,
} from "./mapping.ts";
import { fromNativeReply, toNativeToolChoice, toNativeTools } from "./nativeTools.ts";
import { createNativeMapping } from "./nativeTurns.ts";
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

export interface AnthropicProviderOptions extends ProviderOptions<AnthropicClient> {
  /**
   * Offers tools in the forms that Anthropic's models are trained on: `read_file`, `write_file` and `edit_file` as the text editor, `run_bash`
   * as bash, deferred tools as deferred. Default false.
   */
  readonly nativeTools?: boolean | undefined;
}

/**
 * Models of Anthropic over the Messages API, with prompt caching: one cache point behind tools and system prompt, one at
 * the end of the conversation. Thinking goes back with its signatures. Key: `ANTHROPIC_API_KEY`; address:
 * `ANTHROPIC_BASE_URL`.
 */
export class AnthropicProvider implements Provider {
  readonly name = "anthropic";
  readonly model: string;
  readonly #send: Send;
  /** `provider/model`, where native tools are on. */
  readonly #nativeAuthor: string | undefined;

  /** Throws `missing_key` when there is neither a key nor a client, `invalid_option` for an unknown option. */
  constructor(options: AnthropicProviderOptions = {}) {
    checkProviderOptions("AnthropicProvider", options, { nativeTools: true });
    checkKind("nativeTools", options.nativeTools, "boolean");
    const { model = defaultModels.anthropic, baseURL = environment("ANTHROPIC_BASE_URL") } = options;
    this.model = model;
    const described = { name: this.name, label: "Anthropic", model, baseURL, keyVariable: "ANTHROPIC_API_KEY" };
    const { service, apiKey } = serviceOf(described, options);
    const author = `${this.name}/${model}`;
    this.#nativeAuthor = options.nativeTools ? author : undefined;
    this.#send = createSend(service, options, {
      createClient: () => createClient(apiKey, baseURL, options),
      toBody: createToBody(author, options),
      // The SDK refuses a long reply without streaming unless it is given a limit.
      post: (client: Pick<Anthropic, "messages">, body, signal) =>
        client.messages.create(body, { signal, maxRetries: 0, timeout: longestDelayMs }),
      toChunks: (message: Message) => anthropicEvents(message),
      createReducer: (request) =>
        createReducer(service, author, options.nativeTools ? (reply) => fromNativeReply(reply, request) : undefined),
    });
  }

  send(request: ModelRequest): AsyncIterable<ProviderEvent> {
    const insertion = this.#nativeAuthor && replyThatInserts(request.messages, this.#nativeAuthor);
    return insertion ? only(insertion) : this.#send(request);
  }
}

async function* only(reply: ReplyEvent): AsyncGenerator<ProviderEvent> {
  yield reply;
}

function createReducer(
  service: Service,
  author: string,
  fromWire: (message: AssistantMessage) => AssistantMessage = (message) => message,
): ReplyReducer<RawMessageStreamEvent> {
  const state = createAnthropicState(service);
  return {
    push: (event) => reduceAnthropic(state, event),
    isDone: () => state.done,
    end: () => {
      const reply = finishAnthropic(state, author);
      return { ...reply, message: fromWire(reply.message) };
    },
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
  { model = defaultModels.anthropic, maxTokens = defaultMaxTokens, reasoning, nativeTools }: AnthropicProviderOptions,
): (request: ModelRequest) => MessageCreateParamsBase {
  const toWire = nativeTools ? createNativeWire(author) : createPlainWire(author);
  return (request) => {
    const { systemPrompt, tools, toolChoice } = request;
    const wire = toWire(request);
    return {
      model,
      max_tokens: maxTokens,
      cache_control: { type: "ephemeral" },
      ...(reasoning !== undefined && toAnthropicReasoning(reasoning)),
      ...(systemPrompt !== "" && { system: toAnthropicSystem(systemPrompt) }),
      ...(wire.tools.length > 0 && { tools: wire.tools }),
      messages: wire.messages,
      ...(tools.length > 0 && toolChoice !== undefined && { tool_choice: wire.toToolChoice(toolChoice, request) }),
    };
  };
}

/** The parts of a body in which native tools differ. */
interface WireParts {
  readonly tools: ToolUnion[];
  readonly messages: MessageParam[];
  toToolChoice(choice: ToolChoice, request: ModelRequest): WireToolChoice;
}

function createPlainWire(author: string): (request: ModelRequest) => WireParts {
  const toTurn = memoize((message) => toAnthropicTurn(message, author));
  return ({ messages, tools }) => ({
    tools: tools.map(toAnthropicTool),
    messages: joinTurns(messages.map(toTurn)),
    toToolChoice: toAnthropicToolChoice,
  });
}

function createNativeWire(author: string): (request: ModelRequest) => WireParts {
  const toMessages = createNativeMapping(author);
  return (request) => {
    const { messages, referenced } = toMessages(request);
    return { tools: toNativeTools(request, referenced), messages, toToolChoice: toNativeToolChoice };
  };
}
