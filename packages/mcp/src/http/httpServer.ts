import { randomBytes } from "node:crypto";
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { createMcpHandler, isLegacyRequest, type Server } from "@modelcontextprotocol/server";
import { reasonOf } from "../errors.ts";
import { createRequestCheck } from "./checkRequest.ts";
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
  const respond = async (request: Request): Promise<Response> => {
    const refused = check(request);
    if (refused) return refused;
    if (new URL(request.url).pathname !== path)
      return new Response(`Not found; the endpoint is ${path}`, { status: 404 });
    const legacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: maxBodyBytes });
    return legacy ? sessions.handle(request) : modern.fetch(request);
  };
  const http = createHttpServer((incoming, outgoing) => {
    const run = async (): Promise<void> => sendWebResponse(await respond(toWebRequest(incoming, outgoing)), outgoing);
    run().catch((error: unknown) => {
      onError(new Error(reasonOf(error), { cause: error }));
      if (outgoing.headersSent) {
        outgoing.end();
        return;
      }
      outgoing.writeHead(400, { "content-type": "application/json" });
      const problem = { code: -32_600, message: "Invalid request: it could not be read" };
      outgoing.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: problem }));
    });
  });
  await listen(http, port, host);
  const { port: actual } = http.address() as AddressInfo;
  return {
    url: `http://${hostInUrl}:${actual}${path}`,
    token: bearer,
    close: async () => {
      stopNotifying();
      await Promise.allSettled([modern.close(), sessions.close()]);
      const ended = new Promise<void>((resolve) => http.close(() => resolve()));
      http.closeAllConnections();
      await ended;
    },
  };
}

function listen(http: HttpServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, host, () => {
      http.removeListener("error", reject);
      resolve();
    });
  });
}

/** Converts a node request to a web one. Its signal fires when the client goes away before the answer is complete. */
function toWebRequest(request: IncomingMessage, response: ServerResponse): Request {
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
async function sendWebResponse(response: Response, target: ServerResponse): Promise<void> {
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
