import type { Database } from "./database.ts";

/** Counts of a database's work. */
export interface DatabaseFigures {
  readonly commits: number;
  /** Statements by their first word, without those of this file. */
  readonly statements: Readonly<Record<string, number>>;
  /** Rows inserted, updated and deleted, by table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly walBytes: number;
  readonly walFlushes: number;
  /** By how much it has grown. */
  readonly bytes: number;
  readonly connections: number;
}

interface Counters {
  readonly commits: number;
  readonly walBytes: number;
  readonly walFlushes: number;
  readonly bytes: number;
}

/**
 * Begins to count. The function that it resolves to reads the counters: of the whole server, so it must serve nobody else, and it
 * must have been started with `pg_stat_statements` loaded.
 */
export async function countWork(database: Database): Promise<() => Promise<DatabaseFigures>> {
  await database.query("create extension if not exists pg_stat_statements");
  const rowsBefore = await changedRows(database);
  const before = await counters(database);
  await database.query("select pg_stat_statements_reset()");
  return async () => {
    const after = await counters(database);
    const rowsAfter = await changedRows(database);
    const changed = Object.entries(rowsAfter).map(([table, rows]) => [table, rows - (rowsBefore[table] ?? 0)] as const);
    const statements = await database.query<{ word: string; calls: number }>(
      `select lower((regexp_match(query, '[A-Za-z]+'))[1]) as word, sum(calls)::int as calls from pg_stat_statements
       where dbid = (select oid from pg_database where datname = current_database()) and query not like '%pg_stat%' group by 1`,
    );
    const [row] = await database.query<{ connections: number }>(
      "select count(*)::int as connections from pg_stat_activity where datname = current_database()",
    );
    return {
      commits: after.commits - before.commits,
      statements: Object.fromEntries(statements.map(({ word, calls }) => [word, calls])),
      rows: Object.fromEntries(changed.filter(([, rows]) => rows > 0)),
      walBytes: after.walBytes - before.walBytes,
      walFlushes: after.walFlushes - before.walFlushes,
      bytes: after.bytes - before.bytes,
      connections: row?.connections ?? 0,
    };
  };
}

async function counters(database: Database): Promise<Counters> {
  const [row] = await database.query<Record<keyof Counters, string>>(
    `select (select xact_commit from pg_stat_database where datname = current_database()) as commits,
     wal_bytes as "walBytes", wal_sync as "walFlushes", pg_database_size(current_database()) as bytes from pg_stat_wal`,
  );
  if (!row) throw new Error("The database has no counters.");
  const { commits, walBytes, walFlushes, bytes } = row;
  return { commits: Number(commits), walBytes: Number(walBytes), walFlushes: Number(walFlushes), bytes: Number(bytes) };
}

async function changedRows(database: Database): Promise<Readonly<Record<string, number>>> {
  const rows = await database.query<{ relname: string; changed: number }>(
    "select relname, (n_tup_ins + n_tup_upd + n_tup_del)::int as changed from pg_stat_user_tables",
  );
  return Object.fromEntries(rows.map(({ relname, changed }) => [relname, changed]));
}

/** Watches connections by samples: each state's mean number of connections. */
export class ConnectionSamples {
  readonly #database: Database;
  readonly #totals = new Map<string, number>();
  #samples = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  async take(): Promise<void> {
    const rows = await this.#database.query<{ state: string; count: number }>(
      `select case when state <> 'active' then state when wait_event_type is null then 'running'
       when wait_event_type = 'Client' then 'idle' else 'waiting for ' || wait_event end as state, count(*)::int as count
       from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() group by 1`,
    );
    this.#samples += 1;
    for (const { state, count } of rows) this.#totals.set(state, (this.#totals.get(state) ?? 0) + count);
  }

  means(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#totals].map(([state, total]) => [state, total / this.#samples]));
  }
}
