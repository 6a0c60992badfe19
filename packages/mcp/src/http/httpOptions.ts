import { checkOptions, type KnownOptions } from "@toolcrib/core";
import { isLoopback } from "../loopback.ts";

/** Where and to whom a registry is served over HTTP. */
export interface HttpOptions {
  /** Default 0: a free port. */
  port?: number | undefined;
  /** The address to listen on. Default 127.0.0.1. */
  host?: string | undefined;
  /** The token that clients send as `Authorization: Bearer TOKEN`. Default: a random one, returned as `token`. */
  token?: string | undefined;
  /** `false` serves without a token. Refused unless `host` is a loopback address. */
  auth?: boolean | undefined;
  /** More host names, without a port, that the Host header may carry, such as that of a proxy. */
  allowedHosts?: readonly string[] | undefined;
  /** More origins whose web pages may call the tools, such as `https://tools.example`. Default: the server's own alone. */
  allowedOrigins?: readonly string[] | undefined;
}

const knownOptions: KnownOptions<HttpOptions> = {
  port: true,
  host: true,
  token: true,
  auth: true,
  allowedHosts: true,
  allowedOrigins: true,
};

/** Throws a TypeError for what could not be meant: a value read by mistake as none would open the server. */
export function checkHttpOptions(options: HttpOptions): void {
  checkOptions<HttpOptions>("serveMcp: http", options, knownOptions);
  const { port = 0, host = "127.0.0.1", token, auth = true, allowedHosts = [], allowedOrigins = [] } = options;
  const refuse = (option: string, expected: string): never => {
    throw new TypeError(`serveMcp: http.${option} must be ${expected}; leave it out for the default`);
  };
  if (!Number.isInteger(port) || port < 0 || port > 65_535) refuse("port", "a whole number from 0 to 65535");
  if (typeof host !== "string" || host.trim() === "") refuse("host", "an address to listen on, such as 127.0.0.1");
  if (token !== undefined && (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))) {
    refuse("token", "a non-empty string without spaces, as a header can carry it");
  }
  if (typeof auth !== "boolean") refuse("auth", "true or false");
  if (!isList(allowedHosts, isHostName)) refuse("allowedHosts", "an array of host names without a port");
  if (!isList(allowedOrigins, isOrigin)) refuse("allowedOrigins", "an array of origins, such as https://tools.example");
  if (!auth && !isLoopback(host)) {
    throw new TypeError(`auth: false is accepted on a loopback address only, not on ${host}; leave auth on`);
  }
}

function isList(value: unknown, isItem: (item: string) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string" && isItem(item));
}

function isHostName(text: string): boolean {
  return text !== "*" && URL.parse(`http://${text}`)?.hostname === text.toLowerCase();
}

function isOrigin(text: string): boolean {
  return URL.parse(text)?.origin === text;
}
