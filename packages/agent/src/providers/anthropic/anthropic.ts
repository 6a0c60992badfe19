import type Anthropic from "@anthropic-ai/sdk";
import type { Message, MessageCreateParams, MessageCreateParamsBase } from "@anthropic-ai/sdk/resources/messages";
import { longestDelayMs, option } from "@toolcrib/core/internal";
import type { Abilities, ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { abilitiesOf } from "../models/answerFormat.ts";
import type { CacheTtl, ModelRules } from "../models/modelRules.ts";
import { defaultModels, modelRules } from "../models/models.ts";
import { acceptedToolChoice } from "../models/settings.ts";
import { loadSdk } from "../shared/loadSdk.ts";
import { noSupportedChanges } from "../shared/opening.ts";
import {
  checkAddress,
  checkProviderOptions,
  environment,
  type ProviderOptions,
  serviceOf,
  takesFullApi,
} from "../shared/options.ts";
import { activityFetch } from "../shared/serviceFetch.ts";
import { createSend, type Send } from "../shared/streamReply.ts";
import { changeBetas, createToConversation } from "./conversation.ts";
import { toAnthropicSystem, toAnthropicToolChoice, type WireMessage, withEarlierCachePoint } from "./mapping.ts";
import { AnthropicReply, anthropicEvents } from "./reply.ts";
import {
  type AnthropicFields,
  anthropicFields,
  betaHeaders,
  type ThinkingDisplay,
  toOutputConfig,
} from "./settings.ts";
import {
  afterEarlierMismatch,
  afterRefusal,
  dropChanged,
  markThinkingDropped,
  thinkingToDrop,
  withoutThinking,
} from "./thinkingBinding.ts";

/** The members that the provider uses, by shape: clients for Bedrock, Vertex and Foundry, and of other versions, have them too. */
interface AnthropicClient {
  readonly baseURL: string;
  readonly messages: { create(...args: never[]): unknown };
}

export interface AnthropicProviderOptions extends ProviderOptions<AnthropicClient> {
  /**
   * The part of the model's thinking to show: all of it `summarized`, or only its `updates` between calls. Default: updates where the model
   * has them, if the address takes the whole API; with `reasoning` summarized elsewhere.
   */
  readonly display?: ThinkingDisplay | undefined;
  /** Default 5 minutes. An hour costs more to write, and pays where a user takes longer to answer. */
  readonly cacheTtl?: CacheTtl | undefined;
}

/**
 * Models of Anthropic over the Messages API, with prompt caching: one cache point behind tools and system prompt, one at
 * the end of the conversation. Thinking goes back with its signatures. Key: `ANTHROPIC_API_KEY`; address:
 * `ANTHROPIC_BASE_URL`.
 */
export class AnthropicProvider implements Provider {
  readonly name = "anthropic";
  readonly model: string;
  readonly abilities: Abilities;
  readonly #send: Send;

  /** Throws `missing_key` when there is neither a key nor a client, `invalid_option` for an unknown option. */
  constructor(options: AnthropicProviderOptions = {}) {
    checkProviderOptions("AnthropicProvider", options, {
      display: option.text,
      cacheTtl: option.text,
    });
    const { model = defaultModels.anthropic, baseURL = environment("ANTHROPIC_BASE_URL") } = options;
    this.model = model;
    const described = { name: this.name, label: "Anthropic", model, baseURL, keyVariable: "ANTHROPIC_API_KEY" };
    const { service, apiKey } = serviceOf(described, options);
    const author = `${this.name}/${model}`;
    const isFull = takesFullApi("https://api.anthropic.com", baseURL, options);
    const rules = modelRules({ name: this.name, model }, !isFull);
    const fields = anthropicFields({ ...options, model }, rules, isFull);
    this.abilities = abilitiesOf(rules, fields.canForce, isFull);
    this.#send = createSend(service, options, {
      createClient: () => createClient(apiKey, baseURL, options),
      toBody: createToBody({
        author,
        model,
        fields,
        rules: isFull ? rules : undefined,
        bindsThinking: rules?.bindsThinking === true,
      }),
      post: (client: Pick<Anthropic, "messages">, body, signal) => post(client, body, signal, options.headers),
      again: {
        toBody: (body, failure) => afterRefusal(body, failure, isFull),
        toReply: (reply, body) => ({ ...reply, message: markThinkingDropped(reply.message, body) }),
      },
      toChunks: (message: Message) => anthropicEvents(message),
      createReducer: () => new AnthropicReply(service, author),
      // The service shows only what is meant for the user.
      toShown: (event) => (fields.hasNotes && event.type === "reasoning-delta" ? { ...event, isNote: true } : event),
    });
  }

  send(request: ModelRequest): AsyncIterable<ProviderEvent> {
    return this.#send(request);
  }
}

async function createClient(
  apiKey: string | undefined,
  baseURL: string | undefined,
  { headers, loadSdk: own }: AnthropicProviderOptions,
): Promise<Anthropic> {
  checkAddress(baseURL);
  const { default: Client } = await loadSdk("@anthropic-ai/sdk", () => import("@anthropic-ai/sdk"), own);
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

/** Sends a body; its betas go into a header. */
function post(
  client: Pick<Anthropic, "messages">,
  { betas, isForeign: _, ...body }: Body & { readonly stream: boolean },
  signal: AbortSignal,
  headers: AnthropicProviderOptions["headers"],
): ReturnType<Anthropic["messages"]["create"]> {
  // The SDK refuses a long reply without streaming unless it is given a limit.
  const settings = { signal, maxRetries: 0, timeout: longestDelayMs, ...betaHeaders(betas, headers) };
  // The types of system messages and their blocks are in the SDK's beta namespace alone.
  return client.messages.create(body as unknown as MessageCreateParams, settings);
}

type Body = Omit<MessageCreateParamsBase, "messages"> & {
  readonly messages: readonly WireMessage[];
  readonly betas: readonly string[];
  readonly isForeign?: true;
};

interface BodyRules {
  readonly author: string;
  readonly model: string;
  readonly fields: AnthropicFields;
  /** Undefined where the address may not take all that the service takes. */
  readonly rules: ModelRules | undefined;
  readonly bindsThinking: boolean;
}

/** Makes the function that writes bodies. History, with its cache point, comes last: each request begins with the whole of the one before. */
function createToBody({ author, model, fields, rules, bindsThinking }: BodyRules): (request: ModelRequest) => Body {
  const toConversation = createToConversation({
    supported: rules?.changes ?? noSupportedChanges,
    bindsThinking,
    pictures: rules?.pictures,
    // The service drops what the model cannot read, so that it is still there when the other model goes on.
    isOwn: ({ model: by }) => by === author || (rules !== undefined && by?.startsWith("anthropic/") === true),
  });
  return (request) => {
    const { toolChoice, messages: history } = request;
    const choice = toolChoice && acceptedToolChoice(toolChoice, fields.canForce);
    const { systemPrompt, ...conversation } = toConversation(request);
    const marks = history
      .flatMap((message) => (message.role === "assistant" && thinkingToDrop(message)) || [])
      .filter((mark) => mark !== "before");
    const body: Body = {
      model,
      cache_control: fields.cacheControl,
      ...fields.body,
      ...toOutputConfig(fields.body.output_config, request.answerSchema),
      ...(systemPrompt !== "" && { system: toAnthropicSystem(systemPrompt, fields.cacheControl) }),
      ...(conversation.tools.length > 0 && { tools: conversation.tools }),
      messages: withEarlierCachePoint(conversation.messages, fields.cacheControl),
      // Tools that were only added later are no ground for a choice.
      ...(conversation.tools.length > 0 && choice !== undefined && { tool_choice: toAnthropicToolChoice(choice) }),
      betas: [...fields.betas, ...changeBetas(conversation.messages)],
    };
    if (marks.length > 0) return marks.includes("all") ? withoutThinking(body) : afterEarlierMismatch(body);
    return rules?.bindsThinking ? dropChanged(body) : body;
  };
}
