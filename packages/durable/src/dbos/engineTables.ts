import { pathToFileURL } from "node:url";
import { Worker as Thread } from "node:worker_threads";
import type { Pool } from "pg";
import type { Database } from "./database.ts";
import { isAlive } from "./lease.ts";
import { enginePath } from "./loadEngine.ts";

// The one file that names tables of the engine. It reads them, and nothing else: all changes go through the engine's own calls.

/** A turn of a run of ours that nobody runs. */
export interface LostTurn {
  readonly id: string;
  readonly turn: number;
  /** The version that began it. */
  readonly version: string | null;
}

/** A turn that the engine has ended without us. */
export interface EndedTurn {
  readonly id: string;
  readonly turn: number;
  /** Null if the engine has lost it. */
  readonly status: string | null;
}

export interface LookForTurns {
  readonly worker: string;
  /** The workflows that this worker runs. */
  readonly running: readonly string[];
  /** A turn that this worker was given so long ago and does not run is lost. */
  readonly strayMs: number;
  /** Looks for turns of workers without a lease too. */
  readonly others: boolean;
}

/**
 * Returns the turns that the engine has given to workers without a lease, or to this one, which does not run them: the answer to what took
 * them was lost. Leaves out those that a worker which was paused in the middle of a transaction has locked, as to queue one of these would
 * hold up the rest.
 */
export async function lostTurns(pool: Pool, { schema }: Database, look: LookForTurns): Promise<readonly LostTurn[]> {
  const { worker, running, strayMs, others } = look;
  const { rows } = await pool.query<LostTurn>(
    `SELECT r.id, r.turn, s.application_version AS version
     FROM ${schema}.agent_runs r JOIN ${schema}.workflow_status s ON s.workflow_uuid = r.workflow
     WHERE r.status IN ('queued', 'running') AND s.status = 'PENDING'
       AND (s.executor_id = $1 AND s.workflow_uuid <> ALL($2)
           AND coalesce(s.started_at_epoch_ms, 0) <= extract(epoch FROM clock_timestamp()) * 1000 - $3
         OR $4 AND s.executor_id <> $1 AND NOT EXISTS (SELECT FROM ${schema}.agent_workers w WHERE w.id = s.executor_id AND ${isAlive}))
     FOR NO KEY UPDATE OF s SKIP LOCKED`,
    [worker, running, strayMs, others],
  );
  return rows;
}

/** Returns the turns that the engine has ended, or does not know any more, and that have not ended for us. */
export async function endedTurns(pool: Pool, { schema }: Database): Promise<readonly EndedTurn[]> {
  const { rows } = await pool.query<EndedTurn>(
    `SELECT r.id, r.turn, s.status
     FROM ${schema}.agent_runs r LEFT JOIN ${schema}.workflow_status s ON s.workflow_uuid = r.workflow
     WHERE r.status IN ('queued', 'running') AND coalesce(s.status, '') NOT IN ('ENQUEUED', 'DELAYED', 'PENDING')`,
  );
  return rows;
}

/** Returns the statement that moves runs of the first version of our tables on, which knew from the engine alone whether a run was queued. */
export function takeOverStatus(schema: string): string {
  return `
    UPDATE ${schema}.agent_runs r SET attempts = s.recovery_attempts, version = s.application_version,
      status = CASE s.status WHEN 'ENQUEUED' THEN 'queued' WHEN 'CANCELLED' THEN 'cancelled' ELSE 'running' END
    FROM ${schema}.workflow_status s WHERE s.workflow_uuid = r.workflow AND r.status = 'active';
  `;
}

/** Makes the tables of the engine, in a thread: the engine's call prints, and what a thread prints can be kept. */
export async function createEngineTables(url: string, schemaName: string): Promise<void> {
  // Runs as either kind of module: the thread has the flags of the process.
  const code = `import("node:worker_threads").then(async ({ parentPort, workerData }) => {
      try {
        const { default: sdk } = await import(workerData.sdk);
        await sdk.DBOS.migrate(workerData.url, { schemaName: workerData.schemaName });
        parentPort.postMessage(null);
      } catch ({ message, code }) {
        parentPort.postMessage({ message, code });
      }
    });`;
  const workerData = { sdk: pathToFileURL(enginePath()).href, url, schemaName };
  const thread = new Thread(code, { eval: true, stdout: true, stderr: true, workerData });
  try {
    const failure = await new Promise<{ message: string; code?: string } | null>((resolve, reject) => {
      thread.once("message", resolve).once("error", reject);
      thread.once("exit", (exitCode) => reject(new Error(`The thread that makes the tables ended with ${exitCode}.`)));
    });
    if (failure !== null) throw Object.assign(new Error(failure.message), { code: failure.code });
  } finally {
    await thread.terminate();
  }
}
