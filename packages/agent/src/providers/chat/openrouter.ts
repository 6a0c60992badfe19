import type { Abilities, ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { defaultModels, modelRules } from "../models/models.ts";
import { checkProviderOptions, type ProviderOptions } from "../shared/options.ts";
import type { Send } from "../shared/streamReply.ts";
import { type ChatClient, chatAbilities, createChatSend } from "./chatCompletions.ts";
import { openRouterCompat } from "./compat.ts";

export type OpenRouterProviderOptions = ProviderOptions<ChatClient>;

/** Models of many makers over OpenRouter's chat completions, which reports what each reply cost. Key: `OPENROUTER_API_KEY`. */
export class OpenRouterProvider implements Provider {
  readonly name = "openrouter";
  readonly model: string;
  readonly abilities: Abilities;
  readonly #send: Send;

  /** Throws `missing_key` when there is neither a key nor a client, `invalid_option` for an unknown option. */
  constructor(options: OpenRouterProviderOptions = {}) {
    checkProviderOptions("OpenRouterProvider", options, {});
    const { model = defaultModels.openrouter, baseURL = "https://openrouter.ai/api/v1" } = options;
    this.model = model;
    const described = { name: this.name, label: "OpenRouter", model, baseURL, keyVariable: "OPENROUTER_API_KEY" };
    const rules = modelRules(described);
    // Only Anthropic's models have to be asked to keep the beginning of a conversation.
    const body = {
      ...openRouterCompat.body,
      ...(model.startsWith("anthropic/") && { cache_control: { type: "ephemeral" } }),
    };
    const compat = { ...openRouterCompat, answerFormat: rules?.answerFormat === true, body };
    this.abilities = chatAbilities(described, compat, options);
    this.#send = createChatSend(described, compat, options);
  }

  send(request: ModelRequest): AsyncIterable<ProviderEvent> {
    return this.#send(request);
  }
}
