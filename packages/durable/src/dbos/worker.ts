import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import { AgentError } from "@toolcrib/agent";
import { messageOf } from "@toolcrib/core/text";
import type { Pool } from "pg";
import { manifestVersion, namesDigest } from "../manifest.ts";
import type { AgentSource } from "../run.ts";
import type { RunTracing } from "../tracing.ts";
import { type Database, databaseOf, openPool } from "./database.ts";
import { isAlive, Lease } from "./lease.ts";
import { type Engine, plainJson } from "./loadEngine.ts";
import type { ProviderLimit } from "./options.ts";
import { runRecordedTurn } from "./recordedTurn.ts";
import { RequestLimits } from "./requestLimits.ts";
import { untilDatabaseIsBack } from "./retry.ts";
import { queueOf, type RunTable, workflowName } from "./runTable.ts";

export interface WorkerOptions {
  readonly engine: Engine;
  readonly database: Database;
  readonly client: DBOSClient;
  readonly runs: RunTable;
  readonly agents: Readonly<Record<string, AgentSource>>;
  readonly providers: Readonly<Record<string, ProviderLimit>>;
  /** Turns of one agent at once: in this worker, and of one tenant in all workers. */
  readonly workerConcurrency: number;
  readonly tenantConcurrency: number | undefined;
  readonly leaseMs: number;
  readonly closeMs: number;
  readonly maxAttempts: number;
  readonly tracing: RunTracing | undefined;
  onWarning(message: string): void;
}

/** How often a worker looks into a queue. */
const pollingMs = 200;
/** What steps get to end by themselves after their signal. */
const abortMs = 2_000;
/** What the engine gets to note that turns have ended. Where it does not come to that, the next worker finds that they have. */
const noteMs = 300;
const newsOfClosing = /system database has been shut down|no longer owned by this execution/;

/** The engine keeps its state for the whole process: it runs the turns of this worker. */
let current: Worker | undefined;
let isRegistered = false;

/** The part of a process that runs turns. */
export class Worker {
  readonly id: string = randomUUID();
  readonly #options: WorkerOptions;
  readonly #limits: RequestLimits;
  /** The turns that run here, and what ends them. */
  readonly #turns: Map<Promise<void>, AbortController> = new Map();
  #lease: Lease | undefined;
  /** Signs of life have connections of their own: behind the queries of all turns they would come too late. */
  #pool: Pool | undefined;
  #version = "";
  #isClosing = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#limits = new RequestLimits(options.database, this.id, options.providers);
  }

  async start(): Promise<void> {
    const { engine, agents } = this.#options;
    if (current || engine.sdk.DBOS.isInitialized()) {
      const message =
        "This process has a worker of DBOS already, and can have one. Close that first, or start this one in a process of its own.";
      throw new AgentError({ code: "busy", message });
    }
    current = this;
    try {
      this.#version = await manifestVersion(agents);
      await this.#launch();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #launch(): Promise<void> {
    const { engine, database, client, agents, leaseMs, workerConcurrency, tenantConcurrency } = this.#options;
    const { DBOS } = engine.sdk;
    const names = Object.keys(agents);
    this.#pool = openPool(engine, database.url, { max: 2, query_timeout: leaseMs });
    this.#lease = new Lease(databaseOf(this.#pool, database.url, database.schemaName), {
      worker: this.id,
      version: this.#version,
      agents: names,
      leaseMs,
      onLost: () => this.#abortTurns(),
      onBeat: async () => {
        if (!DBOS.isInitialized()) return;
        await this.#keepLatest();
        await this.#endCancelled();
      },
      onWarning: (message) => this.#warn(message),
    });
    await this.#lease.begin();
    this.#lease.keep();
    for (const name of names) {
      await client.registerQueue(queueOf(name), {
        workerConcurrency,
        ...(tenantConcurrency !== undefined && { partitionConcurrency: tenantConcurrency }),
        minPollingIntervalMs: pollingMs,
      });
    }
    // The engine counts what comes after the first attempt, and takes 0 for its default.
    const maxRecoveryAttempts = this.#options.maxAttempts - 1 || 0.5;
    if (!isRegistered) DBOS.registerWorkflow(runWorkflow, { name: workflowName, maxRecoveryAttempts });
    isRegistered = true;
    DBOS.setConfig({
      name: `toolcrib-${namesDigest(agents)}`,
      systemDatabasePool: database.pool,
      systemDatabaseSchemaName: database.schemaName,
      applicationVersion: this.#version,
      executorID: this.id,
      serializer: plainJson,
      listenQueues: names.map(queueOf),
      useListenNotify: false,
      logger: this.#logger(),
    });
    await DBOS.launch();
    await DBOS.setLatestApplicationVersion(this.#version);
  }

  /** Runs a turn of a run, from its first step or from where its records end. */
  async run(id: string, turn: number): Promise<void> {
    const control = new AbortController();
    const running = this.#run(id, turn, control);
    this.#turns.set(running, control);
    try {
      await running;
    } finally {
      this.#turns.delete(running);
    }
  }

  async #run(id: string, turn: number, control: AbortController): Promise<void> {
    const { engine, runs, agents } = this.#options;
    const row = await untilDatabaseIsBack(() => runs.read(id), control.signal);
    // It has ended, and the worker died before the engine knew.
    if (row?.turn !== turn || row.status !== "active") return;
    const mayBegin = (): boolean => !this.#isClosing && !control.signal.aborted;
    try {
      const context = { engine, runs, agents, limits: this.#limits, control, mayBegin };
      const { tracing } = this.#options;
      const { end, read } = await runRecordedTurn(row, context, tracing);
      await untilDatabaseIsBack(() => runs.end(id, turn, read, end), control.signal);
    } catch (error) {
      if (mayBegin()) throw error;
      await this.#lease?.release(row.workflow);
      throw new engine.sdk.DBOSWorkflowConflictError(row.workflow);
    }
  }

  /** No step begins any more. Those that run may end, then get their signal. What has not ended goes to other workers. */
  async close(): Promise<void> {
    if (current !== this) return;
    this.#isClosing = true;
    const { engine, closeMs } = this.#options;
    const { DBOS } = engine.sdk;
    try {
      // Before turns are released: it would take them again.
      if (DBOS.isInitialized()) await engine.stopQueues();
      await this.#untilIdle(closeMs);
      this.#abortTurns();
      await this.#untilIdle(abortMs);
      if (DBOS.isInitialized()) await DBOS.shutdown({ workflowCompletionTimeoutMS: noteMs });
      await this.#lease?.stop();
      // Without the database the lease runs out by itself.
      await this.#lease?.handOver().catch(() => {});
    } finally {
      await this.#pool?.end();
      current = undefined;
    }
  }

  #abortTurns(): void {
    for (const control of this.#turns.values()) control.abort();
  }

  async #untilIdle(ms: number): Promise<void> {
    const limit = new AbortController();
    const idle = Promise.allSettled(this.#turns.keys());
    await Promise.race([idle, sleep(ms, undefined, { signal: limit.signal }).catch(() => {})]);
    limit.abort();
  }

  /** New turns go to workers of the latest version alone: where that has no worker left, this version is the latest. */
  async #keepLatest(): Promise<void> {
    const { engine, database } = this.#options;
    const { DBOS } = engine.sdk;
    const { versionName } = await DBOS.getLatestApplicationVersion();
    if (versionName === this.#version) return;
    const { rowCount } = await database.pool.query(
      `SELECT FROM ${database.schema}.agent_workers w WHERE w.version = $1 AND ${isAlive} LIMIT 1`,
      [versionName],
    );
    if (rowCount === 0) await DBOS.setLatestApplicationVersion(this.#version);
  }

  /** A cancel is two commits. Where the client died between them, the second one is made here. */
  async #endCancelled(): Promise<void> {
    const { client, database } = this.#options;
    const { rows } = await database.pool.query<{ workflow: string }>(
      `SELECT r.workflow FROM ${database.schema}.workflow_status s
       JOIN ${database.schema}.agent_runs r ON r.workflow = s.workflow_uuid
       WHERE s.executor_id = $1 AND s.status = 'PENDING' AND r.status = 'cancelled'`,
      [this.id],
    );
    for (const { workflow } of rows) await client.cancelWorkflow(workflow);
  }

  #warn(message: string): void {
    // That the engine ends and that others get its turns is no news while it is closed.
    if (this.#isClosing && newsOfClosing.test(message)) return;
    this.#options.onWarning(message);
  }

  #logger(): { info(): void; debug(): void; warn(entry: unknown): void; error(entry: unknown): void } {
    const warn = (entry: unknown): void => this.#warn(typeof entry === "string" ? entry : messageOf(entry));
    return { info: () => {}, debug: () => {}, warn, error: warn };
  }
}

async function runWorkflow(id: string, turn: number): Promise<null> {
  await current?.run(id, turn);
  return null;
}
