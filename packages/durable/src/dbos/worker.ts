import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { AgentError } from "@toolcrib/agent";
import { messageOf } from "@toolcrib/core/text";
import type { Pool } from "pg";
import { manifestVersion, namesDigest } from "../manifest.ts";
import { type Database, databaseOf, openPool } from "./database.ts";
import { isAlive, Lease } from "./lease.ts";
import { Listener } from "./listener.ts";
import { type Engine, plainJson } from "./loadEngine.ts";
import type { Settings } from "./options.ts";
import { runRecordedTurn } from "./recordedTurn.ts";
import { RequestLimits } from "./requestLimits.ts";
import { untilDatabaseIsBack } from "./retry.ts";
import { queueOf, type RunTable, workflowName, workflowOf } from "./runTable.ts";
import { TurnQueue } from "./turnQueue.ts";
import { TurnSlots } from "./turnSlots.ts";

export interface WorkerOptions extends Omit<Settings, "databaseUrl" | "schema" | "connections"> {
  readonly engine: Engine;
  readonly database: Database;
  readonly runs: RunTable;
}

/** The time that steps get to end by themselves after their signal. */
const abortMs = 2_000;
/** The time that the engine gets to note that turns have ended. If it does not, the next worker finds that they have. */
const noteMs = 300;
/** The interval at which a worker looks for runs that are old enough to be removed. */
const removalMs = 60_000;
const newsOfClosing = /system database has been shut down|no longer owned by this execution/;

/** The engine keeps its state for the whole process: it runs the turns of this worker. */
let current: Worker | undefined;
let isRegistered = false;

/** The part of a process that runs turns. */
export class Worker {
  readonly id: string = randomUUID();
  readonly #options: WorkerOptions;
  readonly #limits: RequestLimits;
  readonly #listener: Listener;
  readonly #slots: ReadonlyMap<string, TurnSlots>;
  /** The turns that run here, and what ends them. */
  readonly #turns: Map<Promise<void>, AbortController> = new Map();
  #lease: Lease | undefined;
  #queue: TurnQueue | undefined;
  /** Signs of life have connections of their own: behind the queries of all turns they would come too late. */
  #pool: Pool | undefined;
  #version = "";
  #nextRemoval = 0;
  #isClosing = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { engine, database, agents, workerConcurrency } = options;
    this.#limits = new RequestLimits(database, this.id, options.providers);
    this.#listener = new Listener(engine, database, (notice) => {
      if (notice.kind === "granted") this.#limits.grant(notice.ids);
      else this.#queue?.wake();
    });
    this.#slots = new Map(
      Object.keys(agents).map((name) => {
        const running = (): number => engine.countRunning(queueOf(name));
        return [name, new TurnSlots(workerConcurrency, running, () => this.#queue?.wake())];
      }),
    );
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
      await this.#launch();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #launch(): Promise<void> {
    const { engine, database, agents, leaseMs, tenantConcurrency } = this.#options;
    const { DBOS } = engine.sdk;
    const names = Object.keys(agents);
    this.#pool = openPool(engine, database.config, { max: 2, query_timeout: leaseMs });
    const onWarning = (message: string): void => this.#warn(message);
    const lease = new Lease(databaseOf(this.#pool, database.config, database.schemaName), {
      worker: this.id,
      version: this.#version,
      agents: names,
      leaseMs,
      executionsOf: engine.executionsOf,
      onLost: () => this.#abortTurns(),
      onBeat: () => this.#onBeat(),
      onWarning,
    });
    this.#lease = lease;
    await lease.begin();
    lease.keep();
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
      listenQueues: [],
      useListenNotify: false,
      logger: this.#logger(),
    });
    await DBOS.launch();
    await engine.stopPolling();
    await DBOS.setLatestApplicationVersion(this.#version);
    this.#queue = new TurnQueue({
      engine,
      database,
      version: this.#version,
      slots: this.#slots,
      tenantConcurrency,
      ready: (signal) => lease.ready(signal),
      recover: () => lease.recoverOwn(),
      hears: () => this.#listener.isHeard,
      onWarning,
    });
    this.#queue.start();
    this.#listener.start();
  }

  /** Runs a turn of a run, from its first step or from where its records end. */
  async run(id: string, turn: number): Promise<void> {
    const { engine } = this.#options;
    const workflow = workflowOf(id, turn);
    const control = new AbortController();
    const running = this.#run(id, turn, control);
    this.#turns.set(running, control);
    try {
      await running;
      // Its slot is free once the engine has recorded its end.
      void engine.ended(workflow).then(() => this.#letIn());
    } catch (error) {
      setImmediate(() => this.#letIn());
      throw error;
    } finally {
      this.#turns.delete(running);
    }
  }

  #letIn(): void {
    for (const slots of this.#slots.values()) slots.admit();
  }

  async #run(id: string, turn: number, control: AbortController): Promise<void> {
    const { engine, runs, agents } = this.#options;
    const row = await untilDatabaseIsBack(() => runs.read(id), control.signal);
    // It has ended, and the worker died before the engine knew.
    if (row?.turn !== turn || row.status !== "active") return;
    const mayBegin = (): boolean => !this.#isClosing && !control.signal.aborted;
    const ready = async (signal: AbortSignal): Promise<void> => await this.#lease?.ready(signal);
    const leave = <T>(wait: () => Promise<T>, signal: AbortSignal): Promise<T> =>
      this.#slots.get(row.agent)?.leave(wait, signal) ?? wait();
    try {
      const context = { engine, runs, agents, limits: this.#limits, control, mayBegin, ready, leave };
      const { tracing } = this.#options;
      const { end, read } = await runRecordedTurn(row, context, tracing);
      await untilDatabaseIsBack(() => runs.end(id, turn, read, end), control.signal);
    } catch (error) {
      if (mayBegin()) throw error;
      await this.#lease?.release(row.workflow);
      throw new engine.sdk.DBOSWorkflowConflictError(row.workflow);
    }
  }

  /** Begins no step any more. Steps that run may end, then get their signal. What has not ended goes to other workers. */
  async close(): Promise<void> {
    if (current !== this) return;
    this.#isClosing = true;
    const { engine, closeMs } = this.#options;
    const { DBOS } = engine.sdk;
    try {
      // Before turns are released: it would take them again.
      await this.#queue?.stop();
      await this.#listener.stop();
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

  async #onBeat(): Promise<void> {
    if (this.#isClosing || this.#queue === undefined) return;
    this.#queue.recover();
    await this.#keepLatest();
    await this.#endCancelled();
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
    const { versionName } = await DBOS.getLatestApplicationVersion();
    if (versionName === this.#version) return;
    const { rowCount } = await database.pool.query(
      `SELECT FROM ${database.schema}.agent_workers w WHERE w.version = $1 AND ${isAlive} LIMIT 1`,
      [versionName],
    );
    if (rowCount === 0) await DBOS.setLatestApplicationVersion(this.#version);
  }

  /** Ends turns of runs that are cancelled and whose turn is not: what began a cancel may have died before its end. */
  async #endCancelled(): Promise<void> {
    const { runs, database } = this.#options;
    const { rows } = await database.pool.query<{ workflow: string }>(
      `SELECT r.workflow FROM ${database.schema}.workflow_status s
       JOIN ${database.schema}.agent_runs r ON r.workflow = s.workflow_uuid
       WHERE s.executor_id = $1 AND s.status = 'PENDING' AND r.status = 'cancelled'`,
      [this.id],
    );
    for (const { workflow } of rows) await runs.cancelTurn(workflow);
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
