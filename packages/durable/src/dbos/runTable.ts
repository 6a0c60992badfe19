import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import { AgentError, type Session, type UserContent } from "@toolcrib/agent";
import type { ToolLabels } from "@toolcrib/core";
import type { PoolClient } from "pg";
import type { PlainError } from "../errors.ts";
import type { RunStatus } from "../run.ts";
import type { TraceCarrier } from "../tracing.ts";
import type { TurnEnd, TurnInput } from "../turn.ts";
import type { Database } from "./database.ts";

/** The workflow that runs one turn of a run. */
export const workflowName = "toolcrib.turn";

/** Returns the queue of an agent. Workers listen to those of their own agents alone. */
export function queueOf(agent: string): string {
  return `toolcrib:${agent}`;
}

/** Returns the workflow of a turn. No id of a run holds `::`. */
export function workflowOf(id: string, turn: number): string {
  return turn === 1 ? id : `${id}::${turn}`;
}

/** The end of a turn. It has no session if no agent could be made: the one before stays. */
export type EndOfTurn = Omit<TurnEnd, "session" | "usage"> & Partial<Pick<TurnEnd, "session" | "usage">>;

/** A row of `agent_runs`, its JSON read. */
export interface RunRow {
  readonly id: string;
  readonly agent: string;
  readonly tenant: string | null;
  readonly labels: ToolLabels;
  readonly priority: number;
  readonly turn: number;
  readonly workflow: string;
  readonly status: RunStatus;
  readonly input: TurnInput;
  readonly session: Session | undefined;
  readonly outcome: Omit<EndOfTurn, "session"> | undefined;
  readonly trace: TraceCarrier | undefined;
  readonly read_seq: number;
  /** The number of times that a worker has begun the present turn. */
  readonly attempts: number;
  /** The version of the worker that has begun the present turn. */
  readonly version: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A run whose turn a worker begins. */
export interface BegunRow extends RunRow {
  /** Set if a worker has begun the turn before: there may be records of its steps. */
  readonly isBegun: boolean;
}

/** The end of a step, as the engine records it. */
export interface StepRecord {
  readonly value?: unknown;
  readonly error?: PlainError;
  /** Of a reply: the last message that the run has read. */
  readonly read?: number;
  /** Of the first step of a turn: the prompt that the turn has, wherever it goes on. */
  readonly prompt?: string | null;
}

/** Returns columns of a row with their JSON read, which the database keeps as text. */
export function readRow<Column extends keyof RunRow>(raw: Readonly<Record<Column, unknown>>): Pick<RunRow, Column> {
  const row: Record<string, unknown> = { ...raw };
  for (const name of ["labels", "input", "session", "outcome", "trace"])
    row[name] = typeof row[name] === "string" ? JSON.parse(row[name]) : undefined;
  if ("read_seq" in row) row.read_seq = Number(row.read_seq);
  return row as Pick<RunRow, Column>;
}

/** Returns whether its turn has not ended. */
export function isOpen({ status }: Pick<RunRow, "status">): boolean {
  return status === "queued" || status === "running";
}

export function unknownRun(id: string): AgentError {
  return new AgentError({ code: "not_found", message: `There is no run ${JSON.stringify(id)}.` });
}

/** The most runs that one transaction removes. */
const mostRemoved = 100;

/** The engine takes 0 to 2^31 - 1, and the lowest number first. */
const middlePriority = 1_000_001;

/** The columns read of a locked run: not its session, which may be large. */
const lockedColumns = ["id", "agent", "tenant", "priority", "turn", "workflow", "status", "outcome"] as const;
export type LockedRow = Pick<RunRow, (typeof lockedColumns)[number]>;

/** The rows of runs. A change of a row and the turn that it begins are one transaction. */
export class RunTable {
  readonly #database: Database;
  readonly #client: DBOSClient;
  readonly #table: string;
  readonly #messages: string;

  constructor(database: Database, client: DBOSClient) {
    this.#database = database;
    this.#client = client;
    this.#table = `${database.schema}.agent_runs`;
    this.#messages = `${database.schema}.agent_messages`;
  }

  /** Adds the run and queues its first turn; returns the name of the agent of the run that is there, old or new. */
  async add(
    run: Pick<RunRow, "id" | "agent" | "tenant" | "labels" | "priority" | "trace">,
    message: UserContent,
  ): Promise<string> {
    return await this.#database.transaction(async (client) => {
      const { id, agent, tenant, priority, trace } = run;
      const labels = JSON.stringify(run.labels);
      const values = [id, agent, tenant, labels, priority, JSON.stringify({ message }), trace && JSON.stringify(trace)];
      const { rowCount } = await client.query(
        `INSERT INTO ${this.#table} (id, agent, tenant, labels, priority, turn, workflow, status, input, trace)
         VALUES ($1, $2, $3, $4, $5, 1, $1, 'queued', $6, $7) ON CONFLICT DO NOTHING`,
        values,
      );
      if (rowCount === 1) await this.#enqueue(client, run, id, 1);
      else return (await this.#lock(client, id))?.agent ?? agent;
      return agent;
    });
  }

  /**
   * Begins a turn, unless it has ended: counts the attempt, once where the answer was lost and the worker asks again. Resolves to the run. A
   * turn that so many attempts have not ended is given up, as each worker that began it has died.
   */
  async begin(
    id: string,
    turn: number,
    { worker, version, maxAttempts }: { worker: string; version: string; maxAttempts: number },
  ): Promise<BegunRow | undefined> {
    const { rows } = await this.#database.pool.query<Record<keyof RunRow, unknown> & { isBegun: boolean }>(
      `UPDATE ${this.#table} SET status = 'running', worker = $3, version = $4,
         attempts = attempts + (worker IS DISTINCT FROM $3)::int
       WHERE id = $1 AND turn = $2 AND status IN ('queued', 'running')
       RETURNING *, (SELECT before.version IS NOT NULL FROM ${this.#table} before WHERE before.id = $1) AS "isBegun"`,
      [id, turn, worker, version],
    );
    const row = rows[0] && { ...readRow(rows[0]), isBegun: rows[0].isBegun };
    if (row === undefined || row.attempts <= maxAttempts) return row;
    const times = `${maxAttempts} ${maxAttempts === 1 ? "attempt" : "attempts"}`;
    const message = `The run was abandoned after ${times}: each worker that ran it died. See maxAttempts.`;
    const back = `UPDATE ${this.#table} SET attempts = $3 WHERE id = $1 AND turn = $2`;
    await this.#database.pool.query(back, [id, turn, maxAttempts]);
    await this.fail(id, turn, { name: "AgentError", code: "server", message });
    return undefined;
  }

  /** Returns those of the turns whose run was cancelled or removed, by their workflows. */
  async cancelled(turns: readonly { readonly id: string; readonly workflow: string }[]): Promise<string[]> {
    const { rows } = await this.#database.pool.query<{ workflow: string }>(
      `SELECT asked.workflow FROM unnest($1::text[], $2::text[]) asked (id, workflow)
       LEFT JOIN ${this.#table} r ON r.id = asked.id WHERE coalesce(r.status, 'cancelled') = 'cancelled'`,
      [turns.map(({ id }) => id), turns.map(({ workflow }) => workflow)],
    );
    return rows.map(({ workflow }) => workflow);
  }

  /** Returns the prompt that the first step of a turn has recorded: null for none, undefined before the first step. */
  async recordedPrompt(workflow: string): Promise<string | null | undefined> {
    const steps = await this.#client.listWorkflowSteps(workflow, { limit: 1 });
    const record = steps?.[0]?.output as StepRecord | undefined;
    return record?.prompt;
  }

  /** Runs `change` while nobody else changes the run. Throws for an unknown id. */
  async change<T>(id: string, change: (row: LockedRow, client: PoolClient) => Promise<T>): Promise<T> {
    // Thrown within the transaction it would cost the connection.
    const changed = await this.#database.transaction(async (client) => {
      const row = await this.#lock(client, id);
      return row && { result: await change(row, client) };
    });
    if (changed === undefined) throw unknownRun(id);
    return changed.result;
  }

  /** Records how a turn ended, unless the run has gone on or ended meanwhile. What it has not read begins another. */
  async end(id: string, turn: number, read: number | undefined, { session, ...end }: EndOfTurn): Promise<void> {
    await this.#database.transaction(async (client) => {
      const row = await this.#lock(client, id);
      if (row === undefined || !isOpen(row) || row.turn !== turn) return;
      const outcome = { usage: row.outcome?.usage, ...end };
      // While calls wait for an answer, messages wait too, as they do in an agent.
      const unread = outcome.status === "waiting" || read === undefined ? [] : await this.unread(id, read, client);
      await client.query(
        `UPDATE ${this.#table} SET status = $2, session = coalesce($3, session), outcome = $4, read_seq = coalesce($5, read_seq),
           updated_at = now() WHERE id = $1`,
        [id, outcome.status, session && JSON.stringify(session), JSON.stringify(outcome), unread.at(-1)?.seq ?? read],
      );
      if (unread.length > 0) await this.next(client, row, { message: unread.map(({ text }) => text).join("\n\n") });
    });
  }

  /** Fails a turn by what is no outcome of its own: messages stay unread. */
  async fail(id: string, turn: number, error: PlainError): Promise<void> {
    await this.end(id, turn, undefined, { status: "failed", error });
  }

  /** Reads the messages of a run after one, in order. */
  async unread(
    id: string,
    after: number,
    client: Pick<PoolClient, "query"> = this.#database.pool,
  ): Promise<readonly { readonly seq: number; readonly text: string }[]> {
    const { rows } = await client.query<{ seq: string; content: string }>(
      `SELECT seq, content FROM ${this.#messages} WHERE run = $1 AND seq > $2 ORDER BY seq`,
      [id, after],
    );
    return rows.map(({ seq, content }) => ({ seq: Number(seq), text: JSON.parse(content) }));
  }

  /** Adds a message for the present turn of a locked run. */
  async addMessage(client: PoolClient, { id }: LockedRow, text: string): Promise<void> {
    await client.query(`INSERT INTO ${this.#messages} (run, content) VALUES ($1, $2)`, [id, JSON.stringify(text)]);
  }

  /** Cancels a locked run. */
  async cancel(client: PoolClient, { id }: LockedRow): Promise<void> {
    await client.query(`UPDATE ${this.#table} SET status = 'cancelled', updated_at = now() WHERE id = $1`, [id]);
  }

  /** Removes some of the runs that ended so many days ago; returns whether there may be more. Any number of workers may do so at once. */
  async removeOld(days: number): Promise<boolean> {
    const { rows } = await this.#database.pool.query<Pick<RunRow, "id" | "turn">>(
      `SELECT id, turn FROM ${this.#table} WHERE status IN ('done', 'failed', 'cancelled') AND updated_at < now() - $1 * interval '1 day'
       ORDER BY updated_at LIMIT ${mostRemoved}`,
      [days],
    );
    await this.remove(rows);
    return rows.length === mostRemoved;
  }

  /** Deletes runs: first what the engine has of them, so that nothing is left of a run that is gone. One that goes on meanwhile stays. */
  async remove(runs: readonly Pick<RunRow, "id" | "turn">[]): Promise<number> {
    if (runs.length === 0) return 0;
    const turns = runs.flatMap(({ id, turn }) => Array.from({ length: turn }, (_, index) => workflowOf(id, index + 1)));
    await this.#client.deleteWorkflows(turns);
    const { rowCount } = await this.#database.pool.query(
      `DELETE FROM ${this.#table} r USING unnest($1::text[], $2::int[]) old (id, turn)
       WHERE r.id = old.id AND r.turn = old.turn AND r.status NOT IN ('queued', 'running')`,
      [runs.map(({ id }) => id), runs.map(({ turn }) => turn)],
    );
    return rowCount ?? 0;
  }

  async #lock(client: PoolClient, id: string): Promise<LockedRow | undefined> {
    const { rows } = await client.query<Record<keyof LockedRow, unknown>>(
      `SELECT ${lockedColumns.join(", ")} FROM ${this.#table} WHERE id = $1 FOR UPDATE`,
      [id],
    );
    return rows[0] && readRow(rows[0]);
  }

  /** Begins the next turn of a locked run. */
  async next(client: PoolClient, row: LockedRow, input: TurnInput): Promise<void> {
    const turn = row.turn + 1;
    const workflow = workflowOf(row.id, turn);
    await client.query(
      `UPDATE ${this.#table} SET turn = $2, workflow = $3, status = 'queued', input = $4, attempts = 0, worker = NULL, version = NULL,
         updated_at = now() WHERE id = $1`,
      [row.id, turn, workflow, JSON.stringify(input)],
    );
    await this.#enqueue(client, row, workflow, turn);
  }

  async #enqueue(
    client: PoolClient,
    { id, agent, tenant, priority }: Pick<RunRow, "id" | "agent" | "tenant" | "priority">,
    workflowID: string,
    turn: number,
  ): Promise<void> {
    const options = {
      workflowName,
      workflowID,
      queueName: queueOf(agent),
      // Read where the queue has a limit for each tenant; runs without a tenant count as one.
      queuePartitionKey: tenant ?? "",
      priority: middlePriority - priority,
      workflowIDReusePolicy: "reject",
    } as const;
    await this.#client.enqueueInTransaction<(id: string, turn: number) => Promise<null>>(client, options, id, turn);
  }
}
