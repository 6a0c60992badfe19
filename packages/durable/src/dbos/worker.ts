import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import { AgentError } from "@toolcrib/agent";
import { untilAborted } from "@toolcrib/core/internal";
import { toPlainError } from "../errors.ts";
import { manifestVersion, namesDigest } from "../manifest.ts";
import { type Database, databaseOf, openPool, patientPool } from "./database.ts";
import { isAlive, Lease } from "./lease.ts";
import { type Engine, plainJson, warningsTo } from "./loadEngine.ts";
import type { Settings } from "./options.ts";
import { notHere, runRecordedTurn } from "./recordedSteps.ts";
import { recoverTurns } from "./recovery.ts";
import { RequestLimits } from "./requestLimits.ts";
import { untilDatabaseIsBack } from "./retry.ts";
import { queueOf, type RunTable, workflowName, workflowOf } from "./runTable.ts";

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

/** The interval at which the engine looks into each queue: half of it is what a turn waits for on average. A look takes four statements. */
const pollingMs = 450;
/** The interval at which it is looked whether runs that run here were cancelled. */
const watchMs = 1_000;
/** The time that steps get to end by themselves after their signal. */
const abortMs = 2_000;
/** The time that the engine gets to note that turns have ended. If it does not, the next worker finds that they have. */
const noteMs = 300;
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
  /** Signs of life have connections of their own: behind the queries of all turns they would come too late. */
  readonly #own: Database;
  readonly #lease: Lease;
  #version = "";
  #isWatching = false;
  #isClosing = false;
  readonly #closed: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(options: WorkerOptions) {
    const { engine, database, agents, leaseMs, limits } = options;
    this.#options = options;
    this.#limits = new RequestLimits(database, this.id, limits.providers);
    const pool = openPool(engine, database.config, { max: 2, query_timeout: leaseMs });
    this.#own = databaseOf(pool, database.config, database.schemaName);
    this.#lease = new Lease(this.#own, {
      worker: this.id,
      agents: Object.keys(agents),
      leaseMs,
      onLost: () => this.#abortTurns(),
      onBeat: (isSteady) => this.#onBeat(isSteady),
      onWarning: (message) => this.#warn(message),
    });
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
      await this.#lease.begin(this.#version);
      await this.#launch();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #launch(): Promise<void> {
    const { engine, database, client, agents } = this.#options;
    const { worker, tenant } = this.#options.limits;
    const { DBOS } = engine.sdk;
    const queues = Object.keys(agents).map(queueOf);
    // A tenant is what the engine knows as a partition of a queue.
    const limits = {
      workerConcurrency: worker?.concurrency ?? 100,
      ...(tenant?.concurrency && { partitionConcurrency: tenant.concurrency }),
    };
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
      // There are no schedules.
      schedulerPollingIntervalMs: 3_600_000,
      logger: warningsTo((message) => this.#warn(message)),
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
      throw notHere(own, this.#options);
    }
    const running = this.#run(own);
    this.#turns.set(own, running);
    void this.#watch();
    await running.finally(() => this.#turns.delete(own));
  }

  async #run({ id, turn, workflow, control: { signal } }: OwnTurn): Promise<void> {
    const { engine, runs, maxAttempts, tracing } = this.#options;
    const { DBOSWorkflowConflictError, Error: errors } = engine.sdk;
    const mayBegin = (): boolean => !this.#isClosing && !signal.aborted;
    const ready = (ended: AbortSignal): Promise<void> => this.#lease.ready(ended);
    try {
      await ready(signal);
      const attempt = { worker: this.id, version: this.#version, maxAttempts };
      const row = await untilDatabaseIsBack(() => runs.begin(id, turn, attempt), signal);
      // It has ended, and the worker died before the engine knew.
      if (row === undefined) return;
      const context = { ...this.#options, limits: this.#limits, signal, mayBegin, ready };
      const { read, ...end } = await runRecordedTurn(row, context, tracing);
      await untilDatabaseIsBack(() => runs.end(id, turn, read, end), signal);
    } catch (error) {
      // With this error the engine records nothing, and leaves the turn to whoever has it.
      if (!mayBegin()) throw notHere({ workflow }, this.#options);
      if (error instanceof DBOSWorkflowConflictError || error instanceof errors.DBOSWorkflowCancelledError) throw error;
      await untilDatabaseIsBack(() => runs.fail(id, turn, toPlainError(error)), signal);
      throw error;
    }
  }

  /** Ends the turns here whose run was cancelled, also for the engine: whoever cancelled it may have died before. */
  async #watch(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const { runs, client } = this.#options;
    while (this.#turns.size > 0) {
      await sleep(watchMs, undefined, { ref: false });
      // The database may be away: it is looked at again.
      const cancelled = await runs.cancelled([...this.#turns.keys()]).catch((): string[] => []);
      const ended = [...this.#turns.keys()].filter(({ workflow }) => cancelled.includes(workflow));
      if (ended.length > 0) await client.cancelWorkflows(cancelled).catch(() => {});
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
        .end()
        .then(() => this.#recover(0, false))
        .catch(() => {});
    } finally {
      await this.#own.pool.end();
      current = undefined;
    }
  }

  async #untilIdle(ms: number): Promise<void> {
    await untilAborted(Promise.allSettled(this.#turns.values()), AbortSignal.timeout(ms)).catch(() => {});
  }

  #abortTurns(): void {
    for (const { control } of this.#turns.keys()) control.abort();
  }

  async #recover(strayMs: number, others: boolean): Promise<void> {
    const { client, runs, leaseMs } = this.#options;
    const running = [...this.#turns.keys()]
      .filter(({ control }) => !control.signal.aborted)
      .map(({ workflow }) => workflow);
    await recoverTurns(this.#own, { client, runs, worker: this.id, running, strayMs, others, limitMs: leaseMs });
  }

  async #onBeat(isSteady: boolean): Promise<void> {
    const { leaseMs, retention, runs } = this.#options;
    if (this.#isClosing) return;
    if (isSteady) await this.#recover(leaseMs, true);
    await this.#keepLatest();
    while (retention && !this.#isClosing && (await runs.removeOld(retention.days)));
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
}

async function runWorkflow(id: string, turn: number): Promise<null> {
  await current?.run(id, turn);
  return null;
}
