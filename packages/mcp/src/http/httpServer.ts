import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { createMcpHandler, isLegacyRequest, type Server } from "@modelcontextprotocol/server";
import { attempt } from "@toolcrib/core/internal";
import { reasonOf } from "../errors.ts";
import { createRequestCheck, refusal } from "./checkRequest.ts";
import { checkHttpOptions, type HttpOptions } from "./httpOptions.ts";
import { HttpSessions } from "./httpSessions.ts";

interface HttpListeners {
  /** Calls the listener when the tools change, until the function that it returns is called. */
  onToolsChange: (listener: () => void) => () => void;
  onError: (error: Error) => void;
}

interface HttpServing {
  url: string;
  token: string | undefined;
  close(): Promise<void>;
}

const path = "/mcp";
const maxBodyBytes = 10 * 1024 * 1024;

/**
 * Serves every protocol revision at `/mcp`. Rejects when the address cannot be listened on, or would be served without a token
 * though it is not loopback.
 */
export async function serveHttp(
  createServer: () => Server,
  options: HttpOptions,
  { onToolsChange, onError }: HttpListeners,
): Promise<HttpServing> {
  checkHttpOptions(options);
  const { port = 0, host = "127.0.0.1", token, auth = true, allowedHosts = [], allowedOrigins = [] } = options;
  const bearer = auth ? (token ?? randomBytes(32).toString("base64url")) : undefined;
  const hostInUrl = host.includes(":") ? `[${host}]` : host;
  const check = createRequestCheck([hostInUrl, ...allowedHosts], bearer, allowedOrigins);
  const sessions = new HttpSessions(createServer, maxBodyBytes);
  const modern = createMcpHandler(createServer, {
    legacy: "reject",
    maxRequestBodySize: maxBodyBytes,
    onerror: onError,
  });
  const stopNotifying = onToolsChange(() => modern.notify.toolsChanged());
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<Response> => {
    const head = toWebRequest(incoming, outgoing);
    const refused = check(head);
    if (refused) return refused;
    if (new URL(head.url).pathname !== path) return new Response(`Not found; the endpoint is ${path}`, { status: 404 });
    // Read and parsed once, here: the SDK would copy the stream for each look at it.
    const bytes = head.method === "POST" ? await readBody(incoming) : undefined;
    const parsedBody = bytes && attempt(() => JSON.parse(bytes.toString("utf8")) as unknown);
    const isParsed = bytes === undefined || parsedBody !== undefined;
    // The SDK says what is wrong with a body.
    const request = isParsed ? head : new Request(head, { body: new Uint8Array(bytes) });
    const how = parsedBody === undefined ? undefined : { parsedBody };
    const legacy = await isLegacyRequest(request, parsedBody, { maxRequestBodySize: maxBodyBytes });
    return legacy ? sessions.handle(request, how) : modern.fetch(request, how);
  };
  const http = createHttpServer((incoming, outgoing) => {
    const run = async (): Promise<void> => sendWebResponse(await respond(incoming, outgoing), outgoing);
    run().catch((error: unknown) => {
      onError(new Error(reasonOf(error), { cause: error }));
      if (outgoing.headersSent) outgoing.end();
      else void sendWebResponse(refusal(400, -32_600, "Invalid request: it could not be read"), outgoing);
    });
  });
  http.listen(port, host);
  await once(http, "listening");
  const { port: actual } = http.address() as AddressInfo;
  return {
    url: `http://${hostInUrl}:${actual}${path}`,
    token: bearer,
    close: async () => {
      stopNotifying();
      await Promise.allSettled([modern.close(), sessions.close()]);
      const ended = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await ended;
    },
  };
}

/** Reads a body, one that is too long up to the first chunk beyond the limit; none where its client goes away. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const none = Buffer.alloc(0);
  if (Number(request.headers["content-length"]) > maxBodyBytes) return none;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // Destroyed, it could not be answered.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBodyBytes) break;
    }
  } catch {
    return none;
  }
  return Buffer.concat(chunks);
}

/** Converts a node request without its body to a web one. Its signal fires when the client goes away before the answer is complete. */
function toWebRequest(request: IncomingMessage, response: ServerResponse): Request {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const headers = new Headers();
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    headers.append(String(request.rawHeaders[at]), String(request.rawHeaders[at + 1]));
  }
  const { method = "GET", url = "/" } = request;
  // The host of this URL is not used: the Host header is checked.
  return new Request(new URL(url, "http://localhost"), { method, headers, signal: gone.signal });
}

/** Writes a web response, streams included, until it ends or the client goes away. */
async function sendWebResponse(response: Response, target: ServerResponse): Promise<void> {
  const headers = Object.fromEntries(response.headers);
  if (!response.body || headers["content-type"] === "application/json") {
    const bytes = new Uint8Array(await response.arrayBuffer());
    target.writeHead(response.status, { ...headers, ...(response.body && { "content-length": bytes.length }) });
    target.end(bytes);
    return;
  }
  target.writeHead(response.status, headers);
  target.flushHeaders();
  try {
    await pipeline(Readable.fromWeb(response.body as ReadableStream), target);
  } catch {
    // The client went away. The signal of its request tells the handler.
  }
}
