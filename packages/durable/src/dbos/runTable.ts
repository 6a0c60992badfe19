import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import type { Answers, Session, UserContent } from "@toolcrib/agent";
import type { ToolLabels } from "@toolcrib/core";
import type { PoolClient } from "pg";
import type { RunStatus } from "../run.ts";
import type { TraceCarrier } from "../tracing.ts";
import type { TurnEnd, TurnInput } from "../turn.ts";
import type { Database } from "./database.ts";
import { notify } from "./listener.ts";

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

/** The most runs that one transaction removes. */
const mostRemoved = 100;

/** The engine takes 0 to 2^31 - 1, and the lowest number first. */
const middlePriority = 1_000_001;

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
  readonly status: "active" | "waiting" | "done" | "failed" | "cancelled";
  readonly input: TurnInput;
  readonly session: Session | undefined;
  readonly outcome: Omit<EndOfTurn, "session"> | undefined;
  readonly trace: TraceCarrier | undefined;
  readonly read_seq: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** The record of the first step of the present turn, as the engine keeps it. */
  readonly first_record: string | null;
}

/** The same as the database gives it. */
export type RawRow = Omit<RunRow, "labels" | "input" | "session" | "outcome" | "trace" | "read_seq"> & {
  readonly labels: string;
  readonly input: string;
  readonly session: string | null;
  readonly outcome: string | null;
  readonly trace: string | null;
  readonly read_seq: string;
};

export function readOutcome({ outcome }: Pick<RawRow, "outcome">): RunRow["outcome"] {
  return outcome === null ? undefined : JSON.parse(outcome);
}

/** The columns read of a locked run: not its session, which may be large. */
const lockedColumns = ["id", "agent", "tenant", "priority", "turn", "workflow", "status", "outcome"] as const;
export type LockedRow = Pick<RunRow, (typeof lockedColumns)[number]> & { readonly state: RunStatus };

/** The status of a run `r` with the workflow `w`, in SQL: that of an active one is the engine's. */
export const state = `CASE
  WHEN r.status <> 'active' THEN r.status
  WHEN w.status = 'CANCELLED' THEN 'cancelled'
  WHEN w.status IN ('ERROR', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED') THEN 'failed'
  WHEN w.status = 'ENQUEUED' THEN 'queued'
  ELSE 'running' END`;

/** Returns whether its turn has not ended. */
export function isOpen({ state }: { readonly state: RunStatus }): boolean {
  return state === "queued" || state === "running";
}

function readRow(row: RawRow): RunRow {
  return {
    ...row,
    labels: JSON.parse(row.labels),
    input: JSON.parse(row.input),
    session: row.session === null ? undefined : JSON.parse(row.session),
    outcome: readOutcome(row),
    trace: row.trace === null ? undefined : JSON.parse(row.trace),
    read_seq: Number(row.read_seq),
  };
}

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
         VALUES ($1, $2, $3, $4, $5, 1, $1, 'active', $6, $7) ON CONFLICT DO NOTHING`,
        values,
      );
      if (rowCount === 1) await this.#enqueue(client, run, id, 1);
      else return (await this.#lock(client, id))?.agent ?? agent;
      return agent;
    });
  }

  async read(id: string): Promise<RunRow | undefined> {
    const { rows } = await this.#database.pool.query<RawRow>(
      `SELECT r.*, (SELECT o.output FROM ${this.#database.schema}.operation_outputs o
         WHERE o.workflow_uuid = r.workflow ORDER BY o.function_id LIMIT 1) AS first_record
       FROM ${this.#table} r WHERE r.id = $1`,
      [id],
    );
    return rows[0] && readRow(rows[0]);
  }

  /** Returns whether the turn of the run has not ended. */
  async isOpen(id: string, turn: number): Promise<boolean> {
    const { rows } = await this.#database.pool.query<{ state: RunStatus }>(
      `SELECT ${state} AS state FROM ${this.#table} r
       LEFT JOIN ${this.#database.schema}.workflow_status w ON w.workflow_uuid = r.workflow WHERE r.id = $1 AND r.turn = $2`,
      [id, turn],
    );
    return rows[0] !== undefined && isOpen(rows[0]);
  }

  /** Runs `change` while nobody else changes the run; undefined for an unknown id. */
  async change<T>(id: string, change: (row: LockedRow, edit: RunEdit) => Promise<T>): Promise<T | undefined> {
    return await this.#database.transaction(async (client) => {
      const row = await this.#lock(client, id);
      return row && (await change(row, this.#edit(client, row)));
    });
  }

  /** Records how a turn ended, unless the run has gone on or ended meanwhile. What it has not read begins another. */
  async end(id: string, turn: number, read: number, { session, ...end }: EndOfTurn): Promise<void> {
    await this.#database.transaction(async (client) => {
      const row = await this.#lock(client, id);
      if (row?.status !== "active" || row.turn !== turn) return;
      const outcome = { usage: row.outcome?.usage, ...end };
      // While calls wait for an answer, messages wait too, as they do in an agent.
      const unread = outcome.status === "waiting" ? [] : await this.unread(id, read, client);
      await client.query(
        `UPDATE ${this.#table} SET status = $2, session = coalesce($3, session), outcome = $4, read_seq = $5, updated_at = now()
         WHERE id = $1`,
        [id, outcome.status, session && JSON.stringify(session), JSON.stringify(outcome), unread.at(-1)?.seq ?? read],
      );
      if (unread.length > 0) await this.#next(client, row, { message: unread.map(({ text }) => text).join("\n\n") });
    });
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

  /** Ends a turn as the engine would; what runs it notices within a second. */
  async cancelTurn(workflow: string, client: Pick<PoolClient, "query"> = this.#database.pool): Promise<void> {
    await client.query(
      `UPDATE ${this.#database.schema}.workflow_status
       SET status = 'CANCELLED', owner_xid = NULL, queue_name = NULL, started_at_epoch_ms = NULL,
         updated_at = (EXTRACT(EPOCH FROM now()) * 1000)::bigint, completed_at = (EXTRACT(EPOCH FROM now()) * 1000)::bigint
       WHERE workflow_uuid = $1 AND status IN ('ENQUEUED', 'PENDING')`,
      [workflow],
    );
  }

  #edit(client: PoolClient, row: LockedRow): RunEdit {
    return {
      next: (input) => this.#next(client, row, input),
      addMessage: async (text) => {
        await client.query(`INSERT INTO ${this.#messages} (run, content) VALUES ($1, $2)`, [
          row.id,
          JSON.stringify(text),
        ]);
      },
      cancel: async () => {
        const cancelled = `UPDATE ${this.#table} SET status = 'cancelled', updated_at = now() WHERE id = $1`;
        await client.query(cancelled, [row.id]);
        await this.cancelTurn(row.workflow, client);
      },
      remove: () => this.#remove(client, [row]),
    };
  }

  /** Removes some of the runs that ended so many days ago; returns whether there may be more. Any number of workers may do so at once. */
  async removeOld(days: number): Promise<boolean> {
    return await this.#database.transaction(async (client) => {
      const { rows } = await client.query<Pick<RunRow, "id" | "turn">>(
        `SELECT id, turn FROM ${this.#table} WHERE status IN ('done', 'failed', 'cancelled') AND updated_at < now() - $1 * interval '1 day'
         ORDER BY updated_at LIMIT ${mostRemoved} FOR UPDATE SKIP LOCKED`,
        [days],
      );
      if (rows.length > 0) await this.#remove(client, rows);
      return rows.length === mostRemoved;
    });
  }

  /** Deletes runs as the engine deletes what it has of them, in one transaction. */
  async #remove(client: PoolClient, runs: readonly Pick<RunRow, "id" | "turn">[]): Promise<void> {
    const turns = runs.flatMap(({ id, turn }) => Array.from({ length: turn }, (_, index) => workflowOf(id, index + 1)));
    for (const table of ["workflow_input", "workflow_output", "operation_outputs", "workflow_status"])
      await client.query(`DELETE FROM ${this.#database.schema}.${table} WHERE workflow_uuid = ANY($1)`, [turns]);
    await client.query(`DELETE FROM ${this.#table} WHERE id = ANY($1)`, [runs.map(({ id }) => id)]);
  }

  async #lock(client: PoolClient, id: string): Promise<LockedRow | undefined> {
    const { rows } = await client.query<Pick<RawRow, (typeof lockedColumns)[number]> & Pick<LockedRow, "state">>(
      `SELECT ${lockedColumns.map((name) => `r.${name}`).join(", ")}, ${state} AS state FROM ${this.#table} r
       LEFT JOIN ${this.#database.schema}.workflow_status w ON w.workflow_uuid = r.workflow WHERE r.id = $1 FOR UPDATE OF r`,
      [id],
    );
    return rows[0] && { ...rows[0], outcome: readOutcome(rows[0]) };
  }

  async #next(client: PoolClient, row: LockedRow, input: TurnInput): Promise<void> {
    const turn = row.turn + 1;
    const workflow = workflowOf(row.id, turn);
    await client.query(
      `UPDATE ${this.#table} SET turn = $2, workflow = $3, status = 'active', input = $4, updated_at = now() WHERE id = $1`,
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
    await notify(client, this.#database, { kind: "queue" });
  }
}

/** The changes that may be made to a locked run. */
export interface RunEdit {
  /** Begins the next turn. */
  next(input: { readonly message: UserContent } | { readonly answers: Answers }): Promise<void>;
  /** Adds a message for the present turn. */
  addMessage(text: string): Promise<void>;
  cancel(): Promise<void>;
  /** Deletes the run, and what the engine has of its turns. */
  remove(): Promise<void>;
}
