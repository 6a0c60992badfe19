import { isObject } from "@toolcrib/core/text";
import { redactUrls } from "@toolcrib/kit/text";
import { environment } from "../providers/shared/options.ts";
import { isLoading, localServers, offerFound, shownAddress } from "./localServers.ts";
import { services } from "./services.ts";

/** One thing that was found, for a page or command that says what is wrong with a set-up. */
export interface ModelFinding {
  /** A `problem` keeps a model from answering; a `warning` is what the user may want to change. */
  readonly level: "ok" | "note" | "warning" | "problem";
  readonly text: string;
  /** Advice to the user. */
  readonly advice?: string | undefined;
}

/** The models that the environment offers. */
export interface ModelSources {
  readonly findings: readonly ModelFinding[];
  /** The model servers on this machine that answer, a line each. */
  readonly localServers: readonly string[];
}

const mostMs = 5000;

/** Looks at the keys in the environment, which are never shown, and for model servers on this machine. */
export async function checkModelSources(): Promise<ModelSources> {
  const servers = localServers();
  const offers = await Promise.all(servers.map(offerFound));
  const found = servers.flatMap((server, index) => {
    const model = offers[index]?.model;
    return model === undefined ? [] : [`${server.label} answers at ${shownAddress(server)} with ${model}`];
  });
  const loading = servers.filter((_, index) => isLoading(offers[index]));
  const waits = loading.map((server): ModelFinding => {
    return { level: "note", text: `${server.label} at ${shownAddress(server)} is still loading its model` };
  });
  const nothing: ModelFinding = { level: "note", text: "no model server answers on this machine" };
  const answering = [...found.map((text): ModelFinding => ({ level: "ok", text })), ...waits];
  const ofServers = answering.length === 0 ? [nothing] : answering;
  return { findings: [...services.flatMap(({ variable }) => ofKey(variable)), ...ofServers], localServers: found };
}

function ofKey(name: string): ModelFinding[] {
  const key = process.env[name];
  if (key === undefined) return [];
  if (key.trim() === "")
    return [{ level: "warning", text: `${name} is set, but empty`, advice: "set it, or unset it" }];
  if (!/\s|^["'`]|["'`]$/.test(key)) return [{ level: "ok", text: `${name} is set in the environment` }];
  const advice = "set it again, to only the key";
  return [{ level: "warning", text: `${name} is set, with spaces or quotes in it`, advice }];
}

/**
 * Returns whether a provider's address answers, at all: no key is sent. Undefined for a provider without one that is known. Throws the signal's
 * reason.
 */
export async function checkModelAddress(
  providerName: string,
  baseURL: string | undefined,
  signal: AbortSignal,
): Promise<ModelFinding | undefined> {
  const service = services.find(({ name }) => name === providerName);
  const address = baseURL ?? (service && (environment(service.baseVariable) ?? service.address));
  if (address === undefined) return undefined;
  const shown = redactUrls(address);
  try {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(mostMs)]);
    const response = await fetch(address, { method: "HEAD", redirect: "manual", signal: ended });
    await response.body?.cancel();
    return { level: "ok", text: `${shown} answers` };
  } catch (error) {
    signal.throwIfAborted();
    const { code } = isObject(error) && isObject(error.cause) ? error.cause : {};
    const reason = typeof code === "string" ? code : `nothing within ${mostMs / 1000} s`;
    const advice = "check the network, a proxy, and the address if you have set one";
    return { level: "problem", text: `${shown} cannot be reached (${reason})`, advice };
  }
}
