import type { ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { requireKey } from "../shared/loadSdk.ts";
import { defaultModels } from "../shared/models.ts";
import { checkProviderOptions, environment, type ProviderOptions } from "../shared/options.ts";
import { clientKeys, secretsOf } from "../shared/secrets.ts";
import { type ChatClient, createChatSend } from "./chatCompletions.ts";
import { openRouterCompat } from "./compat.ts";

const keyVariable = "OPENROUTER_API_KEY";
const defaultBaseURL = "https://openrouter.ai/api/v1";

export type OpenRouterProviderOptions = ProviderOptions<ChatClient>;

/** Models of many makers over OpenRouter's chat completions, which reports what each reply cost. Key: `OPENROUTER_API_KEY`. */
export class OpenRouterProvider implements Provider {
  readonly name = "openrouter";
  readonly model: string;
  readonly #send: (request: ModelRequest) => AsyncIterable<ProviderEvent>;

  /** Throws `missing_key` when there is neither a key nor a client, `invalid_option` for an unknown option. */
  constructor(options: OpenRouterProviderOptions = {}) {
    checkProviderOptions("OpenRouterProvider", options);
    const { client, headers, baseURL = defaultBaseURL } = options;
    this.model = options.model ?? defaultModels.openrouter;
    const key = options.apiKey ?? environment(keyVariable);
    const apiKey = client ? undefined : requireKey("OpenRouter", keyVariable, key);
    const service = {
      name: this.name,
      label: "OpenRouter",
      model: this.model,
      baseURL: client?.baseURL ?? baseURL,
      keyVariable,
      secrets: secretsOf({ keys: [apiKey, ...clientKeys(client)], headers, baseURL: client?.baseURL ?? baseURL }),
    };
    this.#send = createChatSend({ service, apiKey, baseURL, compat: openRouterCompat, options });
  }

  send(request: ModelRequest): AsyncIterable<ProviderEvent> {
    return this.#send(request);
  }
}
