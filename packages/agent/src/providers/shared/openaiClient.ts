import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import type OpenAI from "openai";
import { activityFetch } from "./byteActivity.ts";
import { loadSdk } from "./loadSdk.ts";
import { checkAddress, environment } from "./options.ts";
import type { SdkPromise } from "./streamReply.ts";

interface OpenAIClientSettings {
  /** Undefined: no Authorization header. */
  readonly apiKey: string | undefined;
  /** Undefined: that of OpenAI. */
  readonly baseURL: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Not OpenAI: nothing that the environment holds for OpenAI may be sent there. */
  readonly foreign: boolean;
}

/**
 * Returns a client with the two requests that the providers send: it makes one attempt and logs nothing. Of the `openai` package it loads
 * how streams are read and errors are made, while the first request is on its way; its own client brings 236 files, a third of the time to
 * the first request of a process. Throws `missing_sdk` before anything is sent.
 */
export async function openaiClient(settings: OpenAIClientSettings): Promise<OpenAI> {
  checkAddress(settings.baseURL);
  const { VERSION } = await loadSdk("openai", () => import("openai/version"));
  const loadErrors = () => import("openai/error");
  const { baseURL = "https://api.openai.com/v1" } = settings;
  const headers = headersOf(settings, `OpenAI/JS ${VERSION}`);

  async function fetchReply(path: string, body: object, controller: AbortController): Promise<Response> {
    const url = new URL(baseURL);
    url.pathname = url.pathname.replace(/\/*$/, path);
    const init = { method: "POST", headers, body: JSON.stringify(body), signal: controller.signal };
    const response = await activityFetch(url, init).catch(async (cause: Error) => {
      const { APIConnectionError, APIUserAbortError } = await loadErrors();
      throw controller.signal.aborted ? new APIUserAbortError() : new APIConnectionError({ cause });
    });
    if (response.ok) return response;
    const text = await response.text().catch((error: Error) => error.message);
    const json = attempt(() => JSON.parse(text) as unknown);
    // Servers of other makes have no `error` around what they say.
    const said = isObject(json) && (json.error ?? undefined) === undefined ? { error: json } : json;
    const { APIError } = await loadErrors();
    throw APIError.generate(response.status, isObject(said) ? said : undefined, text, response.headers);
  }

  function post(path: string, body: object, { signal }: { readonly signal: AbortSignal }): SdkPromise<unknown> {
    const controller = new AbortController();
    // The stream takes the reason of an ended request for its end.
    const abort = (): void => controller.abort();
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
    const response = fetchReply(path, body, controller);
    const chunks = Promise.all([response, import("openai/streaming")]).then(([opened, { Stream }]) =>
      Stream.fromSSEResponse(opened, controller, silent),
    );
    // Whoever asks for the response hears of its failure there.
    chunks.catch(() => undefined);
    return Object.assign(chunks, { asResponse: () => response });
  }

  const requests = {
    baseURL,
    responses: { create: post.bind(undefined, "/responses") },
    chat: { completions: { create: post.bind(undefined, "/chat/completions") } },
  };
  return requests as unknown as OpenAI;
}

/** A client without a logger: else a broken chunk would be printed. */
const silent = { logLevel: "off" } as OpenAI;

/** Returns the headers of each request, the user's own last. What the environment holds is for OpenAI alone. */
function headersOf({ apiKey, headers, foreign }: OpenAIClientSettings, agent: string): Headers {
  const [organization, project] = ["OPENAI_ORG_ID", "OPENAI_PROJECT_ID"].map((name) => environment(name));
  const key = apiKey ?? (foreign ? undefined : "none");
  const all = new Headers({
    accept: "application/json",
    "content-type": "application/json",
    "user-agent": agent,
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(!foreign && organization !== undefined && { "openai-organization": organization }),
    ...(!foreign && project !== undefined && { "openai-project": project }),
  });
  const lines = foreign ? [] : (environment("OPENAI_CUSTOM_HEADERS")?.split("\n") ?? []);
  const custom = lines.filter((line) => line.includes(":")).map((line) => line.split(/:(.*)/s, 2) as [string, string]);
  for (const [name, value] of [...custom, ...Object.entries(headers ?? {})]) all.set(name.trim(), value.trim());
  return all;
}
