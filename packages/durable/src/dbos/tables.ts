import { setTimeout as sleep } from "node:timers/promises";
import type { AgentError } from "@toolcrib/agent";
import type { PoolClient } from "pg";
import { invalid } from "../checkInput.ts";
import { type Database, withClient } from "./database.ts";
import { createEngineTables, takeOverStatus } from "./engineTables.ts";
import { isAlive } from "./lease.ts";

/** Of the advisory lock under which tables are made: the same number in every process. */
const lockKey = 7_283_465_112;

/** The interval at which the lock is asked for. */
const pollingMs = 100;

/** Makes the tables of the engine and ours, or brings them to this version. Any number of processes may do so at once. */
export async function createTables(database: Database): Promise<void> {
  const { pool, config, schemaName, schema } = database;
  if ((await versionOf(pool, database)) === versions.length) return;
  await withClient(pool, async (client) => {
    while (!(await tryLock(client))) await sleep(pollingMs);
    const version = await versionOf(client, database);
    if (version > versions.length) throw newer(schemaName, version);
    if (version < versions.length) {
      if (version === 0) await createEngineTables(config.connectionString, schemaName);
      else await checkNoneWorks(client, database);
      // If one of them throws, none is made.
      for (const change of versions.slice(version)) await client.query(change(schema));
      const set = `DELETE FROM ${schema}.agent_version; INSERT INTO ${schema}.agent_version VALUES (${versions.length})`;
      await client.query(set);
    }
    await client.query("COMMIT");
  });
}

/**
 * Begins a transaction with the lock: one of the connection would be lost behind a pooler, which lends connections to others. Where somebody has
 * it, no transaction stays open, since the indexes that are made under it wait for the end of all.
 */
async function tryLock(client: PoolClient): Promise<boolean> {
  await client.query("BEGIN");
  await client.query("SET LOCAL idle_in_transaction_session_timeout = 0");
  const { rows } = await client.query<{ got: boolean }>(`SELECT pg_try_advisory_xact_lock(${lockKey}) AS got`);
  if (rows[0]?.got) return true;
  await client.query("ROLLBACK");
  return false;
}

/** Returns the version of our tables: 0 if there are none. */
async function versionOf(client: Pick<PoolClient, "query">, { schemaName, schema }: Database): Promise<number> {
  // Read as rows: names that are looked up may be those of before another process made them. And without a parameter: what has one keeps its
  // snapshot in a transaction, and indexes that are made meanwhile wait for that.
  const { rows: tables } = await client.query(
    `SELECT tablename FROM pg_tables WHERE schemaname = '${schemaName}' AND tablename = 'agent_version'`,
  );
  if (tables.length === 0) return 0;
  const { rows } = await client.query<{ version: number }>(`SELECT version FROM ${schema}.agent_version`);
  return rows[0]?.version ?? 0;
}

/** Throws while a worker of an older version works: it would take the runs of a newer one for ended. */
async function checkNoneWorks(client: PoolClient, { schemaName, schema }: Database): Promise<void> {
  const { rowCount } = await client.query(`SELECT FROM ${schema}.agent_workers w WHERE ${isAlive} LIMIT 1`);
  if (rowCount === 0) return;
  throw invalid(
    `Workers of an older @toolcrib/durable still use the schema ${schemaName}: close them all, then start this version again, which brings the tables up to date.`,
  );
}

function newer(schemaName: string, version: number): AgentError {
  return invalid(
    `The tables in the schema ${schemaName} are those of a newer @toolcrib/durable (version ${version} of the tables, this one has ${versions.length}): ` +
      "install that version, or name another schema.",
  );
}

/** Changes that bring the tables from each version to the next. A released one is not edited any more. */
const versions: readonly ((schema: string) => string)[] = [firstTables, ownStatus];

/** Makes the first tables. Text holds JSON: a column of the type json would refuse some of what a model may write. */
function firstTables(schema: string): string {
  return `
    CREATE TABLE ${schema}.agent_version (version integer NOT NULL);
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
      -- As exact as a Date is, so that a run that was listed finds its place again.
      created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX agent_runs_ended ON ${schema}.agent_runs (updated_at) WHERE status IN ('done', 'failed', 'cancelled');
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
      -- Without a time the request waits.
      started_at timestamptz DEFAULT now(),
      ended_at timestamptz
    );
    CREATE INDEX agent_requests_provider ON ${schema}.agent_requests (provider, started_at);
  `;
}

/** Keeps in our own tables what the first version asked the engine for, and lets requests wait without an order of beginning. */
function ownStatus(schema: string): string {
  return `
    ALTER TABLE ${schema}.agent_runs DROP CONSTRAINT agent_runs_status_check,
      -- The workers that have begun the present turn, the last of them, and its version.
      ADD COLUMN attempts integer NOT NULL DEFAULT 0, ADD COLUMN worker text, ADD COLUMN version text;
    ${takeOverStatus(schema)}
    UPDATE ${schema}.agent_runs SET status = 'running' WHERE status = 'active';
    ALTER TABLE ${schema}.agent_runs ADD CONSTRAINT agent_runs_status_check
      CHECK (status IN ('queued', 'running', 'waiting', 'done', 'failed', 'cancelled'));
    CREATE INDEX agent_runs_open ON ${schema}.agent_runs (worker) WHERE status IN ('queued', 'running');
    DELETE FROM ${schema}.agent_requests;
    ALTER TABLE ${schema}.agent_requests ALTER COLUMN started_at DROP DEFAULT,
      ADD COLUMN asked_at timestamptz NOT NULL DEFAULT clock_timestamp();
  `;
}
