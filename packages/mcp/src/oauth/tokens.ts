import type { AuthorizationServerMetadata, OAuthTokens } from "@modelcontextprotocol/client";
import { clip } from "@toolcrib/core/text";
import { secretForms, withoutSecrets } from "@toolcrib/kit/text";
import type { OAuthLogin } from "./oauthStore.ts";

/** A token travels in a header: servers take headers of some kilobytes. */
const longestToken = 32 * 1024;

/** Returns the tokens of an answer as they are kept. Throws, without quoting a token, for what could not be sent in a header. */
export function checkedTokens(
  tokens: OAuthTokens,
  now: number,
): Pick<OAuthLogin, "accessToken" | "refreshToken" | "expiresAt"> {
  const { access_token: accessToken, refresh_token: refreshToken, token_type: type, expires_in: seconds } = tokens;
  if (type.toLowerCase() !== "bearer")
    throw new Error("the authorization server issued a token that is not of the type bearer");
  for (const token of [accessToken, refreshToken]) {
    if (token === undefined) continue;
    if (token.length > longestToken)
      throw new Error(`the authorization server issued a token of more than ${longestToken} characters`);
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new Error("the authorization server issued a token that cannot be sent in a header");
  }
  const expiresAt = seconds !== undefined && Number.isFinite(seconds) ? now + seconds * 1000 : undefined;
  return { accessToken, refreshToken, expiresAt };
}

/** Returns the metadata that the client library needs to renew tokens: nothing is looked up again, so that nothing else is asked. */
export function metadataOf({ issuer, tokenEndpoint, authMethods }: OAuthLogin): AuthorizationServerMetadata {
  return {
    issuer,
    authorization_endpoint: tokenEndpoint,
    token_endpoint: tokenEndpoint,
    response_types_supported: ["code"],
    ...(authMethods && { token_endpoint_auth_methods_supported: [...authMethods] }),
  };
}

/** Lists everything of a login that must not be shown. */
export function loginSecrets({ accessToken, refreshToken, clientSecret }: OAuthLogin): string[] {
  return [accessToken, refreshToken, clientSecret].filter((secret) => secret !== undefined);
}

/** Returns a text, such as the error of an authorization server, without these secrets and not long. */
export function withoutTokens(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret.length >= 6);
  return clip(withoutSecrets(text, secretForms(known)), 500);
}
