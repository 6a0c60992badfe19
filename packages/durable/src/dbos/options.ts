import { checkAgents, checkKnown, checkName, checkWhole, invalid } from "../checkInput.ts";
import type { AgentSource } from "../run.ts";
import type { RunTracing } from "../tracing.ts";

/** What all workers together may ask of a provider. */
export interface ProviderLimit {
  /** Requests in flight at once. */
  readonly concurrency?: number | undefined;
  /** Requests begun in a minute. */
  readonly perMinute?: number | undefined;
}

/** How much runs at once. */
export interface DurableLimits {
  /** By the name of the provider (`openai`, `anthropic`, …): requests of all workers together. */
  readonly providers?: Readonly<Record<string, ProviderLimit>> | undefined;
  /**
   * Turns of one tenant at once in all workers, for each agent. Runs without a tenant count as one. With it, `priority` counts among
   * the runs of one tenant alone. Default: any number.
   */
  readonly tenant?: { readonly concurrency?: number | undefined } | undefined;
  /** Turns at once in one worker, for each agent, without those that wait for the limit of a provider. Default: 100. */
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
  /** How long `close` lets steps that run come to their end, before they get their signal. Default: 5,000. */
  readonly closeMs?: number | undefined;
  /** A turn whose worker has died so often is given up. The first worker of a process sets it. Default: 20. */
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

/** The options with their defaults. */
export interface Settings {
  readonly databaseUrl: string;
  readonly agents: Readonly<Record<string, AgentSource>>;
  readonly providers: Readonly<Record<string, ProviderLimit>>;
  readonly workerConcurrency: number;
  readonly tenantConcurrency: number | undefined;
  readonly leaseMs: number;
  readonly closeMs: number;
  readonly maxAttempts: number;
  readonly schema: string;
  readonly connections: number;
  readonly retentionDays: number | undefined;
  readonly tracing: RunTracing | undefined;
  onWarning(this: void, message: unknown): void;
}

const shortestLeaseMs = 300;
const longestMs = 2 ** 31 - 1;

/** Checks the options; throws `invalid_option`. */
export function readOptions(options: DurableOptions): Settings {
  checkKnown("durable", options, {
    databaseUrl: true,
    agents: true,
    limits: true,
    leaseMs: true,
    closeMs: true,
    maxAttempts: true,
    schema: true,
    connections: true,
    retention: true,
    tracing: true,
    onWarning: true,
  });
  const {
    agents = {},
    leaseMs = 10_000,
    closeMs = 5_000,
    maxAttempts = 20,
    schema = "toolcrib",
    connections = 10,
  } = options;
  checkAgents(agents);
  for (const [name, value] of Object.entries({ leaseMs, closeMs, maxAttempts, connections })) checkWhole(name, value);
  for (const [name, value] of Object.entries({ leaseMs, closeMs }))
    if (value > longestMs) throw invalid(`${name} must be at most ${longestMs}.`);
  if (leaseMs < shortestLeaseMs) throw invalid(`leaseMs must be at least ${shortestLeaseMs}.`);
  if (connections < 2) throw invalid("connections must be at least 2.");
  checkName("schema", schema);
  if (Buffer.byteLength(schema) > 63)
    throw invalid("schema must be at most 63 bytes long, as names in PostgreSQL are.");
  // The engine does not quote the rest.
  if (!/^[\p{L}\p{N}_ -]+$/u.test(schema))
    throw invalid("schema must be a name of letters, digits, underscores, hyphens and spaces, such as toolcrib.");
  const { onWarning = () => {} } = options;
  if (typeof onWarning !== "function") throw invalid("onWarning must be a function; leave it out for none.");
  const { databaseUrl, tracing, retention } = options;
  if (retention !== undefined) {
    checkKnown<{ days?: unknown }>("retention", retention, { days: true });
    checkWhole("retention.days", retention.days);
  }
  if (tracing !== undefined && typeof tracing?.turn !== "function")
    throw invalid("tracing must be what traceRuns of @toolcrib/durable/telemetry returns.");
  return {
    databaseUrl,
    agents,
    leaseMs,
    closeMs,
    maxAttempts,
    schema,
    connections,
    retentionDays: retention?.days,
    tracing,
    ...readLimits(options.limits),
    onWarning: (message) => onWarning(String(message)),
  };
}

function readLimits(
  limits: DurableLimits = {},
): Pick<Settings, "providers" | "workerConcurrency" | "tenantConcurrency"> {
  checkKnown("limits", limits, { providers: true, tenant: true, worker: true });
  const { providers = {}, tenant = {}, worker = {} } = limits;
  checkKnown<{ concurrency?: unknown }>("limits.tenant", tenant, { concurrency: true });
  checkKnown<{ concurrency?: unknown }>("limits.worker", worker, { concurrency: true });
  const { concurrency: workerConcurrency = 100 } = worker;
  checkWhole("limits.worker.concurrency", workerConcurrency);
  if (tenant.concurrency !== undefined) checkWhole("limits.tenant.concurrency", tenant.concurrency);
  checkKnown(
    "limits.providers",
    providers,
    Object.fromEntries(Object.keys(Object(providers)).map((name) => [name, true])),
  );
  for (const [name, limit] of Object.entries(providers)) {
    checkKnown<ProviderLimit>(`limits.providers.${name}`, limit, { concurrency: true, perMinute: true });
    for (const [key, value] of Object.entries(limit))
      if (value !== undefined) checkWhole(`limits.providers.${name}.${key}`, value);
  }
  return { providers, workerConcurrency, tenantConcurrency: tenant.concurrency };
}
