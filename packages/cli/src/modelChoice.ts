import type { Provider } from "@toolcrib/agent";
import { nearestName } from "@toolcrib/core";
import { CliError, usageError } from "./endings.ts";
import { firstModel, type LocalServer, localServers } from "./localServers.ts";

/** A provider, and one line for people: which it is and why. */
export interface ModelChoice {
  readonly provider: Provider;
  readonly why: string;
}

/** What `-m` and the environment may name, in the order in which keys are looked for. */
const keyed = [
  { name: "openai", variable: "OPENAI_API_KEY" },
  { name: "anthropic", variable: "ANTHROPIC_API_KEY" },
  { name: "openrouter", variable: "OPENROUTER_API_KEY" },
] as const;

/** How to get a language model, for whoever has none. */
export const waysToConnect: readonly string[] = [
  `set ${keyed
    .map(({ variable }) => variable)
    .join(", ")
    .replace(/, (\w+)$/, " or $1")}`,
  "start a model server on this machine (Ollama, LM Studio, llama.cpp)",
  "name a model with -m provider/model",
];

export interface ModelWish {
  /** `-m provider/model`, `-m provider`. */
  readonly model?: string | undefined;
  /** `--base-url`: where the provider is, for a server elsewhere or a gateway. */
  readonly baseUrl?: string | undefined;
}

/**
 * The model asked for; else the first provider with a key in the environment, else a model server on this machine, else the
 * offline stand-in. Throws a usage error for a wish that names none, and the provider's AgentError (`missing_key`).
 */
export async function chooseModel(wish: ModelWish, env: NodeJS.ProcessEnv): Promise<ModelChoice> {
  if (wish.model !== undefined) return chosen(await wished(wish.model, wish.baseUrl, env), "asked for with -m");
  if (wish.baseUrl !== undefined)
    throw usageError(
      "--base-url says where a provider is: name the provider with -m, as in -m openai-compatible/MODEL",
    );
  for (const { name, variable } of keyed) {
    if (env[variable]?.trim()) return chosen(await createKeyed(name, {}), `${variable} is set`);
  }
  const servers = await localServers();
  const models = await Promise.all(servers.map((server) => firstModel(server)));
  for (const [index, server] of servers.entries()) {
    const model = models[index];
    if (model !== undefined)
      return chosen(await createCompatible(model, server.baseURL), `${server.label} answers at ${server.baseURL}`);
  }
  const { OfflineProvider } = await import("@toolcrib/agent/offline");
  return {
    provider: new OfflineProvider(),
    why: `No model is connected (no key in the environment, no model server on this machine), so the offline stand-in answers. To connect one: ${waysToConnect.join("; ")}.`,
  };
}

function chosen(provider: Provider, why: string): ModelChoice {
  return { provider, why: `Using ${provider.name}/${provider.model}: ${why}. Another: -m provider/model.` };
}

async function wished(text: string, baseURL: string | undefined, env: NodeJS.ProcessEnv): Promise<Provider> {
  const cut = text.indexOf("/");
  const name = (cut < 0 ? text : text.slice(0, cut)).toLowerCase();
  const model = (cut < 0 ? "" : text.slice(cut + 1)) || undefined;
  if (name === "offline") {
    const { OfflineProvider } = await import("@toolcrib/agent/offline");
    return new OfflineProvider();
  }
  const service = keyed.find((known) => known.name === name);
  if (service) return createKeyed(service.name, { model, baseURL });
  const servers = await localServers();
  const server = servers.find((known) => known.name === name);
  if (server) return createLocal({ ...server, baseURL: baseURL ?? server.baseURL }, model);
  if (name === "openai-compatible") {
    const at = baseURL ?? env.OPENAI_BASE_URL?.trim();
    if (!at) throw usageError(`-m ${text}: say where the server is with --base-url http://HOST:PORT/v1`);
    return createLocal({ label: "The server", name, baseURL: at }, model);
  }
  throw unknownProvider(
    text,
    name,
    [...keyed, ...servers].map((known) => known.name).concat("openai-compatible", "offline"),
  );
}

function unknownProvider(text: string, name: string, names: readonly string[]): Error {
  const nearest = nearestName(name, names);
  return usageError(
    `-m ${text}: expected provider/model with a provider out of ${names.join(", ")}${nearest ? `; did you mean ${nearest}?` : ""}`,
  );
}

async function createLocal(server: LocalServer, model: string | undefined): Promise<Provider> {
  const found = model ?? (await firstModel(server, 3000));
  if (found === undefined) {
    throw new CliError(
      "provider",
      `-m ${server.name}: ${server.label} at ${server.baseURL} offers no model; start it and load one, or name it as in -m ${server.name}/MODEL`,
    );
  }
  return createCompatible(found, server.baseURL);
}

async function createCompatible(model: string, baseURL: string): Promise<Provider> {
  const { OpenAICompatibleProvider } = await import("@toolcrib/agent/openai-compatible");
  return new OpenAICompatibleProvider({ model, baseURL });
}

/** Only the provider that is used is loaded. */
async function createKeyed(
  name: (typeof keyed)[number]["name"],
  options: { model?: string | undefined; baseURL?: string | undefined },
): Promise<Provider> {
  switch (name) {
    case "openai": {
      const { OpenAIProvider } = await import("@toolcrib/agent/openai");
      return new OpenAIProvider(options);
    }
    case "anthropic": {
      const { AnthropicProvider } = await import("@toolcrib/agent/anthropic");
      return new AnthropicProvider(options);
    }
    case "openrouter": {
      const { OpenRouterProvider } = await import("@toolcrib/agent/openrouter");
      return new OpenRouterProvider(options);
    }
  }
}
