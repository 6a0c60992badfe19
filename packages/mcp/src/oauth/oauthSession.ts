import type { AuthProvider } from "@modelcontextprotocol/client";
import { McpError, reasonOf, shownName } from "../errors.ts";
import { addressRule } from "./addressRule.ts";
import { createOAuthFetch } from "./oauthFetch.ts";
import type { OAuthLogin, OAuthStore } from "./oauthStore.ts";
import { checkedTokens, loginSecrets, metadataOf, withoutTokens } from "./tokens.ts";

/** The login of one server, for its connections: the token of each request, renewed when it has run out. */
export interface OAuthSession extends AuthProvider {
  onUnauthorized(): Promise<void>;
  /** Lists what has been sent so far and must not be shown. */
  secrets(): readonly string[];
}

/** A token that is about to run out could do so on the way. */
const marginMs = 10_000;

/**
 * Makes the session of a server. It never logs in: without a login that the server takes, requests fail with an McpError (`login_required`).
 * The tokens go to `url` alone, and to the endpoint that gave them, whatever the server names later.
 */
export function createOAuthSession(server: string, url: URL, store: OAuthStore): OAuthSession {
  let sent: string | undefined;
  const secrets = new Set<string>();
  const keep = (login: OAuthLogin | undefined): OAuthLogin | undefined => {
    for (const secret of login ? loginSecrets(login) : []) secrets.add(secret);
    return login;
  };
  /** Returns the login with another token than `used`; undefined where there is none to be had. */
  const renew = (used: string): Promise<OAuthLogin | undefined> =>
    store.exclusively(async () => {
      const login = keep(await store.load(url));
      // Another process may have renewed it while this one waited.
      if (!login || login.accessToken !== used) return login;
      if (login.refreshToken === undefined) return undefined;
      const renewed = keep(await askForTokens(server, url, login));
      await store.save(url, renewed);
      return renewed;
    });
  return {
    secrets: () => [...secrets],
    async token() {
      let login = keep(await store.load(url));
      if (login?.expiresAt !== undefined && login.expiresAt - marginMs < Date.now())
        login = (await renew(login.accessToken)) ?? login;
      sent = login?.accessToken;
      return sent;
    },
    async onUnauthorized() {
      const renewed = sent === undefined ? undefined : await renew(sent);
      if (!renewed) throw loginRequired(server, url);
    },
  };
}

/** Asks for new tokens by the refresh token; undefined where the authorization server does not take it any more. */
async function askForTokens(server: string, url: URL, login: OAuthLogin): Promise<OAuthLogin | undefined> {
  const { refreshAuthorization } = await import("@modelcontextprotocol/client");
  try {
    const tokens = await refreshAuthorization(login.issuer, {
      metadata: metadataOf(login),
      clientInformation: {
        client_id: login.clientId,
        ...(login.clientSecret !== undefined && { client_secret: login.clientSecret }),
      },
      refreshToken: login.refreshToken ?? "",
      ...(login.resource !== undefined && { resource: login.resource }),
      fetchFn: createOAuthFetch(addressRule(url)),
    });
    return { ...login, ...checkedTokens(tokens, Date.now()) };
  } catch (cause) {
    const { code }: { code?: unknown } = Object(cause);
    if (["invalid_grant", "invalid_client", "unauthorized_client"].includes(String(code))) return undefined;
    const reason = withoutTokens(reasonOf(cause), loginSecrets(login));
    throw new McpError(
      "login_failed",
      server,
      `MCP server ${shownName(server)}: its login could not be renewed: ${reason}`,
      {},
    );
  }
}

function loginRequired(server: string, url: URL): McpError<"login_required"> {
  const name = shownName(server);
  const message = `MCP server ${name} asks for a login: toolcrib mcp login ${name}`;
  return new McpError("login_required", server, message, { url: `${url.origin}${url.pathname}` });
}
