import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import type { Database } from "./database.ts";
import { isAlive } from "./lease.ts";
import type { ProviderLimit } from "./options.ts";
import { untilDatabaseIsBack } from "./retry.ts";

const firstDelayMs = 50;
const longestDelayMs = 1_000;

/** Requests to providers with a limit, counted in the database. */
export class RequestLimits {
  readonly #database: Database;
  readonly #worker: string;
  readonly #limits: Readonly<Record<string, ProviderLimit>>;
  /** The rows of the requests in flight here. */
  readonly #inFlight: Set<string> = new Set();

  constructor(database: Database, worker: string, limits: Readonly<Record<string, ProviderLimit>>) {
    this.#database = database;
    this.#worker = worker;
    this.#limits = limits;
  }

  /** Runs a request once the limits of the provider allow it. */
  async run<T>(provider: string, send: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const limit = Object.hasOwn(this.#limits, provider) ? this.#limits[provider] : undefined;
    if (limit === undefined) return await send();
    const id = await this.#begin(provider, limit, signal);
    try {
      return await send();
    } finally {
      this.#inFlight.delete(id);
      const { pool, schema } = this.#database;
      const end = `UPDATE ${schema}.agent_requests SET ended_at = now() WHERE id = $1`;
      // What fails here is made up for before the next request. The request itself has come to its end.
      await untilDatabaseIsBack(() => pool.query(end, [id]), signal).catch(() => {});
    }
  }

  async #begin(provider: string, limit: ProviderLimit, signal: AbortSignal): Promise<string> {
    for (let delay = firstDelayMs; ; delay = Math.min(delay * 2, longestDelayMs)) {
      signal.throwIfAborted();
      const id = await untilDatabaseIsBack(() => this.#beginNow(provider, limit), signal);
      if (id !== undefined) return id;
      // Not all at the same moment.
      await sleep(delay * (0.5 + Math.random()), undefined, { signal });
    }
  }

  async #beginNow(provider: string, limit: ProviderLimit): Promise<string | undefined> {
    let id: string | undefined;
    try {
      await this.#database.transaction(async (client) => {
        id = await this.#tryBegin(client, provider, limit);
        // Before the others can see the row.
        if (id !== undefined) this.#inFlight.add(id);
      });
      return id;
    } catch (error) {
      if (id !== undefined) this.#inFlight.delete(id);
      throw error;
    }
  }

  async #tryBegin(client: PoolClient, provider: string, limit: ProviderLimit): Promise<string | undefined> {
    const { concurrency = Number.POSITIVE_INFINITY, perMinute = Number.POSITIVE_INFINITY } = limit;
    const { schema } = this.#database;
    const table = `${schema}.agent_requests`;
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`${table}:${provider}`]);
    // Left from when the database was away: the end of a request, or the answer to a commit, was lost.
    await client.query(
      `UPDATE ${table} SET ended_at = now()
       WHERE provider = $1 AND worker = $2 AND ended_at IS NULL AND id <> ALL($3::bigint[])`,
      [provider, this.#worker, [...this.#inFlight]],
    );
    await client.query(
      `DELETE FROM ${table} r WHERE provider = $1 AND started_at < now() - interval '1 minute'
         AND (ended_at IS NOT NULL OR NOT EXISTS (SELECT FROM ${schema}.agent_workers w WHERE w.id = r.worker AND ${isAlive}))`,
      [provider],
    );
    const { rows } = await client.query<{ running: string; recent: string }>(
      `SELECT count(*) FILTER (WHERE ended_at IS NULL
           AND EXISTS (SELECT FROM ${schema}.agent_workers w WHERE w.id = r.worker AND ${isAlive})) AS running,
         count(*) FILTER (WHERE started_at > now() - interval '1 minute') AS recent
       FROM ${table} r WHERE provider = $1`,
      [provider],
    );
    const { running = 0, recent = 0 } = rows[0] ?? {};
    if (Number(running) >= concurrency || Number(recent) >= perMinute) return undefined;
    const added = await client.query<{ id: string }>(
      `INSERT INTO ${table} (provider, worker) VALUES ($1, $2) RETURNING id`,
      [provider, this.#worker],
    );
    return added.rows[0]?.id;
  }
}
