import { messageOf } from "@toolcrib/core/text";
import type { PoolClient } from "pg";
import type { Database } from "./database.ts";
import { isDatabaseAway } from "./retry.ts";
import { workflowName } from "./runTable.ts";

/**
 * Whether a worker `w` is alive, in SQL. A server that was away for longer than a lease has heard nobody: workers get a lease from its
 * start.
 */
export const isAlive =
  "greatest(w.beat_at, pg_postmaster_start_time()) > now() - w.lease_ms * interval '1 millisecond'";

/** Of the advisory lock of the one worker that looks for dead ones. */
const lockKey = 7_283_465_113;

export interface LeaseOptions {
  readonly worker: string;
  readonly version: string;
  readonly agents: readonly string[];
  readonly leaseMs: number;
  /** The worker was taken for dead: what it runs is to end. Its turns are queued again afterwards. */
  onLost(): void;
  /** Called after each beat. */
  onBeat(): Promise<void>;
  /** Told what fails, unless the database is away: whatever else needs it says that. */
  onWarning(message: string): void;
}

/** A worker's sign of life, and the look for workers that give none. */
export class Lease {
  readonly #database: Database;
  readonly #options: LeaseOptions;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #lastBeat: number | undefined;
  #isEnded = false;

  constructor(database: Database, options: LeaseOptions) {
    this.#database = database;
    this.#options = options;
  }

  async begin(): Promise<void> {
    await this.#register();
  }

  /** From now on it beats by itself. */
  keep(): void {
    this.#timer = setTimeout(() => {
      this.#beating = this.#beat().finally(() => {
        if (!this.#isEnded) this.keep();
      });
    }, this.#options.leaseMs / 3);
  }

  /** No beat comes any more. The worker is still registered. */
  async stop(): Promise<void> {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    await this.#beating;
    await this.#looking;
  }

  /** Queues a turn that ended early here. */
  async release(workflow: string): Promise<void> {
    const which = "s.executor_id = $2 AND s.workflow_uuid = $3";
    await this.#database
      .transaction((client) => this.#requeue(client, which, [this.#options.worker, workflow], 1))
      // It is queued with the rest.
      .catch((error: unknown) => this.#warn(error));
  }

  /** Queues what the worker still has for others, and takes it out of the list. */
  async handOver(): Promise<void> {
    await this.#database.transaction(async (client) => {
      // It did not fail: the attempt does not count.
      await this.#requeue(client, "s.executor_id = $2", [this.#options.worker], 1);
      await client.query(`DELETE FROM ${this.#database.schema}.agent_workers WHERE id = $1`, [this.#options.worker]);
    });
  }

  #warn(error: unknown): void {
    if (!isDatabaseAway(error)) this.#options.onWarning(messageOf(error));
  }

  async #register(): Promise<void> {
    const { worker, version, agents, leaseMs } = this.#options;
    await this.#database.pool.query(
      `INSERT INTO ${this.#database.schema}.agent_workers (id, version, agents, lease_ms) VALUES ($1, $2, $3, $4)
       ON CONFLICT (id) DO UPDATE SET beat_at = now()`,
      [worker, version, agents, leaseMs],
    );
  }

  /** A beat that fails is followed by the next one: the database may be away for a while. */
  async #beat(): Promise<void> {
    const { worker, leaseMs, onLost } = this.#options;
    try {
      const { pool, schema } = this.#database;
      const beat = `UPDATE ${schema}.agent_workers SET beat_at = now() WHERE id = $1`;
      const { rowCount } = await pool.query(beat, [worker]);
      if (rowCount === 0 && !this.#isEnded) {
        onLost();
        await this.#register();
        await this.#database.transaction((client) => this.#requeue(client, "s.executor_id = $2", [worker], 0));
      }
      const now = performance.now();
      // After a gap all others seem dead too: their next beat is waited for.
      const isSteady = this.#lastBeat === undefined || now - this.#lastBeat < leaseMs;
      this.#lastBeat = now;
      // It may take long. The next beat does not wait for it.
      this.#looking ??= this.#look(isSteady).finally(() => {
        this.#looking = undefined;
      });
    } catch (error) {
      this.#warn(error);
    }
  }

  async #look(isSteady: boolean): Promise<void> {
    try {
      if (isSteady) await this.#recover();
      await this.#options.onBeat();
    } catch (error) {
      this.#warn(error);
    }
  }

  /** Queues the turns of dead workers again. One worker at a time looks. */
  async #recover(): Promise<void> {
    const workers = `${this.#database.schema}.agent_workers`;
    await this.#database.transaction(async (client) => {
      const { rows } = await client.query<{ got: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS got", [lockKey]);
      if (!rows[0]?.got) return;
      await this.#requeue(
        client,
        `NOT EXISTS (SELECT FROM ${workers} w WHERE w.id = s.executor_id AND ${isAlive})`,
        [],
        0,
      );
      await client.query(`DELETE FROM ${workers} w WHERE NOT (${isAlive})`);
    });
  }

  /**
   * The engine's own recovery, for all workers at once: a turn without an owner. Whoever runs it still can record nothing more. Only
   * what workers of this version can go on with.
   */
  async #requeue(client: PoolClient, which: string, values: readonly unknown[], attempts: number): Promise<void> {
    const workflows = `${this.#database.schema}.workflow_status`;
    // A worker that is paused in the middle of a transaction must not hold up the turns of all others.
    await client.query(
      `UPDATE ${workflows}
       SET status = 'ENQUEUED', owner_xid = NULL, started_at_epoch_ms = NULL,
         recovery_attempts = greatest(recovery_attempts - ${attempts}, 0),
         updated_at = (EXTRACT(EPOCH FROM now()) * 1000)::bigint
       WHERE workflow_uuid IN (
         SELECT workflow_uuid FROM ${workflows} s
         WHERE status = 'PENDING' AND name = '${workflowName}' AND application_version = $1 AND ${which}
         FOR UPDATE SKIP LOCKED)`,
      [this.#options.version, ...values],
    );
  }
}
