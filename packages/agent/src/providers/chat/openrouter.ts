import type { ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { defaultModels } from "../shared/models.ts";
import { checkProviderOptions, type ProviderOptions } from "../shared/options.ts";
import type { Send } from "../shared/streamReply.ts";
import { type ChatClient, createChatSend } from "./chatCompletions.ts";
import { openRouterCompat } from "./compat.ts";

const keyVariable = "OPENROUTER_API_KEY";
const defaultBaseURL = "https://openrouter.ai/api/v1";

export type OpenRouterProviderOptions = ProviderOptions<ChatClient>;

/** Models of many makers over OpenRouter's chat completions, which reports what each reply cost. Key: `OPENROUTER_API_KEY`. */
export class OpenRouterProvider implements Provider {
  readonly name = "openrouter";
  readonly model: string;
  readonly #send: Send;

  /** Throws `missing_key` when there is neither a key nor a client, `invalid_option` for an unknown option. */
  constructor(options: OpenRouterProviderOptions = {}) {
    checkProviderOptions("OpenRouterProvider", options);
    const { model = defaultModels.openrouter, baseURL = defaultBaseURL } = options;
    this.model = model;
    const described = { name: this.name, label: "OpenRouter", model, baseURL, keyVariable };
    this.#send = createChatSend(described, openRouterCompat, options);
  }

  send(request: ModelRequest): AsyncIterable<ProviderEvent> {
    return this.#send(request);
  }
}
