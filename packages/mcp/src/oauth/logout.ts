import { addressRule } from "./addressRule.ts";
import { createOAuthFetch } from "./oauthFetch.ts";
import type { OAuthLogin, OAuthStore } from "./oauthStore.ts";

/**
 * Forgets the login at a server, and asks the authorization server to take the tokens back. Resolves to what came of it: `revoked`,
 * `forgotten` where the authorization server did not confirm, `none` where there was no login.
 */
export async function logout(url: URL, store: OAuthStore): Promise<"revoked" | "forgotten" | "none"> {
  const login = await store.load(url);
  if (!login) return "none";
  // First: what is forgotten here cannot be sent any more, whatever becomes of the rest.
  await store.save(url, undefined);
  return (await revoke(url, login).catch(() => false)) ? "revoked" : "forgotten";
}

/** Revokes a token (RFC 7009). A refresh token takes the access tokens that came of it along. */
async function revoke(
  url: URL,
  { revocationEndpoint, tokenEndpoint, clientId, refreshToken, accessToken }: OAuthLogin,
): Promise<boolean> {
  if (revocationEndpoint === undefined) return false;
  const rule = addressRule(url);
  // The tokens go to no other place than those that they came from.
  if (rule(revocationEndpoint, "The revocation endpoint").origin !== new URL(tokenEndpoint).origin) return false;
  const ask = createOAuthFetch(rule);
  const given = [
    ["refresh_token", refreshToken],
    ["access_token", accessToken],
  ] as const;
  for (const [kind, token] of given) {
    if (token === undefined) continue;
    const body = new URLSearchParams({ token, token_type_hint: kind, client_id: clientId });
    const { ok } = await ask(revocationEndpoint, { method: "POST", body });
    if (!ok) return false;
  }
  return true;
}
