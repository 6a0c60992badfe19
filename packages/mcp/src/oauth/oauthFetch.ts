import type { FetchLike } from "@modelcontextprotocol/client";
import type { AddressRule } from "./addressRule.ts";

/** Metadata and token answers are a few kilobytes. */
const maxBytes = 256 * 1024;
const timeoutMs = 20_000;

/**
 * Makes the `fetch` for metadata, registration and tokens: allowed addresses alone, and short answers. The client library follows
 * redirects.
 */
export function createOAuthFetch(rule: AddressRule, signal?: AbortSignal): FetchLike {
  return async (url, init) => {
    const address = rule(url, "The address");
    const limit = AbortSignal.timeout(timeoutMs);
    const signals = [limit, ...(signal ? [signal] : []), ...(init?.signal ? [init.signal] : [])];
    const response = await fetch(address, { ...init, redirect: "manual", signal: AbortSignal.any(signals) });
    const text = await boundedText(response, address);
    // These have no body, and a Response refuses one.
    const body = [101, 204, 205, 304].includes(response.status) ? null : text;
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

async function boundedText({ body }: Response, { origin }: URL): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new TypeError(`${origin} answers with more than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
