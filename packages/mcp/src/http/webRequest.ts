import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";

/** Converts a node request to a web one. Its signal fires when the client goes away before the answer is complete. */
export function toWebRequest(request: IncomingMessage, response: ServerResponse): Request {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const headers = new Headers();
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    headers.append(String(request.rawHeaders[at]), String(request.rawHeaders[at + 1]));
  }
  const method = request.method ?? "GET";
  // The host of this URL is not used: the Host header is checked.
  return new Request(new URL(request.url ?? "/", "http://localhost"), {
    method,
    headers,
    signal: gone.signal,
    ...(method === "GET" || method === "HEAD"
      ? {}
      : { body: Readable.toWeb(request) as NonNullable<RequestInit["body"]>, duplex: "half" }),
  });
}

/** Writes a web response, streams included, until it ends or the client goes away. */
export async function sendWebResponse(response: Response, target: ServerResponse): Promise<void> {
  target.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) {
    target.end();
    return;
  }
  target.flushHeaders();
  try {
    await pipeline(Readable.fromWeb(response.body as ReadableStream), target);
  } catch {
    // The client went away. The signal of its request tells the handler.
  }
}
