import { nearestName } from "@toolcrib/core/internal";
import { AgentError, advised } from "../errors.ts";
import type { Remedy } from "../messages.ts";
import type { Provider } from "../provider.ts";
import type { CacheTtl, ReasoningEffort } from "../providers/models/modelRules.ts";
import { defaultModels, models } from "../providers/models/models.ts";
import type { SdkLoader } from "../providers/shared/loadSdk.ts";
import { environment } from "../providers/shared/options.ts";
import {
  isLoading,
  type LocalServer,
  localServers,
  offerFound,
  offerOf,
  onceLoaded,
  shownAddress,
} from "./localServers.ts";
import { providerNames, services } from "./services.ts";

export interface ModelRequest {
  /** `provider/model`, or `provider` for its usual model. Default: what the environment offers. */
  readonly model?: string | undefined;
  /** The address of the provider, for a server elsewhere or a gateway. */
  readonly baseURL?: string | undefined;
  /** The model's reasoning effort, in a word that it takes. */
  readonly reasoning?: ReasoningEffort | undefined;
  /** The time for which Anthropic keeps the beginning of a conversation. Other services decide by themselves. */
  readonly cacheTtl?: CacheTtl | undefined;
  /** As the option of the providers. */
  readonly loadSdk?: SdkLoader | undefined;
}

/** A provider, and how it was chosen. */
export interface ModelChoice {
  readonly provider: Provider;
  /**
   * `named`: provider and model were asked for · `key`: the first service whose key is set · `local`: what a model server on this machine
   * offers · `offline`: the stand-in, as there is nothing else.
   */
  readonly by: "named" | "key" | "local" | "offline";
  /** The reason, as a user may be told: `OPENAI_API_KEY is set`. */
  readonly reason: string;
}

/** Returns the models that are known of the services whose key is in the environment, as `provider/model`. */
export function keyedModels(): string[] {
  return services.flatMap(({ name, variable }) => {
    if (!environment(variable)) return [];
    const rows = name === "openrouter" ? [] : models[name].filter(({ price }) => price);
    return [...new Set([defaultModels[name], ...rows.map((row) => row.name)])].map((model) => `${name}/${model}`);
  });
}

/**
 * Returns the model asked for; else the first service whose key is in the environment, else a model server on this machine, else the
 * offline stand-in. Only the provider that is used is loaded. Throws `invalid_option` for an unknown name, `network` where a named server
 * offers no model, and the provider's AgentError (`missing_key`).
 */
export async function chooseModel({ model, baseURL, ...settings }: ModelRequest = {}): Promise<ModelChoice> {
  if (model !== undefined) return requested(model, baseURL, settings);
  if (baseURL !== undefined)
    throw wrongModel(
      { option: "baseURL" },
      " says where a provider is: name the provider with ",
      asModel,
      ", as in ",
      asModel,
      " openai-compatible/MODEL",
    );
  for (const { name, variable } of services) {
    if (environment(variable))
      return { provider: await createKeyed(name, settings), by: "key", reason: `${variable} is set` };
  }
  const servers = localServers();
  const offers = await Promise.all(servers.map(offerFound));
  for (const [index, server] of servers.entries()) {
    const offered = offers[index]?.model;
    if (offered === undefined) continue;
    return local(server, offered, `${server.label} answers at ${shownAddress(server)}`, settings);
  }
  const loading = servers.find((_, index) => isLoading(offers[index]));
  if (loading) return createLocal(loading, undefined, settings);
  const { provider } = await requested("offline", undefined, settings);
  return { provider, by: "offline", reason: "no key is set, and no model server answers on this machine" };
}

const asModel = { option: "model" } as const;

function wrongModel(...advice: Remedy["advice"]): AgentError {
  return new AgentError({ code: "invalid_option", ...advised("", advice) });
}

function named(provider: Provider): ModelChoice {
  return { provider, by: "named", reason: "asked for by name" };
}

type Settings = Pick<ModelRequest, "reasoning" | "cacheTtl" | "loadSdk">;

async function requested(text: string, baseURL: string | undefined, settings: Settings): Promise<ModelChoice> {
  const cut = text.indexOf("/");
  const name = (cut < 0 ? text : text.slice(0, cut)).toLowerCase();
  const model = (cut < 0 ? "" : text.slice(cut + 1)) || undefined;
  if (name === "offline") {
    const { OfflineProvider } = await import("../providers/offline/offline.ts");
    return named(new OfflineProvider());
  }
  const service = services.find((known) => known.name === name);
  if (service) return named(await createKeyed(service.name, { model, baseURL, ...settings }));
  const servers = localServers();
  const server = servers.find((known) => known.name === name);
  if (server) return createLocal({ ...server, baseURL: baseURL ?? server.baseURL }, model, settings);
  if (name === "openai-compatible") {
    const at = baseURL ?? environment("OPENAI_BASE_URL");
    if (at) return createLocal({ label: "The server", name, baseURL: at }, model, settings);
    throw wrongModel(asModel, ` ${text}: say where the server is with `, { option: "baseURL" }, " http://HOST:PORT/v1");
  }
  const nearest = nearestName(name, providerNames);
  const meant = nearest ? `; did you mean ${nearest}?` : "";
  throw wrongModel(
    asModel,
    ` ${text}: expected provider/model with a provider out of ${providerNames.join(", ")}${meant}`,
  );
}

async function createLocal(server: LocalServer, model: string | undefined, settings: Settings): Promise<ModelChoice> {
  if (model !== undefined) return named(await createCompatible(model, server.baseURL, settings));
  const offer = await onceLoaded(() => offerOf(server));
  if (offer.model === undefined) {
    const wait = isLoading(offer) ? "try again when it has" : "start it and load one";
    const problem = ` ${server.name}: ${offer.problem}; ${wait}, or name it as in `;
    const { message, remedy } = advised("", [asModel, problem, asModel, ` ${server.name}/MODEL`]);
    throw new AgentError({ code: "network", message, remedy });
  }
  return local(server, offer.model, `${server.label} at ${shownAddress(server)} offers it`, settings);
}

async function local(server: LocalServer, model: string, reason: string, settings: Settings): Promise<ModelChoice> {
  return { provider: await createCompatible(model, server.baseURL, settings), by: "local", reason };
}

async function createCompatible(model: string, baseURL: string, { reasoning, loadSdk }: Settings): Promise<Provider> {
  const { OpenAICompatibleProvider } = await import("../providers/chat/openaiCompatible.ts");
  // Mostly open models, whose calls a server may leave as text.
  return new OpenAICompatibleProvider({ model, baseURL, reasoning, loadSdk, compat: { textCalls: true } });
}

async function createKeyed(
  name: (typeof services)[number]["name"],
  { cacheTtl, ...options }: ModelRequest,
): Promise<Provider> {
  switch (name) {
    case "openai": {
      const { OpenAIProvider } = await import("../providers/openai/openai.ts");
      return new OpenAIProvider(options);
    }
    case "anthropic": {
      const { AnthropicProvider } = await import("../providers/anthropic/anthropic.ts");
      return new AnthropicProvider({ ...options, cacheTtl });
    }
    case "openrouter": {
      const { OpenRouterProvider } = await import("../providers/chat/openrouter.ts");
      return new OpenRouterProvider(options);
    }
  }
}
