import type { Usage } from "@toolcrib/agent";
import { reviveError } from "../errors.ts";
import type { ListOptions, Run, RunStatus } from "../run.ts";
import type { Database } from "./database.ts";
import { isAlive } from "./lease.ts";
import { isOpen, type RawRow, readOutcome, state } from "./runTable.ts";

/** Not the session, which may be large. */
const columns = ["id", "agent", "tenant", "labels", "priority", "turn", "outcome", "created_at", "updated_at"] as const;

/** A row of a run with what the engine knows of its present turn. */
type StateRow = Pick<RawRow, (typeof columns)[number]> & {
  readonly state: RunStatus;
  readonly attempts: string | null;
  readonly version: string | null;
  readonly engine_error: string | null;
};

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

/** Reads the state of runs. */
export class RunStates {
  readonly #database: Database;
  readonly #select: string;

  constructor(database: Database) {
    this.#database = database;
    const { schema } = database;
    // The engine counts one attempt more, in which it gives up.
    this.#select = `SELECT ${columns.map((name) => `r.${name}`).join(", ")}, ${state} AS state,
        w.recovery_attempts - (w.status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED')::int AS attempts, w.application_version AS version,
        CASE WHEN w.status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED' THEN w.status ELSE o.error END AS engine_error
      FROM ${schema}.agent_runs r LEFT JOIN ${schema}.workflow_status w ON w.workflow_uuid = r.workflow
      LEFT JOIN ${schema}.workflow_output o ON o.workflow_uuid = r.workflow`;
  }

  async get(id: string): Promise<Run | undefined> {
    const { rows } = await this.#database.pool.query<StateRow>(`${this.#select} WHERE r.id = $1`, [id]);
    const row = rows[0];
    if (row === undefined) return undefined;
    const detail = isOpen(row) ? await this.#whatIsMissing(row) : undefined;
    return { ...toRun(row), ...(detail !== undefined && { detail }) };
  }

  async list({ status, tenant, agent, limit = 100, after }: ListOptions): Promise<readonly Run[]> {
    const { rows } = await this.#database.pool.query<StateRow>(
      `${this.#select} WHERE ($1::text IS NULL OR ${state} = $1) AND ($2::text IS NULL OR r.tenant = $2)
         AND ($3::text IS NULL OR r.agent = $3)
         AND ($5::timestamptz IS NULL OR r.created_at < $5 OR (r.created_at = $5 AND r.id > $6))
       ORDER BY r.created_at DESC, r.id LIMIT $4`,
      [status ?? null, tenant ?? null, agent ?? null, limit, after?.createdAt ?? null, after?.id ?? null],
    );
    return rows.map(toRun);
  }

  /** Returns those of the runs that have ended, wait for an answer, or are not known. */
  async settled(ids: readonly string[]): Promise<readonly string[]> {
    const { rows } = await this.#database.pool.query<{ id: string }>(
      `SELECT asked.id FROM unnest($1::text[]) asked (id)
       LEFT JOIN ${this.#database.schema}.agent_runs r ON r.id = asked.id
       LEFT JOIN ${this.#database.schema}.workflow_status w ON w.workflow_uuid = r.workflow
       WHERE r.id IS NULL OR ${state} NOT IN ('queued', 'running')`,
      [ids],
    );
    return rows.map(({ id }) => id);
  }

  /** Says why nobody goes on with a run: no worker has its agent, or the tools, model and options of its turn. */
  async #whatIsMissing({ agent, version }: StateRow): Promise<string | undefined> {
    const { rows } = await this.#database.pool.query<{ any: boolean; same: boolean }>(
      `SELECT count(*) > 0 AS any, coalesce(bool_or(version = $2), false) AS same
       FROM ${this.#database.schema}.agent_workers w WHERE $1 = ANY(w.agents) AND ${isAlive}`,
      [agent, version],
    );
    const { any = false, same = false } = rows[0] ?? {};
    if (!any) return `No worker runs the agent ${JSON.stringify(agent)}: call work() in a process that has it.`;
    if (version === null || same) return undefined;
    return (
      `The turn was begun with other tools, another model or other options (version ${version}), and no worker has those now: ` +
      "start such a worker to continue, or cancel the run and start another one."
    );
  }
}

function toRun(row: StateRow): Run {
  const { id, agent, tenant, priority, turn, created_at, updated_at } = row;
  const labels: Run["labels"] = JSON.parse(row.labels);
  const outcome = readOutcome(row);
  const error = outcome?.error ?? engineError(row);
  return {
    id,
    agent,
    ...(tenant !== null && { tenant }),
    labels,
    priority,
    status: row.state,
    ...(row.state === "done" && { answer: outcome?.answer ?? "" }),
    ...(row.state === "waiting" && { pending: outcome?.pending ?? [] }),
    ...(row.state === "failed" && { error: reviveError(error) }),
    usage: outcome?.usage ?? noUsage,
    turns: turn,
    attempts: Number(row.attempts ?? 0),
    createdAt: created_at,
    updatedAt: updated_at,
  };
}

/** Words what the engine itself says of a turn that it has ended. */
function engineError({ engine_error: said, attempts }: StateRow): unknown {
  if (said === "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
    return {
      name: "AgentError",
      code: "server",
      message: `The run was abandoned after ${attempts} ${attempts === "1" ? "attempt" : "attempts"}: each worker that ran it died. See maxAttempts.`,
    };
  try {
    return said === null ? undefined : JSON.parse(said);
  } catch {
    return undefined;
  }
}
