import { setTimeout as sleep } from "node:timers/promises";
import { type Database, withClient } from "./database.ts";
import type { Engine } from "./loadEngine.ts";

/** Of the advisory lock under which tables are made: the same number in every process. */
const lockKey = 7_283_465_112;

/** How often the lock is asked for: who waits for it in a statement would hold up the indexes that are made under it. */
const pollingMs = 100;

/** Makes the tables of the engine and ours where they are missing. Any number of processes may do so at once. */
export async function createTables(engine: Engine, { pool, url, schemaName, schema }: Database): Promise<void> {
  const isMissing = async (table: string): Promise<boolean> => {
    const { rows } = await pool.query<{ at: string | null }>("SELECT to_regclass($1) AS at", [`${schema}.${table}`]);
    return rows[0]?.at === null;
  };
  if (!(await isMissing("agent_runs"))) return;
  await withClient(pool, async (client) => {
    const tryLock = "SELECT pg_try_advisory_lock($1) AS got";
    while (!(await client.query<{ got: boolean }>(tryLock, [lockKey])).rows[0]?.got) await sleep(pollingMs);
    if (await isMissing("agent_runs")) {
      await engine.createTables(url, pool, schemaName);
      await client.query(tables(schema));
    }
    // Where this throws, the lock ends with the connection.
    await client.query("SELECT pg_advisory_unlock($1)", [lockKey]);
  });
}

/** Text holds JSON: a column of the type json would refuse some of what a model may write. */
function tables(schema: string): string {
  return `
    BEGIN;
    CREATE TABLE ${schema}.agent_runs (
      id text PRIMARY KEY,
      agent text NOT NULL,
      tenant text,
      labels text NOT NULL,
      priority integer NOT NULL,
      -- The present turn, and the workflow of the engine that runs it.
      turn integer NOT NULL,
      workflow text NOT NULL UNIQUE,
      -- active: the engine knows whether it is queued or running.
      status text NOT NULL CHECK (status IN ('active', 'waiting', 'done', 'failed', 'cancelled')),
      -- What the turn began with, and how the last one ended.
      input text NOT NULL,
      session text,
      outcome text,
      trace text,
      -- The last message that the run has read.
      read_seq bigint NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX agent_runs_created ON ${schema}.agent_runs (created_at DESC);
    CREATE TABLE ${schema}.agent_messages (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      run text NOT NULL REFERENCES ${schema}.agent_runs (id) ON DELETE CASCADE,
      content text NOT NULL
    );
    CREATE INDEX agent_messages_run ON ${schema}.agent_messages (run, seq);
    CREATE TABLE ${schema}.agent_workers (
      id text PRIMARY KEY,
      version text NOT NULL,
      agents text[] NOT NULL,
      lease_ms integer NOT NULL,
      beat_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE TABLE ${schema}.agent_requests (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      provider text NOT NULL,
      worker text NOT NULL,
      started_at timestamptz NOT NULL DEFAULT now(),
      ended_at timestamptz
    );
    CREATE INDEX agent_requests_provider ON ${schema}.agent_requests (provider, started_at);
    COMMIT;
  `;
}
