import type { KnownOptions } from "@toolcrib/core";
import { AgentError } from "../../errors.ts";
import { refuseUnknown } from "../../options.ts";
import type { ModelPrice } from "./models.ts";

/** How much the model thinks before it answers; a service maps what it does not know to the nearest it has. */
export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** What every provider takes. `Client` is the SDK's client class. */
export interface ProviderOptions<Client> {
  /** Default: the service's environment variable. */
  readonly apiKey?: string | undefined;
  readonly baseURL?: string | undefined;
  /** Default: see `models.ts`. */
  readonly model?: string | undefined;
  /** A ready SDK client (Azure, Bedrock, a gateway); `apiKey`, `baseURL` and `headers` are then its own matter. */
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
  /** Milliseconds until the reply starts (without streaming: until it is whole). Default: the agent's limit alone. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds a stream may be silent. Default: the agent's limit alone. */
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
  timeoutMs: true,
  idleTimeoutMs: true,
  price: true,
};

/** Throws `invalid_option` for a name that no provider knows: `baseUrl` would send the conversation elsewhere. */
export function checkProviderOptions(owner: string, options: object, more: Readonly<Record<string, true>> = {}): void {
  refuseUnknown<object>(owner, options, { ...knownOptions, ...more });
}

/** An environment variable, or undefined where it is unset or blank. */
export function environment(name: string): string | undefined {
  const value = process.env[name]?.trim();
  return value ? value : undefined;
}

/** Throws `invalid_option` for an address with a user name or password: `fetch` takes none, and says so with the password. */
export function checkAddress(baseURL: string | undefined): void {
  if (baseURL === undefined || !URL.canParse(baseURL)) return;
  const { username, password } = new URL(baseURL);
  if (username === "" && password === "") return;
  const message =
    'baseURL must not hold a user name or password. Pass them as headers: { Authorization: "Basic …" }, or pass apiKey.';
  throw new AgentError({ code: "invalid_option", message });
}

/** Milliseconds; `setTimeout` beyond it fires at once. */
export const longestTimer: number = 2 ** 31 - 1;
