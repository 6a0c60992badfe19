import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import { untilAborted } from "@toolcrib/core/internal";
import type { PoolClient } from "pg";
import type { Database } from "./database.ts";
import { isAlive } from "./lease.ts";
import { queueOf, type RunTable } from "./runTable.ts";

// The one file that names tables of the engine. It reads them, and nothing else: all changes go through the engine's own calls.

/** Of the advisory lock of the one worker that looks for lost turns. */
const lockKey = 7_283_465_113;

export interface LookForTurns {
  readonly worker: string;
  /** The workflows that this worker runs. */
  readonly running: readonly string[];
  /** A turn that this worker was given so long ago and does not run is lost. */
  readonly strayMs: number;
  /** Looks for turns of workers without a lease too. */
  readonly others: boolean;
}

/** A turn of a run of ours that nobody runs. */
interface LostTurn {
  readonly id: string;
  readonly turn: number;
  /** The version that began it. */
  readonly version: string | null;
}

interface Recovery extends LookForTurns {
  readonly client: DBOSClient;
  readonly runs: RunTable;
  /** The engine tries again for as long as the database is away. That ends the look, not the engine's call. */
  readonly limitMs: number;
}

/**
 * Queues turns again that nobody runs, whatever their version: one worker at a time, so that none is queued again after another worker has
 * taken it. Whoever still runs one can record nothing more.
 */
export async function recoverTurns(database: Database, recovery: Recovery): Promise<void> {
  const { client, runs, limitMs, others, worker } = recovery;
  const { schema, pool } = database;
  await database.transaction(async (own) => {
    // A worker that is closed waits for the others: it does not come back.
    const lock = others ? "pg_try_advisory_xact_lock($1)" : "pg_advisory_xact_lock($1) IS NOT NULL";
    const { rows } = await own.query<{ got: boolean }>(`SELECT ${lock} AS got`, [lockKey]);
    if (!rows[0]?.got) return;
    const lost = await lostTurns(database, recovery);
    // Whoever begins one waits for the end of this transaction, which comes after the engine's.
    for (const { agent, workflows } of lost.length > 0 ? await markQueued(own, schema, lost) : []) {
      const limit = AbortSignal.timeout(limitMs);
      await untilAborted(client.resumeWorkflows(workflows, { queueName: queueOf(agent) }), limit).catch((error) => {
        const late = "The engine did not queue the turns of a dead worker in time: the next look does.";
        throw limit.aborted ? new Error(late, { cause: error }) : error;
      });
    }
    if (!others) return;
    // On a busy machine this worker's own beat may be long ago by now.
    await own.query(`DELETE FROM ${schema}.agent_workers w WHERE NOT (${isAlive}) AND w.id <> $1`, [worker]);
    // Turns that the engine has ended, or does not know any more, and that have not ended for us.
    const { rows: ended } = await pool.query<{ id: string; turn: number; status: string | null }>(
      `SELECT r.id, r.turn, s.status
       FROM ${schema}.agent_runs r LEFT JOIN ${schema}.workflow_status s ON s.workflow_uuid = r.workflow
       WHERE r.status IN ('queued', 'running') AND coalesce(s.status, '') NOT IN ('ENQUEUED', 'DELAYED', 'PENDING')`,
    );
    for (const { id, turn, status } of ended) {
      const message = `The engine has ${status === null ? "lost the turn" : `ended the turn itself, as ${status}`}: send a message to go on.`;
      await runs.fail(id, turn, { name: "AgentError", code: "server", message });
    }
  });
}

/**
 * Returns the turns that the engine has given to workers without a lease, or to this one, which does not run them: the answer to what took
 * them was lost. Leaves out those that a worker which was paused in the middle of a transaction has locked, as to queue one of these would
 * hold up the rest.
 */
export async function lostTurns({ pool, schema }: Database, look: LookForTurns): Promise<readonly LostTurn[]> {
  const { rows } = await pool.query<LostTurn>(
    `SELECT r.id, r.turn, s.application_version AS version
     FROM ${schema}.agent_runs r JOIN ${schema}.workflow_status s ON s.workflow_uuid = r.workflow
     WHERE r.status IN ('queued', 'running') AND s.status = 'PENDING'
       AND (s.executor_id = $1 AND s.workflow_uuid <> ALL($2)
           AND coalesce(s.started_at_epoch_ms, 0) <= extract(epoch FROM clock_timestamp()) * 1000 - $3
         OR $4 AND s.executor_id <> $1 AND NOT EXISTS (SELECT FROM ${schema}.agent_workers w WHERE w.id = s.executor_id AND ${isAlive}))
     FOR NO KEY UPDATE OF s SKIP LOCKED`,
    [look.worker, look.running, look.strayMs, look.others],
  );
  return rows;
}

/** Marks turns as queued; returns their workflows by their agents. */
async function markQueued(
  client: PoolClient,
  schema: string,
  turns: readonly LostTurn[],
): Promise<readonly { readonly agent: string; readonly workflows: string[] }[]> {
  const { rows } = await client.query<{ agent: string; workflows: string[] }>(
    `WITH queued AS (
       UPDATE ${schema}.agent_runs r SET status = 'queued', worker = NULL, version = lost.version
       FROM unnest($1::text[], $2::int[], $3::text[]) lost (id, turn, version)
       WHERE r.id = lost.id AND r.turn = lost.turn AND r.status IN ('queued', 'running') RETURNING r.agent, r.workflow)
     SELECT agent, array_agg(workflow) AS workflows FROM queued GROUP BY agent`,
    [turns.map(({ id }) => id), turns.map(({ turn }) => turn), turns.map(({ version }) => version)],
  );
  return rows;
}
