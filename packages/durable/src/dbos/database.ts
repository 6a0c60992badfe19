import { messageOf } from "@toolcrib/core/text";
import type { Pool, PoolClient, PoolConfig, QueryResult } from "pg";
import type { Engine } from "./loadEngine.ts";
import { isTransient, markTransient, sameAgain, untilDatabaseIsBack } from "./retry.ts";

/** PostgreSQL, and the schema in it that holds the tables of the engine and ours. */
export interface Database {
  readonly pool: Pool;
  /** The settings of each connection. */
  readonly config: ConnectionConfig;
  /** The name of the schema. */
  readonly schemaName: string;
  /** The same, quoted for SQL. */
  readonly schema: string;
  /** Runs `work` in one transaction, which is taken back where it throws. */
  transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
}

/** The time for which a process that stops in the middle of a transaction holds its locks. */
const idleInTransactionMs = 10_000;

export type ConnectionConfig = PoolConfig & { readonly connectionString: string };

/** Returns how connections to the database at `url` are opened: with a limit that a pooler may refuse, or without. */
export function connectionConfig(url: string, isPooled = false): ConnectionConfig {
  return {
    connectionString: url,
    // A server that has gone without a word is noticed in the end.
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    application_name: "toolcrib",
    ...(!isPooled && { idle_in_transaction_session_timeout: idleInTransactionMs }),
  };
}

/** Pools in which a statement has failed by no fault of its own, and that have not been seen to work since. */
const doubtful = new WeakSet<Pool>();

/** Opens connections to a database. The engine, which shares them, is told of transient errors by a mark. */
export function openPool(engine: Engine, config: ConnectionConfig, more: PoolConfig): Pool {
  const pool = new engine.pg.Pool({ ...config, ...more });
  // A connection that breaks while nobody uses it, or while it changes hands, would end the process. What uses one sees it by itself.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => {});
    const query: (...args: unknown[]) => unknown = client.query.bind(client);
    const marking = (...args: unknown[]): unknown => {
      const result = query(...args);
      if (!(result instanceof Promise)) return result;
      return result.catch((error: unknown) => {
        if (isTransient(error)) doubtful.add(pool);
        throw markTransient(error);
      });
    };
    client.query = marking as typeof client.query;
  });
  return pool;
}

/**
 * Returns a view of the pool for the engine, which tries again by itself, but after waits that grow to a minute: here a connection comes as
 * soon as the database takes writes again. `onAway` is told once that it is away. The signal ends the waiting.
 */
export function patientPool(pool: Pool, signal: AbortSignal, onAway: (message: string) => void): Pool {
  let isTold = false;
  const connectOnce = async (): Promise<PoolClient> => {
    try {
      if (doubtful.has(pool)) await checkWritable(pool);
      const client = await pool.connect();
      isTold = false;
      return client;
    } catch (error) {
      if (!isTold) onAway(`The database cannot be used: ${messageOf(error)}`);
      isTold = true;
      doubtful.add(pool);
      throw error;
    }
  };
  const connect = (): Promise<PoolClient> => untilDatabaseIsBack(connectOnce, signal);
  const query = (text: string, values?: unknown[]): Promise<QueryResult> =>
    withClient({ connect }, (client) => client.query(text, values));
  return Object.assign(Object.create(pool), { connect, query });
}

/** Throws while the database takes no writes. */
async function checkWritable(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
  if (rows[0]?.transaction_read_only === "on") throw sameAgain;
  doubtful.delete(pool);
}

type Work<T> = (client: PoolClient) => Promise<T>;

export function databaseOf(pool: Pool, config: ConnectionConfig, schemaName: string): Database {
  const schema = `"${schemaName.replaceAll('"', '""')}"`;
  return { pool, config, schemaName, schema, transaction: <T>(work: Work<T>) => transaction(pool, work) };
}

async function transaction<T>(pool: Pool, work: Work<T>): Promise<T> {
  return await withClient(pool, async (client) => {
    try {
      await client.query("BEGIN");
      const result = await work(client);
      await client.query("COMMIT");
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch(() => {});
      throw error;
    }
  });
}

/** Runs `work` on one connection, which is closed where it throws. Throws why the connection broke, where it did. */
export async function withClient<T>(pool: { connect(): Promise<PoolClient> }, work: Work<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // Without a listener a connection that breaks now would end the process.
  const onError = (error: Error): void => {
    broken ??= error;
  };
  client.on("error", onError);
  let isClean = false;
  try {
    const result = await work(client);
    isClean = broken === undefined;
    return result;
  } catch (error) {
    throw broken ?? error;
  } finally {
    client.off("error", onError);
    client.release(!isClean);
  }
}
