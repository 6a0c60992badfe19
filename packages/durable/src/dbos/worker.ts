import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import { AgentError } from "@toolcrib/agent";
import { messageOf } from "@toolcrib/core/text";
import type { Pool } from "pg";
import { toPlainError } from "../errors.ts";
import { manifestVersion, namesDigest } from "../manifest.ts";
import { type Database, databaseOf, openPool, patientPool } from "./database.ts";
import { isAlive, Lease } from "./lease.ts";
import { type Engine, plainJson } from "./loadEngine.ts";
import type { Settings } from "./options.ts";
import { runRecordedTurn } from "./recordedTurn.ts";
import { recoverTurns } from "./recovery.ts";
import { RequestLimits } from "./requestLimits.ts";
import { untilDatabaseIsBack } from "./retry.ts";
import { queueOf, workflowName, workflowOf } from "./runRow.ts";
import type { RunTable } from "./runTable.ts";

export interface WorkerOptions extends Omit<Settings, "databaseUrl" | "schema" | "connections"> {
  readonly engine: Engine;
  readonly database: Database;
  readonly client: DBOSClient;
  readonly runs: RunTable;
}

/** A turn that runs here. */
interface OwnTurn {
  readonly id: string;
  readonly turn: number;
  readonly workflow: string;
  /** Ends what is in flight. */
  readonly control: AbortController;
}

/** The interval at which the engine looks into each queue: half of it is what a turn waits for on average. */
const pollingMs = 250;
/** The interval at which it is looked whether runs that run here were cancelled. */
const watchMs = 1_000;
/** The time that steps get to end by themselves after their signal. */
const abortMs = 2_000;
/** The time that the engine gets to note that turns have ended. If it does not, the next worker finds that they have. */
const noteMs = 300;
/** The interval at which a worker looks for runs that are old enough to be removed. */
const removalMs = 60_000;
const newsOfClosing = /system database has been shut down|no longer owned by this execution|Shutting down while/;

/** The engine keeps its state for the whole process: it runs the turns of this worker. */
let current: Worker | undefined;
let isRegistered = false;

/** The part of a process that runs turns. */
export class Worker {
  readonly id: string = randomUUID();
  readonly #options: WorkerOptions;
  readonly #limits: RequestLimits;
  readonly #turns: Map<OwnTurn, Promise<void>> = new Map();
  /** Ends the engine's waits for the database. */
  readonly #impatience: AbortController = new AbortController();
  #lease: Lease | undefined;
  /** Signs of life have connections of their own: behind the queries of all turns they would come too late. */
  #own: Database | undefined;
  #pool: Pool | undefined;
  #version = "";
  #nextRemoval = 0;
  #isWatching = false;
  #isClosing = false;
  readonly #closed: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#limits = new RequestLimits(options.database, this.id, options.providers);
  }

  async start(): Promise<void> {
    const { engine, agents } = this.#options;
    if (current || engine.sdk.DBOS.isInitialized()) {
      const message =
        "This process already has a DBOS worker, and can have only one. Close it first, or start this one in another process.";
      throw new AgentError({ code: "busy", message });
    }
    current = this;
    try {
      this.#version = await manifestVersion(agents);
      await this.#beginLease();
      await this.#launch();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #beginLease(): Promise<void> {
    const { engine, database, agents, leaseMs } = this.#options;
    this.#pool = openPool(engine, database.config, { max: 2, query_timeout: leaseMs });
    this.#own = databaseOf(this.#pool, database.config, database.schemaName);
    this.#lease = new Lease(this.#own, {
      worker: this.id,
      version: this.#version,
      agents: Object.keys(agents),
      leaseMs,
      onLost: () => this.#abortTurns(),
      onBeat: (isSteady) => this.#onBeat(isSteady),
      onWarning: (message) => this.#warn(message),
    });
    await this.#lease.begin();
    this.#lease.keep();
  }

  async #launch(): Promise<void> {
    const { engine, database, client, agents, workerConcurrency, tenantConcurrency } = this.#options;
    const { DBOS } = engine.sdk;
    const queues = Object.keys(agents).map(queueOf);
    // A tenant is what the engine knows as a partition of a queue.
    const limits = { workerConcurrency, ...(tenantConcurrency && { partitionConcurrency: tenantConcurrency }) };
    for (const queue of queues) await client.registerQueue(queue, { ...limits, minPollingIntervalMs: pollingMs });
    if (!isRegistered) DBOS.registerWorkflow(runWorkflow, { name: workflowName });
    isRegistered = true;
    DBOS.setConfig({
      name: `toolcrib-${namesDigest(agents)}`,
      systemDatabasePool: patientPool(database.pool, this.#impatience.signal, (message) => this.#warn(message)),
      systemDatabaseSchemaName: database.schemaName,
      applicationVersion: this.#version,
      executorID: this.id,
      serializer: plainJson,
      listenQueues: queues,
      useListenNotify: false,
      logger: this.#logger(),
    });
    await DBOS.launch();
    await DBOS.setLatestApplicationVersion(this.#version);
  }

  /** Runs a turn of a run, from its first step or from where its records end. */
  async run(id: string, turn: number): Promise<void> {
    const own = { id, turn, workflow: workflowOf(id, turn), control: new AbortController() };
    if (this.#isClosing) {
      // The engine takes turns until it is shut down. They are handed over with the rest.
      await this.#closed.promise;
      throw new this.#options.engine.sdk.DBOSWorkflowConflictError(own.workflow);
    }
    const running = this.#run(own);
    this.#turns.set(own, running);
    void this.#watch();
    try {
      await running;
    } finally {
      this.#turns.delete(own);
    }
  }

  async #run({ id, turn, workflow, control }: OwnTurn): Promise<void> {
    const { engine, runs, agents, maxAttempts, tracing } = this.#options;
    const { DBOSWorkflowConflictError, Error: errors } = engine.sdk;
    const { signal } = control;
    const mayBegin = (): boolean => !this.#isClosing && !signal.aborted;
    const ready = async (ended: AbortSignal): Promise<void> => await this.#lease?.ready(ended);
    try {
      await ready(signal);
      const attempt = { worker: this.id, version: this.#version, maxAttempts };
      const row = await untilDatabaseIsBack(() => runs.begin(id, turn, attempt), signal);
      // It has ended, and the worker died before the engine knew.
      if (row === undefined) return;
      const context = { engine, runs, agents, limits: this.#limits, signal, mayBegin, ready };
      const { end, read } = await runRecordedTurn(row, context, tracing);
      await untilDatabaseIsBack(() => runs.end(id, turn, read, end), signal);
    } catch (error) {
      // With this error the engine records nothing, and leaves the turn to whoever has it.
      if (!mayBegin()) throw new DBOSWorkflowConflictError(workflow);
      if (error instanceof DBOSWorkflowConflictError || error instanceof errors.DBOSWorkflowCancelledError) throw error;
      await untilDatabaseIsBack(() => runs.fail(id, turn, toPlainError(error)), signal);
      throw error;
    }
  }

  /** Ends the turns here whose run was cancelled, also for the engine: whoever cancelled it may have died before. */
  async #watch(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const { runs } = this.#options;
    while (this.#turns.size > 0) {
      await sleep(watchMs, undefined, { ref: false });
      // The database may be away: it is looked at again.
      const cancelled = await runs.cancelled([...this.#turns.keys()]).catch((): readonly string[] => []);
      const ended = [...this.#turns.keys()].filter(({ workflow }) => cancelled.includes(workflow));
      if (ended.length > 0) await runs.cancelTurns(cancelled).catch(() => {});
      for (const { control } of ended) control.abort();
    }
    this.#isWatching = false;
  }

  /** Begins no step any more. Steps that run may end, then get their signal. What has not ended goes to other workers. */
  async close(): Promise<void> {
    if (current !== this) return;
    this.#isClosing = true;
    this.#impatience.abort();
    const { DBOS } = this.#options.engine.sdk;
    try {
      await this.#untilIdle(this.#options.closeMs);
      this.#abortTurns();
      await this.#untilIdle(abortMs);
      if (DBOS.isInitialized()) await DBOS.shutdown({ workflowCompletionTimeoutMS: noteMs });
      this.#closed.resolve();
      // Without the database the lease runs out by itself, and others find the turns.
      await this.#lease
        ?.end()
        .then(() => this.#recover(0, false))
        .catch(() => {});
    } finally {
      await this.#pool?.end();
      current = undefined;
    }
  }

  async #untilIdle(ms: number): Promise<void> {
    const limit = new AbortController();
    const idle = Promise.allSettled(this.#turns.values());
    await Promise.race([idle, sleep(ms, undefined, { signal: limit.signal }).catch(() => {})]);
    limit.abort();
  }

  #abortTurns(): void {
    for (const { control } of this.#turns.keys()) control.abort();
  }

  async #recover(strayMs: number, others: boolean): Promise<void> {
    const { client, runs, leaseMs } = this.#options;
    if (this.#own === undefined) return;
    const running = [...this.#turns.keys()]
      .filter(({ control }) => !control.signal.aborted)
      .map(({ workflow }) => workflow);
    await recoverTurns(this.#own, { client, runs, worker: this.id, running, strayMs, others, limitMs: leaseMs });
  }

  async #onBeat(isSteady: boolean): Promise<void> {
    if (this.#isClosing) return;
    if (isSteady) await this.#recover(this.#options.leaseMs, true);
    await this.#keepLatest();
    await this.#removeOld();
  }

  async #removeOld(): Promise<void> {
    const { runs, retentionDays } = this.#options;
    const now = performance.now();
    if (retentionDays === undefined || now < this.#nextRemoval) return;
    this.#nextRemoval = now + removalMs;
    while (!this.#isClosing && (await runs.removeOld(retentionDays)));
  }

  /** Makes this version the latest if that one has no worker left: new turns go to workers of the latest version alone. */
  async #keepLatest(): Promise<void> {
    const { engine, database } = this.#options;
    const { DBOS } = engine.sdk;
    if (!DBOS.isInitialized()) return;
    const { versionName } = await DBOS.getLatestApplicationVersion();
    if (versionName === this.#version) return;
    const { rowCount } = await database.pool.query(
      `SELECT FROM ${database.schema}.agent_workers w WHERE w.version = $1 AND ${isAlive} LIMIT 1`,
      [versionName],
    );
    if (rowCount === 0) await DBOS.setLatestApplicationVersion(this.#version);
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
