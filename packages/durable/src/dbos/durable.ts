import { randomUUID } from "node:crypto";
import { AgentError, type Answers, isAgentError, type UserContent } from "@toolcrib/agent";
import { isObject, messageOf } from "@toolcrib/core/text";
import type { PoolClient } from "pg";
import {
  checkAnswers,
  checkListOptions,
  checkMessage,
  checkName,
  checkPending,
  checkResultOptions,
  checkRunId,
  checkStartOptions,
  checkText,
  invalid,
} from "../checkInput.ts";
import type { DurableRuns, ListOptions, ResultOptions, Run, StartOptions } from "../run.ts";
import type { TraceCarrier } from "../tracing.ts";
import { loadEngine, plainJson, warningsTo } from "./loadEngine.ts";
import { openDatabase } from "./openDatabase.ts";
import { type DurableOptions, readSettings } from "./options.ts";
import { isTransient } from "./retry.ts";
import { RunStates } from "./runState.ts";
import { isOpen, type LockedRow, RunTable, unknownRun } from "./runTable.ts";
import { Worker, type WorkerOptions } from "./worker.ts";

/**
 * Opens durable runs on DBOS and PostgreSQL. The process is a client until it calls `work`. Throws an AgentError: `missing_sdk`
 * without the engine, `network`, `authentication` or `not_found` without the database, `invalid_option`.
 */
export async function durable(options: DurableOptions): Promise<DurableRuns> {
  const settings = readSettings(options);
  const engine = await loadEngine();
  const database = await openDatabase(engine, settings);
  const client = await engine.sdk.DBOSClient.create({
    systemDatabaseUrl: settings.databaseUrl,
    systemDatabasePool: database.pool,
    systemDatabaseSchemaName: database.schemaName,
    serializer: plainJson,
    logger: warningsTo(settings.onWarning),
  });
  return new DbosRuns({ ...settings, engine, database, client, runs: new RunTable(database, client) });
}

class DbosRuns implements DurableRuns {
  readonly #options: WorkerOptions;
  readonly #runs: RunTable;
  readonly #states: RunStates;
  #worker: Promise<Worker> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#runs = options.runs;
    this.#states = new RunStates(options.database);
  }

  async work(): Promise<void> {
    this.#checkOpen();
    if (Object.keys(this.#options.agents).length === 0)
      throw invalid("A worker needs agents: give durable an agent to run.");
    this.#worker ??= withPlainErrors(this.#startWorker()).catch((error: unknown) => {
      this.#worker = undefined;
      throw error;
    });
    await this.#worker;
  }

  async #startWorker(): Promise<Worker> {
    const worker = new Worker(this.#options);
    await worker.start();
    return worker;
  }

  async start(agent: string, message: UserContent, options: StartOptions = {}): Promise<string> {
    this.#checkOpen();
    checkName("The name of an agent", agent);
    checkMessage(message);
    checkStartOptions(options);
    const known = Object.keys(this.#options.agents);
    if (known.length > 0 && !known.includes(agent))
      throw invalid(`There is no agent ${JSON.stringify(agent)}: agents has ${known.join(", ")}.`);
    const { id = randomUUID(), tenant = null, priority = 0, labels = {} } = options;
    const { tracing } = this.#options;
    const add = (trace?: TraceCarrier) => this.#runs.add({ id, agent, tenant, priority, labels, trace }, message);
    const there = await withPlainErrors(tracing ? tracing.start({ id, agent }, add) : add());
    if (there !== agent)
      throw invalid(`The run ${JSON.stringify(id)} already exists and belongs to the agent ${there}.`);
    return id;
  }

  async get(id: string): Promise<Run | undefined> {
    this.#check(id);
    return await withPlainErrors(this.#states.get(id));
  }

  async list(options: ListOptions = {}): Promise<readonly Run[]> {
    this.#checkOpen();
    checkListOptions(options);
    return await withPlainErrors(this.#states.list(options));
  }

  async result(id: string, options: ResultOptions = {}): Promise<string> {
    this.#check(id);
    checkResultOptions(options);
    const run = await this.#states.wait(id, options.signal);
    if (run === undefined) throw unknownRun(id);
    return resultOf(run);
  }

  async approve(id: string, answers: Answers): Promise<void> {
    this.#check(id);
    checkAnswers(answers);
    await this.#change(id, async (row, client) => {
      if (row.status !== "waiting")
        throw invalid(`The run ${JSON.stringify(id)} does not wait for an answer: see its status with get.`);
      checkPending(answers, row.outcome?.pending);
      await this.#runs.next(client, row, { answers });
    });
  }

  async send(id: string, text: string): Promise<void> {
    this.#check(id);
    checkText(text);
    await this.#change(id, async (row, client) => {
      if (row.status === "cancelled") throw invalid(`The run ${JSON.stringify(id)} was cancelled: start another one.`);
      await (isOpen(row) ? this.#runs.addMessage(client, row, text) : this.#runs.next(client, row, { message: text }));
    });
  }

  async cancel(id: string): Promise<void> {
    this.#check(id);
    const workflow = await this.#change(id, async (row, client) => {
      if (!isOpen(row) && row.status !== "waiting") return undefined;
      await this.#runs.cancel(client, row);
      return row.workflow;
    });
    // If it dies in between, the worker of the turn does it.
    if (workflow !== undefined) await withPlainErrors(this.#options.client.cancelWorkflows([workflow]));
  }

  async remove(id: string): Promise<void> {
    this.#check(id);
    const ended = await this.#change(id, async (row) => (isOpen(row) ? undefined : { id, turn: row.turn }));
    const isRemoved = ended !== undefined && (await withPlainErrors(this.#runs.remove([ended]))) > 0;
    if (!isRemoved)
      throw invalid(`The run ${JSON.stringify(id)} has not ended: wait for its result, or cancel it first.`);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    this.#states.close();
    const worker = await this.#worker?.catch(() => undefined);
    await worker?.close();
    await this.#options.client.destroy();
    await this.#options.database.pool.end();
  }

  async #change<T>(id: string, change: (row: LockedRow, client: PoolClient) => Promise<T>): Promise<T> {
    return await withPlainErrors(this.#runs.change(id, change));
  }

  #check(id: string): void {
    this.#checkOpen();
    checkRunId(id);
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw invalid("These runs are closed: open them again with durable.");
  }
}

/** Resolves to what the call resolves to. A database that is away, or refuses for the moment, is told in words. */
async function withPlainErrors<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    // The message of an error of ours may quote anything.
    if (isAgentError(cause) || !isTransient(cause)) throw cause;
    const code = isObject(cause) && typeof cause.code === "string" ? cause.code : "";
    const said = messageOf(cause) || code;
    // With an answer of its own it was there.
    const what = /^(?:25|40|53|55|57014|58)/.test(code) ? "used now" : "reached";
    const message = `The database cannot be ${what}: ${said}. Repeat the call later: start with the same id is the same run.`;
    throw new AgentError({ code: "network", message, retryable: true, cause });
  }
}

function resultOf(run: Run): string {
  if (run.status === "done") return run.answer ?? "";
  if (run.status === "failed") throw run.error;
  if (run.status === "cancelled")
    throw new AgentError({ code: "aborted", message: `The run ${JSON.stringify(run.id)} was cancelled.` });
  throw new AgentError({
    code: "ended",
    message: `The run ${JSON.stringify(run.id)} waits for an answer: see pending, and answer with approve.`,
    reason: "approval",
    pending: run.pending ?? [],
  });
}
