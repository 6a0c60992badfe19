import { type OptionSpec, type OptionSpecs, option } from "@toolcrib/core/internal";
import { AgentError, advised, invalidOption } from "../../errors.ts";
import type { AdvisedOption } from "../../messages.ts";
import { readAgentOptions } from "../../options.ts";
import { clientKeys, secretsOf } from "../errors/secrets.ts";
import type { Service } from "../errors/wireErrors.ts";
import type { ModelPrice, ReasoningEffort } from "../models/modelRules.ts";
import type { SdkLoader } from "./loadSdk.ts";

/** Options of every provider. `Client` is the SDK's client class. */
export interface ProviderOptions<Client> {
  /** Default: the service's environment variable. */
  readonly apiKey?: string | undefined;
  readonly baseURL?: string | undefined;
  /** Default: see `models.ts`. */
  readonly model?: string | undefined;
  /** A ready SDK client (Azure, Bedrock, a gateway); its own key, address and headers are then used. */
  readonly client?: Client | undefined;
  /** Loads the SDK where there is no `client`, for a program that holds it in its own files. Default: `import()` of its package. */
  readonly loadSdk?: SdkLoader | undefined;
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
   * Milliseconds until the reply starts (without streaming: until it is whole). Under an agent its limits hold, too. Default: the
   * agent's limit; without an agent 600,000.
   */
  readonly requestTimeoutMs?: number | undefined;
  /** Milliseconds that a stream may be silent. Default: the agent's limit; without an agent 90,000. */
  readonly idleTimeoutMs?: number | undefined;
  /** Milliseconds between two parts of the reply, however many signs come. Default: the agent's limit; without an agent 1,800,000. */
  readonly contentTimeoutMs?: number | undefined;
  /**
   * True if the address takes everything that the service itself takes, new and beta features included. Default: true at the service's own
   * address, false with a `client` or another `baseURL`, which get the plainest request.
   */
  readonly fullApi?: boolean | undefined;
  /** Replaces the price known for the model. */
  readonly price?: ModelPrice | undefined;
}

const required = { needed: "always" } as const;

const dollars = {
  expected: "dollars per million tokens, 0 or more",
  fits: (value: unknown) => typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY,
  isShown: true,
} satisfies OptionSpec;

const priceSpecs = {
  input: { ...dollars, ...required },
  output: { ...dollars, ...required },
  cacheRead: dollars,
  cacheWrite: dollars,
  cacheWriteHour: dollars,
  above: option.group<NonNullable<ModelPrice["above"]>>({
    inputTokens: { ...option.positive, ...required },
    inputTimes: { ...option.positive, ...required },
    outputTimes: { ...option.positive, ...required },
  }),
} satisfies OptionSpecs<ModelPrice>;

export const providerSpecs: OptionSpecs<ProviderOptions<unknown>> = {
  apiKey: option.text,
  baseURL: option.text,
  model: option.text,
  client: option.object,
  loadSdk: option.call,
  // Handed on by a spread, which would lose what an instance of a class holds.
  headers: { ...option.plain, expected: "a plain object of names and values, such as Object.fromEntries(headers)" },
  maxTokens: option.positive,
  reasoning: option.text,
  extraBody: option.object,
  stream: option.flag,
  requestTimeoutMs: option.positive,
  idleTimeoutMs: option.positive,
  contentTimeoutMs: option.positive,
  fullApi: option.flag,
  price: option.group(priceSpecs),
};

/** Throws `invalid_option` for unknown or invalid options: with `baseUrl` the conversation would go to the default address. */
export function checkProviderOptions<Options extends ProviderOptions<unknown>>(
  owner: string,
  options: Options,
  more: OptionSpecs<Omit<Options, keyof ProviderOptions<unknown>>>,
): void {
  readAgentOptions<object>(owner, options, { ...providerSpecs, ...more });
  if (options.baseURL?.trim() === "") throw notAnAddress("baseURL is empty.");
}

/** Returns an environment variable, or undefined where it is unset or blank. */
export function environment(name: string): string | undefined {
  const value = process.env[name]?.trim();
  return value ? value : undefined;
}

function notAnAddress(problem: string): AgentError {
  return new AgentError({ code: "invalid_option", ...advised(problem, ["Check ", { option: "baseURL" }, "."]) });
}

/** Throws `invalid_option` for an address that is not of HTTP, or has a password, which the error of `fetch` would show. */
export function checkAddress(baseURL: string | undefined): void {
  if (baseURL === undefined || !URL.canParse(baseURL)) return;
  const { protocol, username, password } = new URL(baseURL);
  if (protocol !== "http:" && protocol !== "https:") throw notAnAddress("baseURL must begin with http:// or https://.");
  if (username === "" && password === "") return;
  throw invalidOption(
    'baseURL must not contain a user name or password. Pass them as headers: { Authorization: "Basic …" }, or pass apiKey.',
  );
}

/** Returns whether the address takes everything that the service at `origin` takes. */
export function takesFullApi(
  origin: string,
  baseURL: string | undefined,
  { client, fullApi }: Pick<ProviderOptions<object>, "client" | "fullApi">,
): boolean {
  const isOwn = baseURL === undefined || (URL.canParse(baseURL) && new URL(baseURL).origin === origin);
  return fullApi ?? (client === undefined && isOwn);
}

/** The traits that tell one service from another before a request is sent. */
export interface ServiceDescription extends Pick<Service, "name" | "label" | "model" | "baseURL"> {
  /** The variable that holds the key. A service without one needs no key. */
  readonly keyVariable: string | undefined;
}

/** Returns the service behind a provider, and the key to send; throws `missing_key` where it needs one and there is none. */
export function serviceOf(
  { keyVariable, ...described }: ServiceDescription,
  { apiKey, client, headers }: ProviderOptions<{ readonly baseURL: string }>,
): { readonly service: Service; readonly apiKey: string | undefined } {
  const key = apiKey?.trim() ?? (keyVariable && environment(keyVariable));
  if (!client && keyVariable && !key) {
    const advice = ["Set the environment variable ", { option: "apiKey", variable: keyVariable }, "."] as const;
    throw new AgentError({ code: "missing_key", ...advised(`No API key for ${described.label}.`, advice) });
  }
  refuseKey(key ?? "", { option: "apiKey", variable: keyVariable });
  for (const [name, value] of Object.entries(headers ?? {})) refuseHeader(name, value);
  const baseURL = client?.baseURL ?? described.baseURL;
  const secrets = secretsOf({ keys: [client ? apiKey : key, ...clientKeys(client)], headers, baseURL });
  return { service: { ...described, keyVariable, baseURL, secrets }, apiKey: key || undefined };
}

/** Throws `invalid_option` for a key that no header can carry: the error of `fetch` would show it. */
function refuseKey(key: string, option: AdvisedOption): void {
  const at = key.search(/[^\t\x20-\x7e]/);
  if (at < 0) return;
  const problem = `The API key has ${nameOf(key, at)} in it, at character ${at + 1}.`;
  throw new AgentError({ code: "invalid_option", ...advised(problem, ["Set ", option, " again, to only the key."]) });
}

function refuseHeader(name: string, value: unknown): void {
  const text = String(value).trim();
  const at = text.search(/[^\t\x20-\x7e\x80-\xff]/);
  if (at < 0) return;
  const what = `${nameOf(text, at)} in it, at character ${at + 1}, which no header can carry`;
  throw invalidOption(`The header ${JSON.stringify(name)} has ${what}.`);
}

function nameOf(text: string, at: number): string {
  const code = text.codePointAt(at) ?? 0;
  return code === 10 || code === 13 ? "a line break" : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
