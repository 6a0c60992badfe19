import { setTimeout as sleep } from "node:timers/promises";
import { isObject, withoutControls } from "@toolcrib/core/text";
import { addressSlip } from "../providers/models/address.ts";
import { ollamaBaseURL } from "../providers/shared/ollamaAddress.ts";

/** A model server that may run on this machine; `baseURL` is its OpenAI-compatible root. */
export interface LocalServer {
  readonly label: string;
  /** The name in `-m NAME/model`. */
  readonly name: string;
  readonly baseURL: string;
}

/** Lists them in the order they are preferred; Ollama where `OLLAMA_HOST` says. */
export function localServers(): LocalServer[] {
  return [
    { label: "Ollama", name: "ollama", baseURL: ollamaBaseURL() },
    { label: "LM Studio", name: "lmstudio", baseURL: "http://127.0.0.1:1234/v1" },
    { label: "llama.cpp", name: "llamacpp", baseURL: "http://127.0.0.1:8080/v1" },
  ];
}

/** Returns the address without user, password and query. */
export function shownAddress({ baseURL }: LocalServer): string {
  if (!URL.canParse(baseURL)) return baseURL;
  const { origin, pathname } = new URL(baseURL);
  return `${origin}${pathname}`;
}

/** The first model of a server that is not for embeddings, or why there is no such model. `isLoading`: it will have one. */
export type Offer =
  | { readonly model: string }
  | { readonly model?: undefined; readonly problem: string; readonly isLoading?: boolean };

/** Of a listing: any program may listen at the port of a model server; a service has many models. */
const mostOfLocal = 1024 * 1024;
const mostOfService = 8 * 1024 * 1024;
const longestName = 256;

/** Asks a server that the user named: any list of models counts. */
export function offerOf(server: LocalServer): Promise<Offer> {
  return askForModels(server, 3000, ({ data }) => data);
}

/** Asks a port that model servers use. Another program may listen there, so only the exact form of a model list counts. */
export function offerFound(server: LocalServer): Promise<Offer> {
  return askForModels(server, 300, ({ object, data }) =>
    object === "list" && Array.isArray(data) && data.every((entry) => entry?.object === "model") ? data : undefined,
  );
}

/** Picks the entries of a listing; anything but an array counts as none. */
type EntriesOf = (listing: Record<string, unknown>) => unknown;

async function askForModels(server: LocalServer, timeoutMs: number, entriesOf: EntriesOf): Promise<Offer> {
  const { label, baseURL } = server;
  const address = shownAddress(server);
  let response: Response;
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    response = await fetch(`${baseURL.replace(/\/+$/, "")}/models`, { signal, redirect: "error" });
  } catch {
    return { problem: `nothing answers at ${address}, so ${label} offers no model` };
  }
  const slip = addressSlip(server);
  const other = {
    problem: `the server at ${address} is not a model server${slip && ` (${slip.slice(0, -1)})`}`,
  };
  try {
    if (response.status === 503 && /loading model/i.test(await boundedText(response, mostOfLocal)))
      return { problem: `${label} at ${address} is still loading its model`, isLoading: true };
    const names = await readModelNames(response, mostOfLocal, entriesOf);
    if (!names) return other;
    const model = names.find((name) => !/embed/i.test(name));
    return model === undefined ? { problem: `${label} at ${address} offers no model` } : { model };
  } catch {
    return other;
  }
}

export function isLoading(offer: Offer | undefined): boolean {
  return offer?.model === undefined && offer?.isLoading === true;
}

/** The time that a server has to load its model. */
const longestLoad = { asks: 120, everyMs: 500 };

/** Asks again while a server loads its model, as it does for some time after its start. */
export async function onceLoaded(ask: () => Promise<Offer>): Promise<Offer> {
  for (let asks = 1; ; asks += 1) {
    const offer = await ask();
    if (!isLoading(offer) || asks >= longestLoad.asks) return offer;
    await sleep(longestLoad.everyMs);
  }
}

/**
 * Reads the names of the models that a server lists; undefined for another answer. Rejects for what is no JSON, or has more than
 * `mostCharacters`.
 */
export async function readModelNames(
  response: Response,
  mostCharacters: number = mostOfService,
  entriesOf: EntriesOf = ({ data }) => data,
): Promise<string[] | undefined> {
  const listing: unknown = response.ok && JSON.parse(await boundedText(response, mostCharacters));
  const entries = isObject(listing) ? entriesOf(listing) : undefined;
  if (!Array.isArray(entries)) return undefined;
  return entries.map((entry) => (isObject(entry) ? entry.id : undefined)).filter(isModelName);
}

function isModelName(id: unknown): id is string {
  return (
    typeof id === "string" &&
    id.trim() !== "" &&
    id.length <= longestName &&
    withoutControls(id) === id &&
    !/\s/.test(id)
  );
}

async function boundedText({ body }: Response, mostCharacters: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > mostCharacters) throw new Error("too long");
  }
  return text;
}
