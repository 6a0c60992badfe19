import { type DefaultedSpec, type OptionSpecs, option, withDefault } from "@toolcrib/core/internal";
import { checkAgents, readInput } from "../checkInput.ts";
import type { AgentSource } from "../run.ts";
import type { RunTracing } from "../tracing.ts";

/** The limit of what all workers together may ask of a provider. */
export interface ProviderLimit {
  /** Requests in flight at once. */
  readonly concurrency?: number | undefined;
  /** Requests begun in a minute. */
  readonly perMinute?: number | undefined;
}

/** The limits of what runs at once. */
export interface DurableLimits {
  /** By the name of the provider (`openai`, `anthropic`, …): requests of all workers together. */
  readonly providers?: Readonly<Record<string, ProviderLimit>> | undefined;
  /**
   * Turns of one tenant at once in all workers, for each agent. Runs without a tenant count as one. With it, `priority` counts among
   * the runs of one tenant alone. Default: any number.
   */
  readonly tenant?: { readonly concurrency?: number | undefined } | undefined;
  /** Turns at once in one worker, for each agent. Default: 100. */
  readonly worker?: { readonly concurrency?: number | undefined } | undefined;
}

/** Options of `durable`. */
export interface DurableOptions {
  /** The address of a PostgreSQL database. */
  readonly databaseUrl: string;
  /** By name. A client that only starts runs may leave it out. */
  readonly agents?: Readonly<Record<string, AgentSource>> | undefined;
  /** Every worker is given the same. */
  readonly limits?: DurableLimits | undefined;
  /** A worker that is silent for longer is dead: its runs go on in others. Default: 10,000. */
  readonly leaseMs?: number | undefined;
  /** Milliseconds for which `close` lets running steps finish, before they get their signal. Default: 5,000. */
  readonly closeMs?: number | undefined;
  /** A turn whose workers have died so often is given up. Default: 20. */
  readonly maxAttempts?: number | undefined;
  /** The schema of the database that holds all tables. Default: `toolcrib`. */
  readonly schema?: string | undefined;
  /** Connections to the database at once. A worker has two more for its signs of life. Default: 10. */
  readonly connections?: number | undefined;
  /** Removes runs, with all their records, so many days after they have ended. Default: runs stay until `remove`. */
  readonly retention?: { readonly days: number } | undefined;
  /** Traces runs: `traceRuns()` of `@toolcrib/durable/telemetry`. */
  readonly tracing?: RunTracing | undefined;
  /** Told what the engine warns of, such as a database that is away. Default: nobody is. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

type Defaulted = Exclude<keyof DurableOptions, "retention" | "tracing">;

/** The options with their defaults. */
export type Settings = DurableOptions & { readonly [Name in Defaulted]: NonNullable<DurableOptions[Name]> };

const shortestLeaseMs = 300;
const longestMs = 2 ** 31 - 1;

/** Returns an option that is a whole number within limits. */
function within(least: number, most: number, standard: number): DefaultedSpec<number> {
  const fits = (value: unknown): boolean =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
  return withDefault({ expected: `a whole number from ${least} to ${most}`, fits, isShown: true }, standard);
}

const atOnce = option.group<{ concurrency?: number | undefined }>({ concurrency: option.whole });

const providerLimit = option.group<ProviderLimit>({ concurrency: option.whole, perMinute: option.whole });

const specs = {
  databaseUrl: true,
  agents: true,
  limits: option.group<DurableLimits>({ providers: option.plain, tenant: atOnce, worker: atOnce }),
  leaseMs: within(shortestLeaseMs, longestMs, 10_000),
  closeMs: within(1, longestMs, 5_000),
  maxAttempts: withDefault(option.whole, 20),
  // The engine does not quote other names, and PostgreSQL cuts longer ones.
  schema: withDefault(
    {
      expected: "a name of letters, digits, underscores, hyphens and spaces, at most 63 bytes long, such as toolcrib",
      fits: (value) =>
        typeof value === "string" &&
        /^[\p{L}\p{N}_ -]+$/u.test(value) &&
        value.trim() !== "" &&
        Buffer.byteLength(value) <= 63,
    },
    "toolcrib",
  ),
  connections: within(2, longestMs, 10),
  retention: option.group<{ days: number }>({ days: { ...option.whole, needed: "always" } }),
  tracing: { ...option.withMethods("turn"), expected: "what traceRuns of @toolcrib/durable/telemetry returns" },
  onWarning: option.call,
} satisfies OptionSpecs<DurableOptions>;

/** Reads the options; throws `invalid_option`. */
export function readSettings(options: DurableOptions): Settings {
  const { agents = {}, limits = {}, onWarning = () => {}, ...others } = readInput("durable", options, specs);
  checkAgents(agents);
  const { providers = {} } = limits;
  const named = Object.fromEntries(Object.keys(providers).map((name) => [name, providerLimit]));
  readInput("durable limits.providers", providers, named);
  return { ...others, agents, limits, onWarning };
}
