import { randomBytes } from "node:crypto";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHandler, isLegacyRequest, type Server } from "@modelcontextprotocol/server";
import { reasonOf } from "../errors.ts";
import { createRequestCheck } from "./checkRequest.ts";
import { checkHttpOptions, type HttpOptions } from "./httpOptions.ts";
import { HttpSessions } from "./httpSessions.ts";
import { sendWebResponse, toWebRequest } from "./webRequest.ts";

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
