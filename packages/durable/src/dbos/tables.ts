import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Worker as Thread } from "node:worker_threads";
import type { AgentError } from "@toolcrib/agent";
import type { PoolClient } from "pg";
import { invalid } from "../checkInput.ts";
import { type Database, withClient } from "./database.ts";
import { enginePath } from "./loadEngine.ts";

/** The version of our tables. */
const version = 2;

/** Of the advisory lock under which tables are made: the same number in every process. */
const lockKey = 7_283_465_112;

/** The interval at which the lock is asked for. */
const pollingMs = 100;

/** Makes the tables of the engine and ours where there are none. Any number of processes may do so at once. */
export async function createTables(database: Database): Promise<void> {
  const { pool, config, schemaName, schema } = database;
  if ((await versionOf(pool, database)) === version) return;
  await withClient(pool, async (client) => {
    while (!(await tryLock(client))) await sleep(pollingMs);
    const there = await versionOf(client, database);
    if (there !== 0 && there !== version) throw otherVersion(schemaName, there);
    if (there === 0) {
      await createEngineTables(config.connectionString, schemaName);
      await client.query(ownTables(schema));
    }
    await client.query("COMMIT");
  });
}

/** Makes the tables of the engine, in a thread: the engine's call prints, and what a thread prints can be kept. */
async function createEngineTables(url: string, schemaName: string): Promise<void> {
  // Runs as either kind of module: the thread has the flags of the process.
  const code = `import("node:worker_threads").then(async ({ workerData: { sdk, url, schemaName } }) => {
      await (await import(sdk)).default.DBOS.migrate(url, { schemaName });
      process.exit();
    });`;
  const workerData = { sdk: pathToFileURL(enginePath()).href, url, schemaName };
  const thread = new Thread(code, { eval: true, stdout: true, stderr: true, workerData });
  const [exitCode] = await once(thread, "exit");
  if (exitCode !== 0) throw new Error(`The thread that makes the tables ended with ${exitCode}.`);
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

function otherVersion(schemaName: string, there: number): AgentError {
  const [age, advice] =
    there > version
      ? ["a newer", "install that version, or name another schema."]
      : ["an older", `let it end its runs, then name another schema, or run: DROP SCHEMA "${schemaName}" CASCADE`];
  return invalid(
    `The tables in the schema ${schemaName} are those of ${age} @toolcrib/durable (version ${there} of the tables, this one has ${version}): ${advice}`,
  );
}

/** Returns the statements that make our tables. Text holds JSON: a column of the type json would refuse some of what a model may write. */
function ownTables(schema: string): string {
  return `
    CREATE TABLE ${schema}.agent_version (version integer NOT NULL);
    INSERT INTO ${schema}.agent_version VALUES (${version});
    CREATE TABLE ${schema}.agent_runs (
      id text PRIMARY KEY,
      agent text NOT NULL,
      tenant text,
      labels text NOT NULL,
      priority integer NOT NULL,
      -- The present turn, and the workflow of the engine that runs it.
      turn integer NOT NULL,
      workflow text NOT NULL UNIQUE,
      status text NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'done', 'failed', 'cancelled')),
      -- The workers that have begun the present turn, the last of them, and its version.
      attempts integer NOT NULL DEFAULT 0,
      worker text,
      version text,
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
    CREATE INDEX agent_runs_open ON ${schema}.agent_runs (worker) WHERE status IN ('queued', 'running');
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
      started_at timestamptz,
      ended_at timestamptz,
      asked_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX agent_requests_provider ON ${schema}.agent_requests (provider, started_at);
  `;
}
