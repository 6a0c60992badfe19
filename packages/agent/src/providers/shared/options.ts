import type { KnownOptions } from "@toolcrib/core";
import { AgentError, advised } from "../../errors.ts";
import { checkKind, checkLimit, checkPrice, refuseUnknown } from "../../options.ts";
import type { ModelPrice } from "./models.ts";
import { clientKeys, secretsOf } from "./secrets.ts";
import type { Service } from "./wireErrors.ts";

/** How much the model thinks before it answers; a service uses the nearest level that it has. */
export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** What every provider takes. `Client` is the SDK's client class. */
export interface ProviderOptions<Client> {
  /** Default: the service's environment variable. */
  readonly apiKey?: string | undefined;
  readonly baseURL?: string | undefined;
  /** Default: see `models.ts`. */
  readonly model?: string | undefined;
  /** A ready SDK client (Azure, Bedrock, a gateway); its own key, address and headers are then used. */
  readonly client?: Client | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Tokens one reply may have. */
  readonly maxTokens?: number | undefined;
  readonly reasoning?: ReasoningEffort | undefined;
  /** Merged over the top level of every request body. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
  /** Default true. Either way the events are the same. */
  readonly stream?: boolean | undefined;
  /**
   * Milliseconds until the reply starts (without streaming: until it is whole). Under an agent both limits hold. Default: the
   * agent's limit; without an agent 600,000.
   */
  readonly requestTimeoutMs?: number | undefined;
  /** Milliseconds that a stream may be silent. Default: the agent's limit; without an agent 90,000. */
  readonly idleTimeoutMs?: number | undefined;
  /** Replaces the price known for the model. */
  readonly price?: ModelPrice | undefined;
}

const knownOptions: KnownOptions<ProviderOptions<unknown>> = {
  apiKey: true,
  baseURL: true,
  model: true,
  client: true,
  headers: true,
  maxTokens: true,
  reasoning: true,
  extraBody: true,
  stream: true,
  requestTimeoutMs: true,
  idleTimeoutMs: true,
  price: true,
};

/**
 * Throws `invalid_option` for a limit that is not above 0, and for a name that no provider knows: with `baseUrl` the
 * conversation would go to the default address.
 */
export function checkProviderOptions(owner: string, options: object, more: Readonly<Record<string, true>> = {}): void {
  refuseUnknown<object>(owner, options, { ...knownOptions, ...more });
  const given = options as ProviderOptions<unknown>;
  for (const name of ["requestTimeoutMs", "idleTimeoutMs", "maxTokens"] as const)
    if (given[name] !== undefined) checkLimit(name, given[name], "the default");
  for (const name of ["apiKey", "baseURL", "model", "reasoning"] as const) checkKind(name, given[name], "string");
  for (const name of ["client", "headers", "extraBody"] as const) checkKind(name, given[name], "object");
  checkKind("stream", given.stream, "boolean");
  checkPrice(given.price);
  if (given.headers !== undefined && isInstance(given.headers))
    throw new AgentError({
      code: "invalid_option",
      message: "headers must be a plain object of names and values; pass Object.fromEntries(headers).",
    });
  if (given.baseURL?.trim() === "") throw notAnAddress("baseURL is empty.");
}

/** An environment variable, or undefined where it is unset or blank. */
export function environment(name: string): string | undefined {
  const value = process.env[name]?.trim();
  return value ? value : undefined;
}

/** Headers are handed on by a spread, which would lose what an instance of a class holds. */
function isInstance(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

function notAnAddress(problem: string): AgentError {
  return new AgentError({ code: "invalid_option", ...advised(problem, ["Check ", { option: "baseURL" }, "."]) });
}

/**
 * Throws `invalid_option` for an address that is not of HTTP, and for one with a user name or password: the error of `fetch`
 * would show the password.
 */
export function checkAddress(baseURL: string | undefined): void {
  if (baseURL === undefined || !URL.canParse(baseURL)) return;
  const { protocol, username, password } = new URL(baseURL);
  if (protocol !== "http:" && protocol !== "https:") throw notAnAddress("baseURL must begin with http:// or https://.");
  if (username === "" && password === "") return;
  const message =
    'baseURL must not hold a user name or password. Pass them as headers: { Authorization: "Basic …" }, or pass apiKey.';
  throw new AgentError({ code: "invalid_option", message });
}

/** What tells one service from another before a request is sent. */
export interface ServiceDescription extends Pick<Service, "name" | "label" | "model" | "baseURL"> {
  /** The variable that holds the key. A service without one needs no key. */
  readonly keyVariable: string | undefined;
}

/** The service behind a provider, and the key to send; throws `missing_key` where it needs one and there is none. */
export function serviceOf(
  { keyVariable, ...described }: ServiceDescription,
  { apiKey, client, headers }: ProviderOptions<{ readonly baseURL: string }>,
): { readonly service: Service; readonly apiKey: string | undefined } {
  const key = apiKey ?? (keyVariable && environment(keyVariable));
  if (!client && keyVariable && !key) throw missingKey(described.label, keyVariable);
  const baseURL = client?.baseURL ?? described.baseURL;
  const secrets = secretsOf({ keys: [client ? apiKey : key, ...clientKeys(client)], headers, baseURL });
  return { service: { ...described, keyVariable, baseURL, secrets }, apiKey: key || undefined };
}

function missingKey(label: string, variable: string): AgentError {
  const advice = ["Set the environment variable ", { option: "apiKey", variable }, "."] as const;
  return new AgentError({ code: "missing_key", ...advised(`No API key for ${label}.`, advice) });
}
