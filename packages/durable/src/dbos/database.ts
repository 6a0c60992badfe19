import type { Client, ClientConfig, Pool, PoolClient, PoolConfig } from "pg";
import type { Engine } from "./loadEngine.ts";
import { markTransient } from "./retry.ts";

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

/** Opens connections to a database. */
export function openPool(engine: Engine, config: ConnectionConfig, more: PoolConfig): Pool {
  const pool = new engine.pg.Pool({ ...config, ...more, Client: markingClient(engine) });
  // A connection that breaks while nobody uses it. What uses one sees it by itself.
  pool.on("error", () => {});
  return pool;
}

type Call = (...args: unknown[]) => unknown;

/** Makes a class of connections whose transient errors are marked for the engine, which shares our pool. */
function markingClient({ pg }: Engine): typeof Client {
  const marking = (call: Call, args: unknown[]): unknown => {
    const callback = args.at(-1);
    if (typeof callback === "function")
      return call(...args.slice(0, -1), (error: unknown, ...rest: unknown[]) =>
        callback(markTransient(error), ...rest),
      );
    const result = call(...args);
    if (!(result instanceof Promise)) return result;
    return result.catch((error: unknown) => {
      throw markTransient(error);
    });
  };
  class MarkingClient extends pg.Client {
    constructor(config?: ClientConfig) {
      super(config);
      // One that breaks while it changes hands has no listener, which would end the process. Whoever uses it next sees it by itself.
      this.on("error", () => {});
    }
    override connect(...args: unknown[]): never {
      return marking(super.connect.bind(this) as Call, args) as never;
    }
    override query(...args: unknown[]): never {
      return marking(super.query.bind(this) as Call, args) as never;
    }
  }
  return MarkingClient;
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
