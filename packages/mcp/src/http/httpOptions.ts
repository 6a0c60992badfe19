import { type OptionSpecs, option, readOptions } from "@toolcrib/core/internal";
import { isLoopback } from "../loopback.ts";

/** Options of a registry that is served over HTTP. */
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

const specs = {
  port: {
    expected: "a whole number from 0 to 65535",
    fits: (port) => typeof port === "number" && Number.isInteger(port) && port >= 0 && port <= 65_535,
  },
  host: { expected: "an address to listen on, such as 127.0.0.1", fits: (host) => isText(host) && host.trim() !== "" },
  token: {
    expected: "a non-empty string without spaces, as a header can carry it",
    fits: (token) => isText(token) && /^[\x21-\x7e]+$/.test(token),
  },
  auth: option.flag,
  allowedHosts: {
    expected: "an array of host names without a port",
    fits: (value) =>
      isList(value, (text) => text !== "*" && URL.parse(`http://${text}`)?.hostname === text.toLowerCase()),
  },
  allowedOrigins: {
    expected: "an array of origins, such as https://tools.example",
    fits: (value) => isList(value, (text) => URL.parse(text)?.origin === text),
  },
} satisfies OptionSpecs<HttpOptions>;

/** An option that cannot be used, and what is expected in its place. */
export interface HttpOptionProblem {
  readonly option: keyof HttpOptions;
  readonly expected: string;
}

/** Throws a TypeError for what could not be meant: a value read by mistake as none would open the server. */
export function checkHttpOptions(options: HttpOptions): void {
  readOptions("serveMcp", { http: options }, { http: option.group<HttpOptions>(specs) });
  const problem = httpOptionProblem(options);
  if (problem) throw new TypeError(`auth: false is ${problem.expected}; leave auth on`);
}

/** Returns the first option that `serveMcp` would refuse, for programs that have flags in place of options. */
export function httpOptionProblem(options: HttpOptions): HttpOptionProblem | undefined {
  const names = ["port", "host", "token", "allowedHosts", "allowedOrigins", "auth"] as const;
  const wrong = names.find((name) => options[name] !== undefined && !specs[name].fits(options[name]));
  if (wrong !== undefined) return { option: wrong, expected: specs[wrong].expected };
  const { auth = true, host = "127.0.0.1" } = options;
  if (auth || isLoopback(host)) return undefined;
  return { option: "auth", expected: `accepted on a loopback address only, not on ${host}` };
}

const isText = (value: unknown): value is string => typeof value === "string";

function isList(value: unknown, isItem: (item: string) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string" && isItem(item));
}
