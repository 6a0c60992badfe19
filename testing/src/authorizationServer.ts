import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface AuthorizationServerOptions {
  /** Added to the metadata, or in place of it; `none`: there is none, as with servers of the first kind. */
  readonly metadata?: Readonly<Record<string, unknown>> | "none";
  /** Added to each answer with tokens, or in place of it. */
  readonly tokens?: Readonly<Record<string, unknown>>;
  /** True if the answer of the login page names the issuer. */
  readonly iss?: string | undefined;
}

interface Grant {
  readonly challenge: string;
  readonly client: string;
  readonly redirect: string;
  readonly resource: string | null;
}

/** A strict authorization server on loopback: registration, PKCE, codes and refresh tokens for one use each, revocation. */
export class AuthorizationServer {
  /** The requests to it, as `POST /token grant_type`. */
  readonly requests: string[] = [];
  /** The access tokens that are good, with the resource that each is for. */
  readonly tokens = new Map<string, string | null>();
  options: AuthorizationServerOptions = {};
  readonly #server: Server;
  readonly #redirects = new Map<string, readonly string[]>();
  readonly #codes = new Map<string, Grant>();
  readonly #refresh = new Map<string, { client: string; resource: string | null }>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
    const server = createServer();
    const started = new AuthorizationServer(server);
    started.options = options;
    server.on("request", (request, response) => void started.#respond(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return started;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const target = new URL(request.url ?? "", this.url);
    const body = await text(request);
    const form = new URLSearchParams(body);
    this.requests.push(`${request.method} ${target.pathname} ${form.get("grant_type") ?? ""}`.trim());
    const json = (value: unknown, status = 200): unknown => {
      response.writeHead(status, { "Content-Type": "application/json" });
      return response.end(JSON.stringify(value));
    };
    switch (target.pathname) {
      case "/.well-known/oauth-authorization-server":
        return this.options.metadata === "none" ? json({}, 404) : json(this.#metadata());
      case "/register":
        return json(this.#register(JSON.parse(body)), 201);
      case "/authorize":
        response.writeHead(302, { Location: this.#authorize(target.searchParams) });
        return response.end();
      case "/token":
        return this.#token(form, json);
      case "/revoke":
        this.#refresh.delete(form.get("token") ?? "");
        this.tokens.delete(form.get("token") ?? "");
        return json({});
      default:
        return json({ error: "not_found" }, 404);
    }
  }

  #metadata(): object {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      registration_endpoint: `${this.url}/register`,
      revocation_endpoint: `${this.url}/revoke`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      ...(this.options.metadata as object | undefined),
    };
  }

  #register(metadata: { redirect_uris: string[] }): object {
    const client = `client-${randomUUID()}`;
    this.#redirects.set(client, metadata.redirect_uris);
    return { ...metadata, client_id: client };
  }

  #authorize(parameters: URLSearchParams): string {
    const given = (name: string): string => parameters.get(name) ?? "";
    const [client, redirect] = [given("client_id"), given("redirect_uri")];
    const known = this.#redirects.get(client);
    if (known && !known.includes(redirect)) throw new Error("a redirect that was not registered");
    if (given("code_challenge_method") !== "S256" || given("response_type") !== "code") throw new Error("not PKCE");
    const code = `code-${randomUUID()}`;
    this.#codes.set(code, {
      challenge: given("code_challenge"),
      client,
      redirect,
      resource: parameters.get("resource"),
    });
    const answer = new URL(redirect);
    answer.searchParams.set("code", code);
    answer.searchParams.set("state", given("state"));
    if (this.options.iss !== undefined) answer.searchParams.set("iss", this.options.iss);
    return answer.href;
  }

  #token(form: URLSearchParams, json: (value: unknown, status?: number) => unknown): unknown {
    const given = (name: string): string => form.get(name) ?? "";
    const isRefresh = given("grant_type") === "refresh_token";
    const grant = isRefresh ? this.#refresh.get(given("refresh_token")) : this.#codes.get(given("code"));
    // For one use each.
    this.#refresh.delete(given("refresh_token"));
    this.#codes.delete(given("code"));
    const isGood = grant?.client === given("client_id") && (isRefresh || isProven(grant as Grant, form));
    if (!grant || !isGood) return json({ error: "invalid_grant", error_description: form.toString() }, 400);
    const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    this.tokens.set(access, grant.resource);
    this.#refresh.set(refresh, { client: grant.client, resource: grant.resource });
    return json({
      access_token: access,
      refresh_token: refresh,
      token_type: "Bearer",
      expires_in: 3600,
      ...this.options.tokens,
    });
  }
}

function isProven({ challenge, redirect }: Grant, form: URLSearchParams): boolean {
  const proof = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url");
  return proof === challenge && form.get("redirect_uri") === redirect;
}

/** A server that asks for the tokens of an authorization server and hands on what is allowed. */
export interface ProtectedServer {
  readonly url: string;
  /** The authorization server that it names; may be changed. */
  authorizationServer: string;
  /** The `Authorization` headers that it got. */
  readonly seen: string[];
  /** Added to the refusal of a request. */
  challenge: string;
  close(): Promise<void>;
}

/** Puts a server at `target`, which takes `bearer`, behind the tokens of `authorization`. */
export async function protect(
  target: string,
  bearer: string,
  authorization: AuthorizationServer,
): Promise<ProtectedServer> {
  const server = createServer((request, response) => {
    // The client, or the server behind, may end the connection at any moment.
    respond(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metadataPath = "/.well-known/oauth-protected-resource/mcp";
  const protectedServer: ProtectedServer = {
    url: `${origin}/mcp`,
    authorizationServer: authorization.url,
    seen: [],
    challenge: `resource_metadata="${origin}${metadataPath}"`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const given = request.headers.authorization ?? "";
    if (request.url === metadataPath) {
      const { url: resource, authorizationServer } = protectedServer;
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ resource, authorization_servers: [authorizationServer] }));
      return;
    }
    protectedServer.seen.push(given);
    if (authorization.tokens.get(given.replace(/^Bearer /, "")) !== protectedServer.url) {
      response.writeHead(401, { "WWW-Authenticate": `Bearer ${protectedServer.challenge}` });
      // As unfriendly servers do.
      response.end(`not good: ${given}`);
      return;
    }
    const { host: _host, ...headers } = request.headers as Record<string, string>;
    const body = request.method === "POST" ? await text(request) : undefined;
    const answer = await fetch(target, {
      method: request.method ?? "GET",
      headers: { ...headers, authorization: `Bearer ${bearer}` },
      ...(body !== undefined && { body }),
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  }
  return protectedServer;
}
