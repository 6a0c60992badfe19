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

/** An option that cannot be used, and what is expected in its place. */
export interface HttpOptionProblem {
  readonly option: keyof HttpOptions;
  readonly expected: string;
}

/** Throws a TypeError for what could not be meant: a value read by mistake as none would open the server. */
export function checkHttpOptions(options: HttpOptions): void {
  checkOptions<HttpOptions>("serveMcp: http", options, knownOptions);
  const problem = httpOptionProblem(options);
  if (problem?.option === "auth" && options.auth === false)
    throw new TypeError(`auth: false is ${problem.expected}; leave auth on`);
  if (problem)
    throw new TypeError(`serveMcp: http.${problem.option} must be ${problem.expected}; leave it out for the default`);
}

/** The first option that `serveMcp` would refuse, for programs that have flags in place of options. */
export function httpOptionProblem(options: HttpOptions): HttpOptionProblem | undefined {
  const { port = 0, host = "127.0.0.1", token, auth = true, allowedHosts = [], allowedOrigins = [] } = options;
  const wrong = (option: keyof HttpOptions, expected: string): HttpOptionProblem => ({ option, expected });
  if (!Number.isInteger(port) || port < 0 || port > 65_535) return wrong("port", "a whole number from 0 to 65535");
  if (typeof host !== "string" || host.trim() === "")
    return wrong("host", "an address to listen on, such as 127.0.0.1");
  if (token !== undefined && (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)))
    return wrong("token", "a non-empty string without spaces, as a header can carry it");
  if (!isList(allowedHosts, isHostName)) return wrong("allowedHosts", "an array of host names without a port");
  if (!isList(allowedOrigins, isOrigin))
    return wrong("allowedOrigins", "an array of origins, such as https://tools.example");
  if (typeof auth !== "boolean") return wrong("auth", "true or false");
  return auth || isLoopback(host) ? undefined : wrong("auth", `accepted on a loopback address only, not on ${host}`);
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
