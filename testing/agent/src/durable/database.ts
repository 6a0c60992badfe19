import pg from "pg";
import type { StepRecord } from "./check.ts";

/** Questions to a database, until `end()`. */
export class Database {
  readonly #pool: pg.Pool;

  constructor(url: string) {
    this.#pool = new pg.Pool({ connectionString: url, max: 2 });
    // The server may be stopped before its last connection.
    this.#pool.on("error", () => undefined);
  }

  async query<T>(sql: string): Promise<readonly T[]> {
    const { rows } = await this.#pool.query(sql);
    return rows as T[];
  }

  /** Reads the engine's records of the steps of all runs. A run's later turns have ids `RUN::2` and so on. */
  stepRecords(): Promise<readonly StepRecord[]> {
    return this.query(
      `select split_part(workflow_uuid, '::', 1) as job, function_name as step, output like '%may have run%' as unknown
       from toolcrib.operation_outputs where function_name similar to '(reply|call|start|compact):%'`,
    );
  }

  /** Counts the runs of each status. */
  async runCounts(): Promise<Readonly<Record<string, number>>> {
    const sql = "select status, count(*)::int as count from toolcrib.agent_runs group by status";
    const rows = await this.query<{ status: string; count: number }>(sql);
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }
}
