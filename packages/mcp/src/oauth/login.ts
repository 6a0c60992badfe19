import type {
  AuthorizationServerMetadata,
  FetchLike,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import { McpError, reasonOf, shownName } from "../errors.ts";
import { type AddressRule, addressRule } from "./addressRule.ts";
import { createOAuthFetch } from "./oauthFetch.ts";
import type { OAuthLogin, OAuthStore } from "./oauthStore.ts";
import { type AuthorizationCode, listenForRedirect } from "./redirectListener.ts";
import { checkedTokens, withoutTokens } from "./tokens.ts";

export interface LoginOptions {
  /** The name of the server, for messages. */
  readonly server: string;
  readonly url: URL;
  readonly store: OAuthStore;
  /** Shows the user the address to log in at, or opens it in a browser. */
  readonly open: (address: URL) => void;
  /** Headers that the server gets with every request, beside the token. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A client that was registered beforehand, or the https address of a client's metadata. Default: a client is registered. */
  readonly clientId?: string | undefined;
  /** The port on 127.0.0.1 to which the browser comes back. Default: a random port. */
  readonly port?: number | undefined;
  /** Origins that may give the token though the user logs in at another. Default: none. */
  readonly trust?: readonly string[] | undefined;
  /** Milliseconds that the user has. Default: five minutes. */
  readonly timeoutMs?: number | undefined;
  /** The name of the client that the authorization server shows. Default `toolcrib`. */
  readonly clientName?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const defaultTimeoutMs = 5 * 60_000;

/** The state of one login. It is in memory alone, so that two logins at once do not meet. */
interface Progress {
  /** True once the server has asked for a login. */
  isAsked: boolean;
  state?: OAuthDiscoveryState;
  verifier?: string;
  resource?: string;
  client?: StoredOAuthClientInformation;
}

/**
 * Logs the user in at a server that asks for it: with PKCE, in the user's browser, which comes back to this machine. The tokens are kept in
 * the store. Rejects with an McpError (`login_failed`) whose message holds no secret.
 */
export async function login(options: LoginOptions): Promise<OAuthLogin> {
  const { server, url, store, headers = {}, port, timeoutMs = defaultTimeoutMs, signal } = options;
  // Not imported: node:crypto takes 8 ms to load.
  const state = process.getBuiltinModule("node:crypto").randomBytes(32).toString("base64url");
  const progress: Progress = { isAsked: false };
  const secrets = [state];
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const rule = addressRule(url);
    rule(url, "The address");
    if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization"))
      throw new Error("its entry sends its own Authorization header; remove it to log in");
    const either = signal ? AbortSignal.any([signal, limit]) : limit;
    const listener = await listenForRedirect(state, port);
    try {
      const provider = createProvider(options, { redirectUrl: listener.url, state, progress, rule });
      await startLogin(options, provider, progress, createOAuthFetch(rule, either), either);
      const code = await listener.waitForCode(either);
      secrets.push(code.code);
      const kept = await finishLogin(provider, progress, code, createOAuthFetch(rule, either));
      await store.save(url, kept);
      return kept;
    } finally {
      listener.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    for (const secret of [progress.verifier, progress.client?.client_secret]) if (secret) secrets.push(secret);
    const reason = limit.aborted ? "nobody logged in before the time limit" : withoutTokens(reasonOf(error), secrets);
    throw new McpError(
      "login_failed",
      server,
      `The login at the MCP server ${shownName(server)} failed: ${reason}`,
      {},
    );
  }
}

/** Finds the authorization server, registers a client and shows the user where to log in. */
async function startLogin(
  { url, headers = {} }: LoginOptions,
  provider: OAuthClientProvider,
  progress: Progress,
  fetchFn: FetchLike,
  signal: AbortSignal,
): Promise<void> {
  const { auth, extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const answer = await fetch(url, { ...unknownClient, headers: { ...unknownClient.headers, ...headers }, signal });
  await answer.body?.cancel();
  progress.isAsked = answer.status === 401;
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(answer);
  await auth(provider, {
    serverUrl: url,
    fetchFn,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
  });
}

/** A request that a server refuses with the address of its metadata, where it asks for a login. */
const unknownClient = {
  method: "POST",
  redirect: "manual",
  headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
} as const;

async function finishLogin(
  provider: OAuthClientProvider,
  { state, resource, client }: Progress,
  { code, iss }: AuthorizationCode,
  fetchFn: FetchLike,
): Promise<OAuthLogin> {
  const { fetchToken } = await import("@modelcontextprotocol/client");
  if (!state || !client) throw new Error("the login was not started");
  const metadata = endpointsOf(state);
  const tokens = await fetchToken(provider, state.authorizationServerUrl, {
    metadata,
    authorizationCode: code,
    fetchFn,
    ...(iss !== undefined && { iss }),
    ...(resource !== undefined && { resource }),
  });
  return {
    issuer: metadata.issuer,
    tokenEndpoint: metadata.token_endpoint,
    revocationEndpoint: "revocation_endpoint" in metadata ? metadata.revocation_endpoint : undefined,
    authMethods: metadata.token_endpoint_auth_methods_supported,
    resource,
    clientId: client.client_id,
    clientSecret: client.client_secret,
    ...checkedTokens(tokens, Date.now()),
  };
}

/** Returns the endpoints of an authorization server: those of its metadata, or the usual ones of a server without. */
function endpointsOf({
  authorizationServerUrl,
  authorizationServerMetadata,
}: OAuthDiscoveryState): AuthorizationServerMetadata {
  const at = (path: string): string => new URL(path, authorizationServerUrl).href;
  return (
    authorizationServerMetadata ?? {
      issuer: authorizationServerUrl,
      authorization_endpoint: at("/authorize"),
      token_endpoint: at("/token"),
      registration_endpoint: at("/register"),
      response_types_supported: ["code"],
    }
  );
}

/**
 * Throws for endpoints that may not be used. The code goes to the token endpoint: one of another origin than the page on which the user
 * logs in could take the login of an innocent authorization server.
 */
function checkEndpoints(state: OAuthDiscoveryState, rule: AddressRule, trust: readonly string[]): void {
  const { authorization_endpoint: page, token_endpoint: token, registration_endpoint: register } = endpointsOf(state);
  rule(state.authorizationServerUrl, "The authorization server");
  const { origin } = rule(page, "The login page");
  for (const [address, what] of [
    [token, "The token endpoint"],
    [register, "The registration endpoint"],
  ] as const) {
    const other = address === undefined ? origin : rule(address, what).origin;
    if (other === origin || trust.includes(other)) continue;
    throw new TypeError(
      `${what} ${other} is not where you would log in, ${origin}; trust it (--trust ${other}) only if you know that they belong together`,
    );
  }
}

interface ProviderParts {
  readonly redirectUrl: string;
  readonly state: string;
  readonly progress: Progress;
  readonly rule: AddressRule;
}

/** Makes the client library's view of one login. It gets no earlier tokens: each login begins anew. */
function createProvider(
  { clientId, clientName = "toolcrib", open, trust = [] }: LoginOptions,
  { redirectUrl, state, progress, rule }: ProviderParts,
): OAuthClientProvider {
  const isMetadata = clientId?.startsWith("https://") === true;
  if (clientId !== undefined && !isMetadata) progress.client = { client_id: clientId };
  return {
    redirectUrl,
    clientMetadata: {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    ...(isMetadata && clientId !== undefined && { clientMetadataUrl: clientId }),
    state: () => state,
    // A client that the user names is not bound to an authorization server yet; one that was registered is.
    clientInformation: (context) =>
      progress.client && { ...(context && { issuer: context.issuer }), ...progress.client },
    saveClientInformation(client) {
      progress.client = client;
    },
    tokens: () => undefined,
    saveTokens: () => undefined,
    saveCodeVerifier(verifier) {
      progress.verifier = verifier;
    },
    codeVerifier: () => progress.verifier ?? "",
    saveResourceUrl(resource) {
      progress.resource = resource;
    },
    // Called before a client is registered and before the user is sent anywhere.
    saveDiscoveryState(found) {
      if (!progress.isAsked && !found.authorizationServerMetadata) throw new TypeError("it requires no login");
      checkEndpoints(found, rule, trust);
      progress.state = found;
    },
    discoveryState: () => progress.state,
    redirectToAuthorization: (address) => open(rule(address, "The login page")),
  };
}
