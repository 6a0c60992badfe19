import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Server } from "node:net";
import { untilAborted } from "@toolcrib/core/internal";

/** The code that the browser brings back, and the issuer that it claims. */
export interface AuthorizationCode {
  readonly code: string;
  readonly iss: string | undefined;
}

/** Waits on this machine for the browser to come back from the authorization server. */
export interface RedirectListener {
  /** The address that the authorization server sends the browser to. */
  readonly url: string;
  /** Rejects when the user, or the authorization server, has refused, and when `signal` fires. */
  waitForCode(signal: AbortSignal): Promise<AuthorizationCode>;
  close(): void;
}

const path = "/callback";

/** Listens on 127.0.0.1, by default at a random port. Only a request that carries `state` counts; any other is answered and forgotten. */
export async function listenForRedirect(state: string, port = 0): Promise<RedirectListener> {
  const arrived = Promise.withResolvers<AuthorizationCode>();
  arrived.promise.catch(() => undefined);
  const server = createServer((request, response) => {
    const parameters = parametersOf(request, portOf(server), state);
    if (!parameters) return answer(response, 400, "This is not the login that was started. Nothing was done.");
    const [code, error] = [parameters.get("code"), parameters.get("error")];
    if (code) {
      arrived.resolve({ code, iss: parameters.get("iss") ?? undefined });
      return answer(response, 200, "You can close this page and return to the terminal.");
    }
    arrived.reject(
      new Error(`the authorization server refused: ${/^[\w.-]{1,64}$/.exec(error ?? "")?.[0] ?? "no code"}`),
    );
    return answer(response, 200, "The login was refused. You can close this page.");
  });
  // The last answer is sent after `close`; a client that never reads it keeps no program alive.
  server.on("connection", (socket) => socket.unref());
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${portOf(server)}${path}`,
    waitForCode: (signal) => untilAborted(arrived.promise, signal),
    close() {
      server.close();
      server.closeIdleConnections();
    },
  };
}

/** Returns the port of a server that listens. */
function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Returns the parameters of a request that is the answer to this login; undefined for any other. */
function parametersOf(
  { method, url = "", headers }: IncomingMessage,
  port: number,
  state: string,
): URLSearchParams | undefined {
  const target = URL.parse(url, `http://127.0.0.1:${port}`);
  // A page that reaches this address by a name of its own sends that name.
  if (method !== "GET" || target?.pathname !== path || headers.host !== `127.0.0.1:${port}`) return undefined;
  const parameters = target.searchParams;
  if (["state", "code", "iss", "error"].some((name) => parameters.getAll(name).length > 1)) return undefined;
  return isSame(parameters.get("state") ?? "", state) ? parameters : undefined;
}

function isSame(given: string, expected: string): boolean {
  // Not imported: node:crypto takes 8 ms to load.
  const { timingSafeEqual } = process.getBuiltinModule("node:crypto");
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    Connection: "close",
  });
  response.end(text);
}
