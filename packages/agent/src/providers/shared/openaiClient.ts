import { longestDelayMs } from "@toolcrib/core/internal";
import type OpenAI from "openai";
import { loadSdk, type SdkLoader } from "./loadSdk.ts";
import { checkAddress, environment } from "./options.ts";
import { activityFetch } from "./serviceFetch.ts";

interface OpenAIClientSettings {
  /** Undefined: no Authorization header. */
  readonly apiKey: string | undefined;
  /** Undefined: the SDK's own. */
  readonly baseURL: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly loadSdk?: SdkLoader | undefined;
  /** Not OpenAI: nothing that the environment holds for OpenAI may be sent there. */
  readonly foreign: boolean;
}

/** Returns a client of the `openai` package, which is loaded here: it makes one attempt and logs nothing. */
export async function openaiClient(settings: OpenAIClientSettings): Promise<OpenAI> {
  checkAddress(settings.baseURL);
  const { default: Client } = await loadSdk("openai", () => import("openai"), settings.loadSdk);
  return new Client({
    apiKey: settings.apiKey ?? "none",
    ...(settings.baseURL !== undefined && { baseURL: settings.baseURL.replace(/\/+$/, "") }),
    ...(settings.foreign && { organization: null, project: null }),
    defaultHeaders: {
      ...(settings.foreign && withoutCustomHeaders()),
      ...(settings.foreign && { Authorization: settings.apiKey === undefined ? null : `Bearer ${settings.apiKey}` }),
      ...settings.headers,
    },
    fetch: activityFetch,
    maxRetries: 0,
    // The agent's clock ends requests; the SDK's limit must not come first.
    timeout: longestDelayMs,
    logLevel: "off",
  });
}

/** Takes out the user's headers. The SDK adds `OPENAI_CUSTOM_HEADERS` to every client's requests; null takes each out again. */
function withoutCustomHeaders(): Record<string, null> {
  const lines = environment("OPENAI_CUSTOM_HEADERS")?.split("\n") ?? [];
  const names = lines.filter((line) => line.includes(":")).map((line) => line.slice(0, line.indexOf(":")).trim());
  return Object.fromEntries(names.map((name) => [name, null]));
}
