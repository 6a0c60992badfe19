import { isObject } from "@toolcrib/core/text";
import { withFileLock } from "@toolcrib/kit/files";
import { ownRecords } from "../ownRecords.ts";

/** A login at one server: the tokens, and where they may be sent. */
export interface OAuthLogin {
  /** The authorization server that gave the tokens. */
  readonly issuer: string;
  /** The URL at which tokens are renewed; a refresh token is sent nowhere else. */
  readonly tokenEndpoint: string;
  /** The URL at which tokens are revoked. */
  readonly revocationEndpoint?: string | undefined;
  /** The ways in which clients may authenticate to the authorization server. */
  readonly authMethods?: readonly string[] | undefined;
  /** The resource that the tokens are for, as the server names it. */
  readonly resource?: string | undefined;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
}

/** Keeps logins by the address of the server. Only the user may be able to read it. */
export interface OAuthStore {
  load(url: URL): Promise<OAuthLogin | undefined>;
  /** Saves a login; `undefined` forgets it. */
  save(url: URL, login: OAuthLogin | undefined): Promise<void>;
  /** Runs `task` while no other process renews a login: a refresh token is often good for one use. */
  exclusively<Result>(task: () => Promise<Result>): Promise<Result>;
}

const maxBytes = 8 * 1024 * 1024;

/**
 * Makes a store in one JSON file that only the user can read and write. Loading and saving reject when somebody else may have written the
 * file: when it is a link, belongs to another user, or can be written by others.
 */
export function createOAuthStore(path: string): OAuthStore {
  const logins = ownRecords(path, "logins", { what: "your logins at MCP servers", maxBytes });
  return {
    async load(url) {
      const login = await logins.get(keyOf(url));
      return isLogin(login) ? login : undefined;
    },
    save: (url, login) => logins.set(keyOf(url), login),
    exclusively: (task) => withFileLock(`${path}.renew.lock`, task),
  };
}

/** Returns the address as it is asked, without what is not sent to it. */
function keyOf(url: URL): string {
  const { origin, pathname, search } = url;
  return `${origin}${pathname}${search}`;
}

const texts = ["issuer", "tokenEndpoint", "clientId", "accessToken"] as const;

function isLogin(value: unknown): value is OAuthLogin {
  return isObject(value) && texts.every((name) => typeof value[name] === "string");
}
