import { keyedModels, localServers, readModelNames } from "@toolcrib/agent/models";
import { messageOf } from "@toolcrib/core/text";
import { redactUrls } from "@toolcrib/kit/text";
import { type ModelChoice, providerIn } from "./modelChoice.ts";

export interface OfferedModel {
  /** As `-m` takes it. */
  readonly text: string;
  /** Names who offers it; undefined for the server that is in use. */
  readonly group?: string | undefined;
}

export interface OfferedModels {
  readonly models: readonly OfferedModel[];
  /** The reason why the server in use lists none. */
  readonly problem?: string | undefined;
}

interface Server {
  /** Stands before the `/` of its models. */
  readonly name: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
}

const longestWaitMs = 3000;
const mostModels = 2000;

/**
 * Asks the server in use for its models; where no model is connected, the servers on this machine. The models that are known of services
 * whose key is set come after them.
 */
export async function offeredModels(
  choice: ModelChoice,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<OfferedModels> {
  const servers = await serversOf(choice, env);
  const answers = await Promise.allSettled(servers.map((server) => modelsOf(server, signal)));
  signal.throwIfAborted();
  const lists = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  // Of several servers on this machine, the one that has the model in use.
  const own = lists.filter((list) => list.some((name) => name.endsWith(`/${choice.provider.model}`)));
  const names = new Set((own.length > 0 ? own : lists).flat());
  const known = keyedModels().filter((name) => !names.has(name));
  const [only, ...others] = answers;
  return {
    models: [
      ...[...names].map((text) => ({ text })),
      ...known.map((text) => ({ text, group: "With a key that is set" })),
    ],
    problem: only?.status === "rejected" && others.length === 0 ? messageOf(only.reason) : undefined,
  };
}

async function serversOf({ provider, flags }: ModelChoice, env: NodeJS.ProcessEnv): Promise<readonly Server[]> {
  const name = providerIn(flags.model ?? provider.name);
  const { baseUrl } = flags;
  const keyed = keyedServer(name, baseUrl, env);
  if (keyed) return [keyed];
  const local = (await localServers()).map((one): Server => ({ name: one.name, address: one.baseURL, headers: {} }));
  const named = local.find((one) => one.name === name);
  if (named) return [{ ...named, address: baseUrl ?? named.address }];
  const address = baseUrl ?? (flags.model === undefined ? undefined : env.OPENAI_BASE_URL);
  return address === undefined ? local : [{ name, address, headers: {} }];
}

/** Finds a service that takes a key, which goes to its own address or the one that the user gave. */
function keyedServer(name: string, baseUrl: string | undefined, env: NodeJS.ProcessEnv): Server | undefined {
  switch (name) {
    case "openai": {
      const address = baseUrl ?? (env.OPENAI_BASE_URL || "https://api.openai.com/v1");
      return { name, address, headers: { authorization: `Bearer ${env.OPENAI_API_KEY}` } };
    }
    case "anthropic": {
      const address = `${baseUrl ?? (env.ANTHROPIC_BASE_URL || "https://api.anthropic.com")}/v1`;
      return {
        name,
        address,
        headers: { "x-api-key": env.ANTHROPIC_API_KEY ?? "", "anthropic-version": "2023-06-01" },
      };
    }
    case "openrouter":
      return { name, address: baseUrl ?? "https://openrouter.ai/api/v1", headers: {} };
    default:
      return undefined;
  }
}

/** Lists the models of a server but those for embeddings. Rejects with what is wrong, in words. */
async function modelsOf({ name, address, headers }: Server, signal: AbortSignal): Promise<readonly string[]> {
  const shown = redactUrls(address);
  const ends = AbortSignal.any([signal, AbortSignal.timeout(longestWaitMs)]);
  const url = `${address.replace(/\/+$/, "")}/models${name === "anthropic" ? "?limit=1000" : ""}`;
  const response = await fetch(url, { headers, signal: ends, redirect: "error" }).catch(() => undefined);
  if (!response) throw new Error(`nothing answers at ${shown}`);
  const listing = await readModelNames(response).catch(() => undefined);
  if (!listing) throw new Error(`${shown} does not list its models`);
  return listing
    .slice(0, mostModels)
    .filter((id) => !/embed|whisper|tts-|moderation/i.test(id))
    .map((id) => `${name}/${id}`);
}
