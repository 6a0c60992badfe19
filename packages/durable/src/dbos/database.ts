import type { Pool, PoolClient, PoolConfig } from "pg";
import type { Engine } from "./loadEngine.ts";

/** PostgreSQL, and the schema in it that holds the tables of the engine and ours. */
export interface Database {
  readonly pool: Pool;
  readonly url: string;
  /** The name of the schema. */
  readonly schemaName: string;
  /** The same, quoted for SQL. */
  readonly schema: string;
  /** Runs `work` in one transaction, which is taken back where it throws. */
  transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
}

/** How long a process that stops in the middle of a transaction holds what it has locked. */
const idleInTransactionMs = 10_000;

/** Connections to the database at `url`. */
export function openPool(engine: Engine, url: string, config: Pick<PoolConfig, "max" | "query_timeout">): Pool {
  const pool = new engine.pg.Pool({
    connectionString: url,
    ...config,
    // A server that has gone without a word is noticed in the end.
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    application_name: "toolcrib",
  });
  // A connection that breaks while nobody uses it. What uses one sees it by itself.
  pool.on("error", () => {});
  return pool;
}

type Work<T> = (client: PoolClient) => Promise<T>;

export function databaseOf(pool: Pool, url: string, schemaName: string): Database {
  const schema = `"${schemaName.replaceAll('"', '""')}"`;
  return { pool, url, schemaName, schema, transaction: <T>(work: Work<T>) => transaction(pool, work) };
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
export async function withClient<T>(pool: Pool, work: Work<T>): Promise<T> {
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
