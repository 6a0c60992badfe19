import type OpenAI from "openai";
import type { Response, ResponseCreateParams } from "openai/resources/responses/responses";
import type { Abilities, ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { abilitiesOf, toAnswerFormat } from "../models/answerFormat.ts";
import { defaultModels, modelRules } from "../models/models.ts";
import { openaiClient } from "../shared/openaiClient.ts";
import { noSupportedChanges } from "../shared/opening.ts";
import { checkProviderOptions, environment, type ProviderOptions, serviceOf, takesFullApi } from "../shared/options.ts";
import { createSend, type Send } from "../shared/streamReply.ts";
import { createToConversation } from "./conversation.ts";
import { markForeignReasoning, withoutForeignReasoning } from "./foreignReasoning.ts";
import { ResponsesReply, responsesEvents } from "./reply.ts";
import { openaiFields } from "./settings.ts";

/** The members that the provider uses of a client, by shape: clients of another major version or module format have it too. */
interface OpenAIClient {
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
  readonly abilities: Abilities;
  readonly #send: Send;

  /** Throws `missing_key` when there is neither a key nor a client, `invalid_option` for an unknown option. */
  constructor(options: OpenAIProviderOptions = {}) {
    checkProviderOptions("OpenAIProvider", options, {});
    const { model = defaultModels.openai, baseURL = environment("OPENAI_BASE_URL") } = options;
    this.model = model;
    const described = { name: this.name, label: "OpenAI", model, baseURL, keyVariable: "OPENAI_API_KEY" };
    const { service, apiKey } = serviceOf(described, options);
    const author = `${this.name}/${model}`;
    const isFull = takesFullApi("https://api.openai.com", baseURL, options);
    const rules = modelRules({ name: this.name, model }, !isFull);
    const fields = openaiFields({ ...options, model }, rules);
    this.abilities = abilitiesOf(rules, true, isFull);
    const supported = (isFull ? rules?.changes : undefined) ?? noSupportedChanges;
    const toConversation = createToConversation(author, supported);
    this.#send = createSend(service, options, {
      createClient: () => openaiClient({ ...options, apiKey, baseURL, foreign: false }),
      toBody: createToBody(model, fields, toConversation),
      post: (client: OpenAI, body, signal) => client.responses.create(body, { signal, maxRetries: 0 }),
      again: { toBody: withoutForeignReasoning, toReply: markForeignReasoning },
      toChunks: (response: Response) => responsesEvents(response),
      createReducer: () => new ResponsesReply(service, author),
    });
  }

  send(request: ModelRequest): AsyncIterable<ProviderEvent> {
    return this.#send(request);
  }
}

/** Builds the body. Parts that differ from step to step come last, so that each request begins with the whole history of the one before. */
function createToBody(
  model: string,
  fields: ReturnType<typeof openaiFields>,
  toConversation: ReturnType<typeof createToConversation>,
): (request: ModelRequest) => ResponseCreateParams {
  return (request) => {
    const { instructions, tools, input, toolChoice } = toConversation(request);
    const format = request.answerSchema && toAnswerFormat(request.answerSchema);
    return {
      model,
      store: false,
      include: ["reasoning.encrypted_content"],
      ...fields,
      ...(format && { text: { format: { type: "json_schema", name: "answer", ...format } } }),
      ...(instructions !== "" && { instructions: instructions.toWellFormed() }),
      ...(tools.length > 0 && { tools }),
      input,
      ...(toolChoice !== undefined && { tool_choice: toolChoice }),
    };
  };
}
