import type { Provider } from "@toolcrib/agent";
import { nearestName } from "@toolcrib/core";
import { CliError, usageError } from "../exitReasons.ts";
import { type LocalServer, localServers, offerFound, offerOf, shownAddress } from "./localServers.ts";

/** A provider, and one line that tells the user which it is and why. */
export interface ModelChoice {
  readonly provider: Provider;
  readonly why: string;
  /** Whether the user named provider and model. If not, `why` is shown before anything is sent. */
  readonly isNamed: boolean;
}

/** The services that need a key, in the order in which keys are looked for. */
const services = [
  { name: "openai", variable: "OPENAI_API_KEY" },
  { name: "anthropic", variable: "ANTHROPIC_API_KEY" },
  { name: "openrouter", variable: "OPENROUTER_API_KEY" },
] as const;

interface ModelRequest {
  /** `-m provider/model`, `-m provider`. */
  readonly model?: string | undefined;
  /** `--base-url`: where the provider is, for a server elsewhere or a gateway. */
  readonly baseUrl?: string | undefined;
}

/**
 * The model asked for; else the first provider with a key in the environment, else a model server on this machine, else the
 * offline stand-in. Throws a usage error for an unknown name, and the provider's AgentError (`missing_key`).
 */
export async function chooseModel(request: ModelRequest, env: NodeJS.ProcessEnv): Promise<ModelChoice> {
  if (request.model !== undefined) return requested(request.model, request.baseUrl, env);
  if (request.baseUrl !== undefined)
    throw usageError(
      "--base-url says where a provider is: name the provider with -m, as in -m openai-compatible/MODEL",
    );
  for (const { name, variable } of services) {
    if (env[variable]?.trim()) return chosen(await createKeyed(name, {}), `${variable} is set`);
  }
  const servers = await localServers();
  const offers = await Promise.all(servers.map(offerFound));
  for (const [index, server] of servers.entries()) {
    const model = offers[index]?.model;
    if (model !== undefined)
      return chosen(
        await createCompatible(model, server.baseURL),
        `${server.label} answers at ${shownAddress(server)}`,
      );
  }
  const { OfflineProvider } = await import("@toolcrib/agent/offline");
  return {
    provider: new OfflineProvider(),
    why: "No model is connected: the offline stand-in answers (a few rules). toolcrib --help tells how to connect one.",
    isNamed: false,
  };
}

function chosen(provider: Provider, why: string): ModelChoice {
  return {
    provider,
    why: `Using ${provider.name}/${provider.model}: ${why}. Another: -m provider/model.`,
    isNamed: false,
  };
}

function named(provider: Provider): ModelChoice {
  return { ...chosen(provider, "asked for with -m"), isNamed: true };
}

async function requested(text: string, baseURL: string | undefined, env: NodeJS.ProcessEnv): Promise<ModelChoice> {
  const cut = text.indexOf("/");
  const name = (cut < 0 ? text : text.slice(0, cut)).toLowerCase();
  const model = (cut < 0 ? "" : text.slice(cut + 1)) || undefined;
  if (name === "offline") {
    const { OfflineProvider } = await import("@toolcrib/agent/offline");
    return named(new OfflineProvider());
  }
  const service = services.find((known) => known.name === name);
  if (service) return named(await createKeyed(service.name, { model, baseURL }));
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
    [...services, ...servers].map((known) => known.name).concat("openai-compatible", "offline"),
  );
}

function unknownProvider(text: string, name: string, names: readonly string[]): Error {
  const nearest = nearestName(name, names);
  return usageError(
    `-m ${text}: expected provider/model with a provider out of ${names.join(", ")}${nearest ? `; did you mean ${nearest}?` : ""}`,
  );
}

async function createLocal(server: LocalServer, model: string | undefined): Promise<ModelChoice> {
  if (model !== undefined) return named(await createCompatible(model, server.baseURL));
  const offer = await offerOf(server);
  if (offer.model === undefined) {
    const advice = `start it and load one, or name it as in -m ${server.name}/MODEL`;
    throw new CliError("provider", `-m ${server.name}: ${offer.problem}; ${advice}`);
  }
  return chosen(
    await createCompatible(offer.model, server.baseURL),
    `${server.label} at ${shownAddress(server)} offers it`,
  );
}

async function createCompatible(model: string, baseURL: string): Promise<Provider> {
  const { OpenAICompatibleProvider } = await import("@toolcrib/agent/openai-compatible");
  return new OpenAICompatibleProvider({ model, baseURL });
}

/** Only the provider that is used is loaded. */
async function createKeyed(
  name: (typeof services)[number]["name"],
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
