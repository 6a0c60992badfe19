import { randomUUID } from "node:crypto";
import { type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { refusal } from "./checkRequest.ts";

/** The most sessions that are kept. Beyond that the one used least recently is closed, and its client starts a new one. */
const maxSessions = 256;

interface Session {
  transport: WebStandardStreamableHTTPServerTransport;
  server: Server;
}

/**
 * The sessions of protocol revisions up to 2025-11-25, each a connection of its own. The SDK's transport is one session, and its handler
 * serves these revisions without any: then no client would be asked, or told that tools have changed.
 */
export class HttpSessions {
  readonly #create: () => Server;
  readonly #maxBodyBytes: number;
  /** Least recently used first. */
  readonly #sessions = new Map<string, Session>();

  constructor(create: () => Server, maxBodyBytes: number) {
    this.#create = create;
    this.#maxBodyBytes = maxBodyBytes;
  }

  /** `how` has the parsed body, of a request that holds none itself. */
  async handle(request: Request, how?: { readonly parsedBody: unknown }): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id === null) return this.#open(request, how);
    const session = this.#sessions.get(id);
    if (!session)
      return refusal(404, -32_001, "Session not found: send initialize without mcp-session-id to start one");
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session.transport.handleRequest(request, how);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#sessions.values()].map(({ server }) => server.close()));
    this.#sessions.clear();
  }

  /** Opens a session by `initialize`, which alone succeeds without one. */
  async #open(request: Request, how: { readonly parsedBody: unknown } | undefined): Promise<Response> {
    const server = this.#create();
    const stopListening = server.onclose;
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: this.#maxBodyBytes,
      onsessioninitialized: (id) => this.#keep(id, { transport, server }),
    });
    server.onclose = () => {
      stopListening?.();
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
    };
    await server.connect(transport);
    const response = await transport.handleRequest(request, how);
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  #keep(id: string, session: Session): void {
    this.#sessions.set(id, session);
    const [oldest] = this.#sessions.values();
    if (this.#sessions.size > maxSessions) void oldest?.server.close();
  }
}
