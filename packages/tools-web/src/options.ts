import {
  longestDelayMs,
  type OptionSpec,
  type OptionSpecs,
  option,
  readOptions,
  withDefault,
} from "@toolcrib/core/internal";
import { defaultMaxReplyBytes } from "@toolcrib/kit/text";

/** Options of every tool of this pack. */
export interface WebToolOptions {
  /**
   * The only hosts that may be reached: names (`example.com`, `*.example.com` for those below it), addresses, or ranges of addresses
   * (`192.0.2.0/24`), each with `:port` where only that port is meant. Default: every public host.
   */
  hosts?: readonly string[] | undefined;
  /** Hosts, as in `hosts`, that may have addresses that are not public. Default: none. */
  privateHosts?: readonly string[] | undefined;
  /** Most bytes that are read of a page, after decompression. Default: 5 MB. */
  maxBytes?: number | undefined;
  /** Most bytes of a page in one reply. Default: 50 KB. */
  maxReplyBytes?: number | undefined;
  /** Milliseconds until the headers of an answer are there. Default: 10,000. */
  headersTimeoutMs?: number | undefined;
  /** Milliseconds of a whole download, redirects included. Default: 20,000. */
  downloadTimeoutMs?: number | undefined;
  /** Bytes of pages that are kept for calls with `offset`. Default: 20 MB. */
  keepBytes?: number | undefined;
  /** Milliseconds that a page is kept. Default: 15 minutes. */
  keepMs?: number | undefined;
}

/** A timer takes no longer time. */
const duration: OptionSpec = {
  expected: `a number of milliseconds above 0, at most ${longestDelayMs}`,
  fits: (value) => typeof value === "number" && value > 0 && value <= longestDelayMs,
  isShown: true,
};

const specs = {
  hosts: { ...option.texts, needed: "if written" },
  privateHosts: option.texts,
  maxBytes: withDefault(option.bytes, 5 * 2 ** 20),
  maxReplyBytes: withDefault(option.bytes, defaultMaxReplyBytes),
  headersTimeoutMs: withDefault(duration, 10_000),
  downloadTimeoutMs: withDefault(duration, 20_000),
  keepBytes: withDefault(option.bytes, 20 * 2 ** 20),
  keepMs: withDefault(option.positive, 15 * 60_000),
} satisfies OptionSpecs<WebToolOptions>;

/** The options with their defaults. */
export type WebSettings = WebToolOptions & Readonly<Record<Limit, number>>;

type Limit = Exclude<keyof WebToolOptions, "hosts" | "privateHosts">;

/** Reads the options. Throws a TypeError, which names the factory, for wrong ones. */
export function webSettings(factory: string, options: WebToolOptions): WebSettings {
  return readOptions<WebToolOptions, typeof specs>(factory, options, specs);
}
