import { option } from "@toolcrib/core/internal";
import { invalidOption } from "../../errors.ts";
import type { Abilities, ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { ollamaBaseURL } from "../shared/ollamaAddress.ts";
import { checkProviderOptions, type ProviderOptions } from "../shared/options.ts";
import type { Send } from "../shared/streamReply.ts";
import { type ChatClient, chatAbilities, createChatSend } from "./chatCompletions.ts";
import { type Compat, compatSpecs, defaultCompat } from "./compat.ts";

export interface OpenAICompatibleProviderOptions extends ProviderOptions<ChatClient> {
  /** As the server names it: there is no default. */
  readonly model: string;
  /** The ways in which the server differs from most others. */
  readonly compat?: Partial<Compat> | undefined;
}

/**
 * Any server that speaks chat completions: Ollama, llama.cpp, LM Studio, vLLM. `baseURL` ends in `/v1`; by default it is
 * Ollama's, at `OLLAMA_HOST` or on this machine. A key is optional.
 */
export class OpenAICompatibleProvider implements Provider {
  readonly name = "openai-compatible";
  readonly model: string;
  readonly abilities: Abilities;
  readonly #send: Send;

  /** Throws `invalid_option` without a model and for an unknown option. */
  constructor(options: OpenAICompatibleProviderOptions) {
    // A caller without types may pass nothing.
    if (options) checkProviderOptions("OpenAICompatibleProvider", options, { compat: option.group(compatSpecs) });
    const { baseURL = ollamaBaseURL(), compat, model } = options ?? {};
    if (!model)
      throw invalidOption("OpenAICompatibleProvider needs the option model: the name of a model that the server has.");
    this.model = model;
    const described = { name: this.name, label: "The model server", model, baseURL, keyVariable: undefined };
    const whole = { ...defaultCompat, ...compat };
    this.abilities = chatAbilities(described, whole, options);
    this.#send = createChatSend(described, whole, options);
  }

  send(request: ModelRequest): AsyncIterable<ProviderEvent> {
    return this.#send(request);
  }
}
