import { setTimeout as sleep } from "node:timers/promises";
import { untilAborted } from "@toolcrib/core/internal";
import type { PoolClient } from "pg";
import type { Database } from "./database.ts";
import { isAlive } from "./lease.ts";
import type { ProviderLimit } from "./options.ts";
import { untilDatabaseIsBack } from "./retry.ts";

/** The interval at which a worker looks whether its waiting requests may begin. */
const lookMs = 200;
/** A provider's minute, which may begin a little later than ours, since requests travel. */
const minute = "interval '61 seconds'";

/** The end of a request, also of one that never began. */
const ended = "ended_at = now(), started_at = coalesce(started_at, '-infinity')";

/** The parts of a worker that its requests use. */
export interface RequestContext {
  readonly signal: AbortSignal;
  /** Resolves once this worker is known to be alive: others count the requests of a dead one no more. */
  ready(signal: AbortSignal): Promise<void>;
}

/** A request of this worker that waits or is in flight. */
interface OwnRequest extends PromiseWithResolvers<void> {
  readonly provider: string;
  isBegun: boolean;
}

/**
 * Requests to providers with a limit, counted for all workers in one table. Each worker looks for itself what it may begin: who came a second
 * earlier goes first, and within a second whoever looks first.
 */
export class RequestLimits {
  readonly #database: Database;
  readonly #worker: string;
  readonly #limits: Readonly<Record<string, ProviderLimit>>;
  /** By the ids of their rows. */
  readonly #requests: Map<string, OwnRequest> = new Map();
  /** Providers whose waiting requests are looked after. */
  readonly #watched: Set<string> = new Set();

  constructor(database: Database, worker: string, limits: Readonly<Record<string, ProviderLimit>> = {}) {
    this.#database = database;
    this.#worker = worker;
    this.#limits = limits;
  }

  /** Runs a request once the limits of the provider allow it. */
  async run<T>(provider: string, send: () => Promise<T>, { signal, ready }: RequestContext): Promise<T> {
    const { concurrency, perMinute } = Object.hasOwn(this.#limits, provider) ? (this.#limits[provider] ?? {}) : {};
    if (concurrency === undefined && perMinute === undefined) return await send();
    await ready(signal);
    const id = await untilDatabaseIsBack(() => this.#ask(provider), signal);
    try {
      void this.#watch(provider);
      await untilAborted(this.#requests.get(id)?.promise ?? Promise.resolve(), signal);
      await ready(signal);
      return await send();
    } finally {
      this.#requests.delete(id);
      // A failure here is made up for before the next request. The request itself has come to its end.
      await untilDatabaseIsBack(() => this.#end(id, provider), signal).catch(() => {});
    }
  }

  /** Adds a request, which begins at once where it may; resolves to its id. */
  async #ask(provider: string): Promise<string> {
    let id = "";
    try {
      await this.#begin(provider, async (client) => {
        const insert = `INSERT INTO ${this.#database.schema}.agent_requests (provider, worker) VALUES ($1, $2) RETURNING id`;
        const { rows } = await client.query<{ id: string }>(insert, [provider, this.#worker]);
        id = rows[0]?.id ?? "";
        const request = Promise.withResolvers<void>();
        request.promise.catch(() => {});
        this.#requests.set(id, { provider, isBegun: false, ...request });
      });
      return id;
    } catch (error) {
      this.#requests.delete(id);
      throw error;
    }
  }

  #waiting(provider: string): readonly OwnRequest[] {
    return [...this.#requests.values()].filter((request) => request.provider === provider && !request.isBegun);
  }

  /** Looks after the waiting requests of a provider for as long as this worker has any. */
  async #watch(provider: string): Promise<void> {
    if (this.#watched.has(provider)) return;
    this.#watched.add(provider);
    try {
      while (this.#waiting(provider).length > 0) {
        // Not all workers at the same moment.
        await sleep(lookMs * (0.75 + Math.random() / 2));
        await untilDatabaseIsBack(() => this.#begin(provider));
      }
    } catch (error) {
      for (const { reject } of this.#waiting(provider)) reject(error);
    } finally {
      this.#watched.delete(provider);
    }
  }

  async #end(id: string, provider: string): Promise<void> {
    const { pool, schema } = this.#database;
    await pool.query(`UPDATE ${schema}.agent_requests SET ${ended} WHERE id = $1`, [id]);
    if (this.#waiting(provider).length > 0) await this.#begin(provider);
  }

  /** Begins what may begin of this worker's requests to a provider: one worker at a time looks. */
  async #begin(provider: string, before?: (client: PoolClient) => Promise<void>): Promise<void> {
    const { concurrency = null, perMinute = null } = this.#limits[provider] ?? {};
    const table = `${this.#database.schema}.agent_requests`;
    const alive = `SELECT w.id FROM ${this.#database.schema}.agent_workers w WHERE ${isAlive}`;
    const begun = await this.#database.transaction(async (client) => {
      await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`${table}:${provider}`]);
      await before?.(client);
      // The first is left from when the database was away: the end of a request, or the answer to a commit, was lost.
      await client.query(
        `UPDATE ${table} SET ${ended} WHERE provider = $1 AND worker = $2 AND ended_at IS NULL AND id <> ALL($3::bigint[])`,
        [provider, this.#worker, [...this.#requests.keys()]],
      );
      await client.query(
        `DELETE FROM ${table} r WHERE provider = $1 AND coalesce(started_at, '-infinity') < clock_timestamp() - ${minute}
           AND (ended_at IS NOT NULL OR r.worker NOT IN (${alive}))`,
        [provider],
      );
      const { rows } = await client.query<{ id: string }>(
        `WITH begun AS (
           UPDATE ${table} SET started_at = clock_timestamp() WHERE worker = $4 AND id IN (
             SELECT id FROM ${table} WHERE provider = $1 AND started_at IS NULL AND worker IN (${alive})
             ORDER BY date_trunc('second', asked_at), worker <> $4, id
             LIMIT (SELECT greatest(0, least(
                 $2::int - count(*) FILTER (WHERE ended_at IS NULL AND worker IN (${alive})),
                 $3::int - count(*) FILTER (WHERE started_at > clock_timestamp() - ${minute})))
               FROM ${table} WHERE provider = $1 AND started_at IS NOT NULL))
           RETURNING id)
         SELECT id FROM begun UNION ALL
         SELECT id FROM ${table} WHERE provider = $1 AND worker = $4 AND started_at IS NOT NULL AND ended_at IS NULL`,
        [provider, concurrency, perMinute, this.#worker],
      );
      return rows;
    });
    for (const { id } of begun) {
      const request = this.#requests.get(id);
      if (request === undefined) continue;
      request.isBegun = true;
      request.resolve();
    }
  }
}
