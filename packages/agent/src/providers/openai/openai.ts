import { type ChatTool, toOpenAIResponsesTool } from "@toolcrib/core";
import type OpenAI from "openai";
import type {
  Response,
  ResponseCreateParams,
  ResponseInputItem,
  ResponseStreamEvent,
  Tool,
} from "openai/resources/responses/responses";
import { checkKind } from "../../options.ts";
import type { ModelRequest, Provider, ProviderEvent, ToolChoice } from "../../provider.ts";
import { memoize } from "../shared/memoize.ts";
import { defaultModels } from "../shared/models.ts";
import { openaiClient } from "../shared/openaiClient.ts";
import { checkProviderOptions, environment, type ProviderOptions, serviceOf } from "../shared/options.ts";
import { createSend, type ReplyReducer, type Send } from "../shared/streamReply.ts";
import type { Service } from "../shared/wireErrors.ts";
import { wellFormed } from "../shared/wireText.ts";
import { toResponsesItems, toResponsesToolChoice } from "./mapping.ts";
import { createNativeMapping } from "./nativeItems.ts";
import { fromNativeItem, toNativeToolChoice, toNativeTools } from "./nativeTools.ts";
import { createResponsesState, finishResponses, reduceResponses, responsesEvents } from "./reply.ts";

/** What the provider needs of a client, by shape: clients of another major version or module format have it too. */
export interface OpenAIClient {
  readonly baseURL: string;
  readonly responses: { create(...args: never[]): unknown };
}

export interface OpenAIProviderOptions extends ProviderOptions<OpenAIClient> {
  /** Offers `apply_patch` and `run_bash` as the patch and shell tools that OpenAI's models are trained on. Default false. */
  readonly nativeTools?: boolean | undefined;
}

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
    checkProviderOptions("OpenAIProvider", options, { nativeTools: true });
    checkKind("nativeTools", options.nativeTools, "boolean");
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
      createReducer: ({ tools }) => createReducer(service, author, options.nativeTools ? tools : undefined),
    });
  }

  send(request: ModelRequest): AsyncIterable<ProviderEvent> {
    return this.#send(request);
  }
}

function createReducer(
  service: Service,
  author: string,
  tools: readonly ChatTool[] | undefined,
): ReplyReducer<ResponseStreamEvent> {
  const state = createResponsesState(service);
  return {
    push: (event) => reduceResponses(state, event),
    isDone: () => state.final !== undefined,
    end: () => finishResponses(state, author, tools && ((item, isCut) => fromNativeItem(item, isCut, tools))),
  };
}

/** What differs from step to step comes last, so that each request begins with the whole history of the one before. */
function createToBody(
  author: string,
  { model = defaultModels.openai, maxTokens, reasoning, nativeTools }: OpenAIProviderOptions,
): (request: ModelRequest) => ResponseCreateParams {
  const wire = nativeTools ? nativeWire(author) : plainWire(author);
  return (request) => {
    const { systemPrompt, tools, toolChoice } = request;
    return {
      model,
      store: false,
      include: ["reasoning.encrypted_content"],
      ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
      ...(reasoning !== undefined && {
        reasoning: { effort: reasoning, ...(reasoning !== "none" && { summary: "auto" }) },
      }),
      ...(systemPrompt !== "" && { instructions: wellFormed(systemPrompt) }),
      ...(tools.length > 0 && { tools: wire.toTools(tools) }),
      input: wire.toInput(request),
      ...(tools.length > 0 && toolChoice !== undefined && { tool_choice: wire.toToolChoice(toolChoice, tools) }),
    };
  };
}

/** The parts of a body in which native tools differ. */
interface WireParts {
  toTools(tools: readonly ChatTool[]): Tool[];
  toInput(request: ModelRequest): ResponseInputItem[];
  toToolChoice(choice: ToolChoice, tools: readonly ChatTool[]): NonNullable<ResponseCreateParams["tool_choice"]>;
}

function plainWire(author: string): WireParts {
  const toItems = memoize((message) => toResponsesItems(message, author));
  return {
    toTools: (tools) => tools.map(toOpenAIResponsesTool),
    toInput: ({ messages }) => messages.flatMap(toItems),
    toToolChoice: toResponsesToolChoice,
  };
}

function nativeWire(author: string): WireParts {
  return { toTools: toNativeTools, toInput: createNativeMapping(author), toToolChoice: toNativeToolChoice };
}
