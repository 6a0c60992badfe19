import { setTimeout as sleep } from "node:timers/promises";
import { untilAborted } from "@toolcrib/core/internal";
import type { PoolClient } from "pg";
import type { Database } from "./database.ts";
import { isAlive } from "./lease.ts";
import { notify } from "./listener.ts";
import type { ProviderLimit } from "./options.ts";
import { untilDatabaseIsBack } from "./retry.ts";

/** A notice may be missed, and nobody tells that a minute is over or that a worker has died: while requests wait it is looked. */
const lookMs = 1_000;
/** A provider's minute, which may begin a little later than ours, since requests travel. */
const minute = "interval '61 seconds'";

/** The end of a request, also of one that never began. */
const ended = "ended_at = now(), started_at = coalesce(started_at, '-infinity')";

/** The parts of a worker that its requests use. */
export interface RequestContext {
  readonly signal: AbortSignal;
  /** Resolves once this worker is known to be alive: others count the requests of a dead one no more. */
  ready(signal: AbortSignal): Promise<void>;
  /** Leaves the slot of the turn while the request waits. */
  leave<T>(wait: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** A request of this worker that waits or is in flight. */
interface OwnRequest {
  readonly provider: string;
  readonly begun: Promise<void>;
  begin(): void;
  fail(error: unknown): void;
}

/** Requests to providers with a limit. Those of all workers stand in one line, in the database, and begin in its order. */
export class RequestLimits {
  readonly #database: Database;
  readonly #worker: string;
  readonly #limits: Readonly<Record<string, ProviderLimit>>;
  /** By the id of its row. */
  readonly #requests: Map<string, OwnRequest> = new Map();
  /** Providers whose waiting requests are looked after. */
  readonly #watched: Set<string> = new Set();

  constructor(database: Database, worker: string, limits: Readonly<Record<string, ProviderLimit>>) {
    this.#database = database;
    this.#worker = worker;
    this.#limits = limits;
  }

  /** Runs a request once the limits of the provider allow it. */
  async run<T>(provider: string, send: () => Promise<T>, context: RequestContext): Promise<T> {
    const { concurrency, perMinute } = Object.hasOwn(this.#limits, provider) ? (this.#limits[provider] ?? {}) : {};
    if (concurrency === undefined && perMinute === undefined) return await send();
    const { signal, ready, leave } = context;
    const { id, isGranted } = await untilDatabaseIsBack(() => this.#ask(provider, context), signal);
    try {
      if (!isGranted) await leave(() => this.#wait(id, signal), signal);
      await ready(signal);
      return await send();
    } finally {
      this.#requests.delete(id);
      // A failure here is made up for before the next request. The request itself has come to its end.
      await untilDatabaseIsBack(() => this.#end(id, provider), signal).catch(() => {});
    }
  }

  /** Lets requests of this worker begin, by their ids. */
  grant(ids: readonly string[]): void {
    for (const id of ids) this.#requests.get(id)?.begin();
  }

  /** Puts a request in the line. It begins at once where nobody waits before it and the limit allows it. */
  async #ask(
    provider: string,
    { ready, signal }: RequestContext,
  ): Promise<{ readonly id: string; readonly isGranted: boolean }> {
    for (;;) {
      await ready(signal);
      let id: string | undefined;
      try {
        const granted = await this.#inOrder(provider, async (client) => {
          id = await this.#insert(client, provider);
          return id === undefined ? [] : await this.#grantInOrder(client, provider);
        });
        this.grant(granted);
        if (id !== undefined) return { id, isGranted: granted.includes(id) };
      } catch (error) {
        if (id !== undefined) this.#requests.delete(id);
        throw error;
      }
      // The next beat tells whether this worker goes on.
      await sleep(lookMs, undefined, { signal });
    }
  }

  /** Inserts a request; undefined for a worker whose own row is gone: the others would not count it. */
  async #insert(client: PoolClient, provider: string): Promise<string | undefined> {
    const { schema } = this.#database;
    const { rows } = await client.query<{ id: string }>(
      `INSERT INTO ${schema}.agent_requests (provider, worker, started_at)
       SELECT $1, w.id, NULL FROM ${schema}.agent_workers w WHERE w.id = $2 AND ${isAlive} RETURNING id`,
      [provider, this.#worker],
    );
    const id = rows[0]?.id;
    if (id === undefined) return undefined;
    const { promise: begun, resolve: begin, reject: fail } = Promise.withResolvers<void>();
    begun.catch(() => {});
    // Before the others can see the row.
    this.#requests.set(id, { provider, begun, begin, fail });
    return id;
  }

  /** Resolves once the request may begin. */
  async #wait(id: string, signal: AbortSignal): Promise<void> {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    void this.#watch(request.provider);
    await untilAborted(request.begun, signal);
  }

  /** Looks after the waiting requests of a provider for as long as this worker has any. */
  async #watch(provider: string): Promise<void> {
    if (this.#watched.has(provider)) return;
    this.#watched.add(provider);
    try {
      while (this.#own(provider).length > 0) {
        // Not all workers at the same moment.
        await sleep(lookMs * (0.75 + Math.random() / 2));
        await untilDatabaseIsBack(() => this.#look(provider));
      }
    } catch (error) {
      for (const { fail } of this.#own(provider)) fail(error);
    } finally {
      this.#watched.delete(provider);
    }
  }

  #own(provider: string): readonly OwnRequest[] {
    return [...this.#requests.values()].filter((request) => request.provider === provider);
  }

  async #look(provider: string): Promise<void> {
    const { schema } = this.#database;
    const begun = await this.#inOrder(provider, async (client) => {
      await this.#grantInOrder(client, provider);
      const { rows } = await client.query<{ id: string }>(
        `SELECT id FROM ${schema}.agent_requests WHERE provider = $1 AND worker = $2 AND started_at IS NOT NULL AND ended_at IS NULL`,
        [provider, this.#worker],
      );
      return rows.map(({ id }) => id);
    });
    this.grant(begun);
  }

  async #end(id: string, provider: string): Promise<void> {
    const { pool, schema } = this.#database;
    const { rows } = await pool.query<{ waiting: boolean }>(
      `WITH ended AS (UPDATE ${schema}.agent_requests SET ${ended} WHERE id = $1)
       SELECT EXISTS (SELECT FROM ${schema}.agent_requests WHERE provider = $2 AND started_at IS NULL AND id <> $1) AS waiting`,
      [id, provider],
    );
    if (rows[0]?.waiting) this.grant(await this.#inOrder(provider, (client) => this.#grantInOrder(client, provider)));
  }

  /** Runs \`work\` in a transaction, one at a time for each provider in all workers. */
  async #inOrder<T>(provider: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
    const table = `${this.#database.schema}.agent_requests`;
    return await this.#database.transaction(async (client) => {
      await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`${table}:${provider}`]);
      return await work(client);
    });
  }

  /** Grants what comes first, as much as the limit allows, and tells the other workers; returns the ids. */
  async #grantInOrder(client: PoolClient, provider: string): Promise<readonly string[]> {
    const { concurrency = null, perMinute = null } = this.#limits[provider] ?? {};
    const { schema } = this.#database;
    const table = `${schema}.agent_requests`;
    const alive = `SELECT w.id FROM ${schema}.agent_workers w WHERE ${isAlive}`;
    // Left from when the database was away: the end of a request, or the answer to a commit, was lost.
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
      `UPDATE ${table} SET started_at = clock_timestamp() WHERE id IN (
         SELECT id FROM ${table} WHERE provider = $1 AND started_at IS NULL AND worker IN (${alive}) ORDER BY id
         LIMIT (SELECT greatest(0, least(
             $2::int - count(*) FILTER (WHERE ended_at IS NULL AND worker IN (${alive})),
             $3::int - count(*) FILTER (WHERE started_at > clock_timestamp() - ${minute})))
           FROM ${table} WHERE provider = $1 AND started_at IS NOT NULL))
       RETURNING id`,
      [provider, concurrency, perMinute],
    );
    const ids = rows.map(({ id }) => id);
    const others = ids.filter((id) => !this.#requests.has(id));
    if (others.length > 0) await notify(client, this.#database, { kind: "granted", ids: others });
    return ids;
  }
}
