import { setTimeout as sleep } from "node:timers/promises";
import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import type { PoolClient } from "pg";
import type { Database } from "./database.ts";
import { endedTurns, type LookForTurns, type LostTurn, lostTurns } from "./engineTables.ts";
import { isAlive } from "./lease.ts";
import { queueOf } from "./runRow.ts";
import type { RunTable } from "./runTable.ts";

/** Of the advisory lock of the one worker that looks for lost turns. */
const lockKey = 7_283_465_113;

export interface RecoveryOptions extends LookForTurns {
  readonly runs: RunTable;
  readonly client: DBOSClient;
  /** The engine tries again for as long as the database is away. That ends the look, not the engine's call. */
  readonly limitMs: number;
}

/**
 * Queues turns again that nobody runs, whatever their version: one worker at a time, so that none is queued again after another worker has
 * taken it. Whoever still runs one can record nothing more.
 */
export async function recoverTurns(database: Database, options: RecoveryOptions): Promise<void> {
  const { runs, others, worker } = options;
  const { pool, schema } = database;
  await database.transaction(async (client) => {
    // A worker that is closed waits for the others: it does not come back.
    const lock = others ? "pg_try_advisory_xact_lock($1)" : "pg_advisory_xact_lock($1) IS NOT NULL";
    const { rows } = await client.query<{ got: boolean }>(`SELECT ${lock} AS got`, [lockKey]);
    if (!rows[0]?.got) return;
    await queueAgain(client, database, await lostTurns(pool, database, options), options);
    if (!others) return;
    // On a busy machine this worker's own beat may be long ago by now.
    await client.query(`DELETE FROM ${schema}.agent_workers w WHERE NOT (${isAlive}) AND w.id <> $1`, [worker]);
    for (const { id, turn, status } of await endedTurns(pool, database)) {
      const message = `The engine has ${status === null ? "lost the turn" : `ended the turn itself, as ${status}`}: send a message to go on.`;
      await runs.fail(id, turn, { name: "AgentError", code: "server", message });
    }
  });
}

async function queueAgain(
  client: PoolClient,
  { schema }: Database,
  turns: readonly LostTurn[],
  options: RecoveryOptions,
): Promise<void> {
  if (turns.length === 0) return;
  // Whoever begins one waits for the end of this transaction, which comes after the engine's.
  const { rows } = await client.query<{ agent: string; workflows: string[] }>(
    `WITH queued AS (
       UPDATE ${schema}.agent_runs r SET status = 'queued', worker = NULL, version = lost.version
       FROM unnest($1::text[], $2::int[], $3::text[]) lost (id, turn, version)
       WHERE r.id = lost.id AND r.turn = lost.turn AND r.status IN ('queued', 'running') RETURNING r.agent, r.workflow)
     SELECT agent, array_agg(workflow) AS workflows FROM queued GROUP BY agent`,
    [turns.map(({ id }) => id), turns.map(({ turn }) => turn), turns.map(({ version }) => version)],
  );
  const limit = new AbortController();
  const late = sleep(options.limitMs, undefined, { signal: limit.signal }).then(() => {
    throw new Error("The engine did not queue the turns of a dead worker in time: the next look does.");
  });
  late.catch(() => {});
  try {
    for (const { agent, workflows } of rows)
      await Promise.race([options.client.resumeWorkflows(workflows, { queueName: queueOf(agent) }), late]);
  } finally {
    limit.abort();
  }
}
