import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@toolcrib/core/text";
import type { PoolClient } from "pg";
import type { Database } from "./database.ts";
import { notify } from "./listener.ts";
import { isTransient } from "./retry.ts";
import { workflowName } from "./runTable.ts";

/**
 * The SQL test that a worker `w` is alive. A server that was away for longer than a lease has heard nobody: workers get a lease from its
 * start.
 */
export const isAlive =
  "greatest(w.beat_at, pg_postmaster_start_time()) > now() - w.lease_ms * interval '1 millisecond'";

/** Of the advisory lock of the one worker that looks for dead ones. */
const lockKey = 7_283_465_113;
/** After a beat that failed while somebody waits for one. */
const pauseMs = 100;

export interface LeaseOptions {
  readonly worker: string;
  readonly version: string;
  readonly agents: readonly string[];
  readonly leaseMs: number;
  /** Counts how often a turn runs in this process. */
  executionsOf(workflow: string): number;
  /** Called when the worker was taken for dead: what it runs is to end. Its turns are queued again afterwards. */
  onLost(): void;
  /** Called after each beat. */
  onBeat(): Promise<void>;
  /** Reports a failure, unless the database is away: other users of it report that. */
  onWarning(message: string): void;
}

/** A worker's sign of life, and the look for workers that give none. */
export class Lease {
  readonly #database: Database;
  readonly #options: LeaseOptions;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<boolean> | undefined;
  #looking: Promise<void> | undefined;
  /** The time of sending of the last beat that came through, by a clock that no one sets and by one that goes on while the machine sleeps. */
  #lastBeat: readonly [number, number] | undefined;
  /** The time at which the beats came through again after a gap. */
  #steadySince = Number.NEGATIVE_INFINITY;
  #isEnded = false;

  constructor(database: Database, options: LeaseOptions) {
    this.#database = database;
    this.#options = options;
  }

  async begin(): Promise<void> {
    const sent = bothClocks();
    await this.#register();
    this.#lastBeat = sent;
  }

  /** Lets the lease beat by itself from now on. */
  keep(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#beatOnce(), this.#options.leaseMs / 3);
  }

  /** Resolves while the worker is known to be alive. After a sleep or an outage beyond the lease it waits for the next beat. */
  async ready(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#silentMs() < this.#options.leaseMs) return;
      if (!(await this.#beatOnce())) await sleep(pauseMs, undefined, { signal });
    }
  }

  /** Stops the beat. The worker is still registered. */
  async stop(): Promise<void> {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    await this.#beating;
    await this.#looking;
  }

  /** Queues a turn that ended early here, unless it has been taken again meanwhile. */
  async release(workflow: string): Promise<void> {
    if (this.#options.executionsOf(workflow) > 1) return;
    const which = "s.executor_id = $2 AND s.workflow_uuid = $3";
    await this.#database
      .transaction((client) => this.#requeue(client, which, [this.#options.worker, workflow], 1))
      // It is queued with the rest.
      .catch((error: unknown) => this.#warn(error));
  }

  /**
   * Queues the turns again that are this worker's in the database and do not run here: the answer to what took them, or what they came to,
   * was lost. To be called while none is being taken.
   */
  async recoverOwn(): Promise<void> {
    const { worker, executionsOf } = this.#options;
    const { pool, schema } = this.#database;
    const { rows } = await pool.query<{ workflow: string; owner: string | null }>(
      `SELECT workflow_uuid AS workflow, owner_xid AS owner FROM ${schema}.workflow_status
       WHERE executor_id = $1 AND status = 'PENDING' AND name = '${workflowName}'`,
      [worker],
    );
    const stray = rows.filter(({ workflow }) => executionsOf(workflow) === 0);
    if (stray.length === 0) return;
    const which =
      "s.executor_id = $2 AND (s.workflow_uuid, s.owner_xid) IN (SELECT * FROM unnest($3::text[], $4::text[]))";
    const values = [worker, stray.map(({ workflow }) => workflow), stray.map(({ owner }) => owner)];
    await this.#database.transaction((client) => this.#requeue(client, which, values, 1));
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
    if (!isTransient(error)) this.#options.onWarning(messageOf(error));
  }

  #silentMs(): number {
    if (this.#lastBeat === undefined) return Number.POSITIVE_INFINITY;
    const [steady, wall] = bothClocks();
    return Math.max(steady - this.#lastBeat[0], wall - this.#lastBeat[1]);
  }

  async #register(): Promise<void> {
    const { worker, version, agents, leaseMs } = this.#options;
    await this.#database.pool.query(
      `INSERT INTO ${this.#database.schema}.agent_workers (id, version, agents, lease_ms) VALUES ($1, $2, $3, $4)
       ON CONFLICT (id) DO UPDATE SET beat_at = now()`,
      [worker, version, agents, leaseMs],
    );
  }

  /** Beats now, or waits for the beat that is on its way; returns whether it came through. The next one follows by itself. */
  #beatOnce(): Promise<boolean> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
      if (!this.#isEnded) this.keep();
    });
    return this.#beating;
  }

  /** Beats once; a beat that fails is followed by the next one: the database may be away for a while. */
  async #beat(): Promise<boolean> {
    const { worker, leaseMs, onLost } = this.#options;
    try {
      const { pool, schema } = this.#database;
      const sent = bothClocks();
      const beat = `UPDATE ${schema}.agent_workers SET beat_at = now() WHERE id = $1`;
      const { rowCount } = await pool.query(beat, [worker]);
      if (rowCount === 0 && !this.#isEnded) {
        onLost();
        await this.#register();
        await this.#database.transaction((client) => this.#requeue(client, "s.executor_id = $2", [worker], 0));
      }
      // After a gap all others seem dead too. Their next beats may come late, so they have a whole lease for them.
      if (this.#silentMs() >= leaseMs) this.#steadySince = sent[0];
      const isSteady = sent[0] - this.#steadySince >= leaseMs;
      this.#lastBeat = sent;
      // It may take long. The next beat does not wait for it.
      this.#looking ??= this.#look(isSteady).finally(() => {
        this.#looking = undefined;
      });
      return true;
    } catch (error) {
      this.#warn(error);
      return false;
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
   * Queues turns without an owner again, for all workers at once, if workers of this version can go on with them: in place of the
   * engine's own recovery. Whoever still runs one can record nothing more.
   */
  async #requeue(client: PoolClient, which: string, values: readonly unknown[], attempts: number): Promise<void> {
    const workflows = `${this.#database.schema}.workflow_status`;
    // A worker that is paused in the middle of a transaction must not hold up the turns of all others.
    const { rowCount } = await client.query(
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
    if ((rowCount ?? 0) > 0) await notify(client, this.#database, { kind: "queue" });
  }
}

function bothClocks(): readonly [number, number] {
  return [performance.now(), Date.now()];
}
