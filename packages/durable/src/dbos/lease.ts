import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@toolcrib/core/text";
import type { Database } from "./database.ts";
import { isTransient } from "./retry.ts";

/**
 * The SQL test that a worker `w` is alive. A server that was away for longer than a lease has heard nobody: workers get a lease from its
 * start.
 */
export const isAlive =
  "greatest(w.beat_at, pg_postmaster_start_time()) > now() - w.lease_ms * interval '1 millisecond'";

/** After a beat that failed while somebody waits for one. */
const pauseMs = 100;

export interface LeaseOptions {
  readonly worker: string;
  readonly agents: readonly string[];
  readonly leaseMs: number;
  /** Called when the worker was taken for dead: what it runs is to end. */
  onLost(): void;
  /** Called after each beat. The first lease after a gap is not steady: all others seem dead too, and may only be late with their beats. */
  onBeat(isSteady: boolean): Promise<void>;
  /** Reports a failure, unless the database is away: other users of it report that. */
  onWarning(message: string): void;
}

/** A worker's sign of life. */
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
  #version = "";

  constructor(database: Database, options: LeaseOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** Begins the lease of a worker of this version, which beats by itself from now on. */
  async begin(version: string): Promise<void> {
    this.#version = version;
    const sent = bothClocks();
    await this.#register();
    this.#lastBeat = sent;
    this.#keep();
  }

  #keep(): void {
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

  /** Stops the beat, and gives the lease up: without it the worker's turns are others'. They did not fail: the attempt does not count. */
  async end(): Promise<void> {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    await this.#beating;
    await this.#looking;
    const { pool, schema } = this.#database;
    await pool.query(
      `WITH ended AS (DELETE FROM ${schema}.agent_workers WHERE id = $1)
       UPDATE ${schema}.agent_runs SET attempts = attempts - 1, worker = NULL WHERE worker = $1 AND status = 'running'`,
      [this.#options.worker],
    );
  }

  #silentMs(): number {
    if (this.#lastBeat === undefined) return Number.POSITIVE_INFINITY;
    const [steady, wall] = bothClocks();
    return Math.max(steady - this.#lastBeat[0], wall - this.#lastBeat[1]);
  }

  async #register(): Promise<void> {
    const { worker, agents, leaseMs } = this.#options;
    await this.#database.pool.query(
      `INSERT INTO ${this.#database.schema}.agent_workers (id, version, agents, lease_ms) VALUES ($1, $2, $3, $4)
       ON CONFLICT (id) DO UPDATE SET beat_at = now()`,
      [worker, this.#version, agents, leaseMs],
    );
  }

  /** Beats now, or waits for the beat that is on its way; returns whether it came through. The next one follows by itself. */
  #beatOnce(): Promise<boolean> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
      if (!this.#isEnded) this.#keep();
    });
    return this.#beating;
  }

  /** Beats once; a beat that fails is followed by the next one: the database may be away for a while. */
  async #beat(): Promise<boolean> {
    const { worker, leaseMs, onLost, onBeat } = this.#options;
    try {
      const { pool, schema } = this.#database;
      const sent = bothClocks();
      const beat = `UPDATE ${schema}.agent_workers SET beat_at = now() WHERE id = $1`;
      const { rowCount } = await pool.query(beat, [worker]);
      if (rowCount === 0 && !this.#isEnded) {
        onLost();
        await this.#register();
      }
      if (this.#silentMs() >= leaseMs) this.#steadySince = sent[0];
      const isSteady = sent[0] - this.#steadySince >= leaseMs;
      this.#lastBeat = sent;
      // It may take long. The next beat does not wait for it.
      this.#looking ??= onBeat(isSteady)
        .catch((error: unknown) => this.#warn(error))
        .finally(() => {
          this.#looking = undefined;
        });
      return true;
    } catch (error) {
      this.#warn(error);
      return false;
    }
  }

  #warn(error: unknown): void {
    if (!isTransient(error)) this.#options.onWarning(messageOf(error));
  }
}

function bothClocks(): readonly [number, number] {
  return [performance.now(), Date.now()];
}
