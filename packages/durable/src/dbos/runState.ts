import { AgentError, type Usage } from "@toolcrib/agent";
import { untilAborted } from "@toolcrib/core/internal";
import { reviveError } from "../errors.ts";
import type { ListOptions, Run } from "../run.ts";
import type { Database } from "./database.ts";
import { isAlive } from "./lease.ts";
import { isTransient } from "./retry.ts";
import { isOpen, type RunRow, readRow } from "./runTable.ts";

/** The interval at which it is looked whether runs have ended that somebody waits for. */
const pollingMs = 200;

/** Not the session, which may be large. */
const columns = [
  ...(["id", "agent", "tenant", "labels", "priority", "turn", "status", "outcome", "attempts", "version"] as const),
  ...(["created_at", "updated_at"] as const),
];

type StateRow = Pick<RunRow, (typeof columns)[number]>;
type RawRow = Record<keyof StateRow, unknown>;

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

/** A run that has ended or waits for an answer, as it was then; undefined for an unknown id. */
type Settled = Run | undefined;

interface Waiting extends PromiseWithResolvers<Settled> {
  readonly id: string;
}

/** Reads the state of runs, and waits for the ends of any number of runs with one query at a time. */
export class RunStates {
  readonly #database: Database;
  readonly #select: string;
  readonly #waiting: Set<Waiting> = new Set();
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#select = `SELECT ${columns.join(", ")} FROM ${database.schema}.agent_runs`;
  }

  async get(id: string): Promise<Run | undefined> {
    const { rows } = await this.#database.pool.query<RawRow>(`${this.#select} WHERE id = $1`, [id]);
    const row = rows[0] && readRow(rows[0]);
    if (row === undefined) return undefined;
    const detail = isOpen(row) ? await this.#whatIsMissing(row) : undefined;
    return { ...toRun(row), ...(detail !== undefined && { detail }) };
  }

  async list({ status, tenant, agent, limit = 100, after }: ListOptions): Promise<readonly Run[]> {
    const { rows } = await this.#database.pool.query<RawRow>(
      `${this.#select} WHERE ($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR tenant = $2)
         AND ($3::text IS NULL OR agent = $3)
         AND ($5::timestamptz IS NULL OR created_at < $5 OR (created_at = $5 AND id > $6))
       ORDER BY created_at DESC, id LIMIT $4`,
      [status ?? null, tenant ?? null, agent ?? null, limit, after?.createdAt ?? null, after?.id ?? null],
    );
    return rows.map((row) => toRun(readRow(row)));
  }

  /** Resolves once the run has ended, waits for an answer, or is not known. */
  async wait(id: string, signal?: AbortSignal): Promise<Settled> {
    const waiting = { id, ...Promise.withResolvers<Settled>() };
    this.#waiting.add(waiting);
    this.#look(0);
    try {
      return await untilAborted(waiting.promise, signal);
    } catch (cause) {
      if (!signal?.aborted || cause !== signal.reason) throw cause;
      const message = "The wait for the result of the run was aborted.";
      throw new AgentError({ code: "aborted", message, cause });
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  /** Ends all waiting. */
  close(): void {
    clearTimeout(this.#timer);
    const message = "The runs were closed during the wait for a result.";
    for (const { reject } of this.#waiting) reject(new AgentError({ code: "aborted", message }));
  }

  #look(delayMs: number): void {
    this.#timer ??= setTimeout(() => {
      void this.#ask().finally(() => {
        this.#timer = undefined;
        if (this.#waiting.size > 0) this.#look(pollingMs);
      });
    }, delayMs);
  }

  async #ask(): Promise<void> {
    // Who comes meanwhile may have seen more than the answer tells.
    const asked = [...this.#waiting];
    try {
      const { rows } = await this.#database.pool.query<RawRow & { asked: string }>(
        `SELECT asked, r.* FROM unnest($1::text[]) asked LEFT JOIN (${this.#select}) r ON r.id = asked
         WHERE r.id IS NULL OR r.status NOT IN ('queued', 'running')`,
        [asked.map(({ id }) => id)],
      );
      const settled = new Map(
        rows.map((row) => [row.asked, row.id === null ? undefined : toRun(readRow<keyof StateRow>(row))]),
      );
      for (const { id, resolve } of asked) if (settled.has(id)) resolve(settled.get(id));
    } catch (error) {
      // It is asked again.
      if (!isTransient(error)) for (const { reject } of asked) reject(error);
    }
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
  const { id, agent, tenant, labels, priority, status, outcome, turn, attempts, created_at, updated_at } = row;
  return {
    id,
    agent,
    ...(tenant !== null && { tenant }),
    labels,
    priority,
    status,
    ...(status === "done" && { answer: outcome?.answer ?? "" }),
    ...(status === "waiting" && { pending: outcome?.pending ?? [] }),
    ...(status === "failed" && { error: reviveError(outcome?.error) }),
    usage: outcome?.usage ?? noUsage,
    turns: turn,
    attempts,
    createdAt: created_at,
    updatedAt: updated_at,
  };
}
