import { hasPostgres } from "@toolcrib/testing/postgres";
import type { PoolClient } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { server, thrown } from "../../fixtures/runs.ts";
import { connectionConfig, type Database, databaseOf, openPool } from "./database.ts";
import { loadEngine } from "./loadEngine.ts";
import { isTransient } from "./retry.ts";

/** Opens a database for a test; returns its transactions and its pool. */
async function openDatabase(settings: { max: number; query_timeout?: number } = { max: 1 }): Promise<Database> {
  const config = connectionConfig(server().databaseUrl);
  const pool = openPool(await loadEngine(), config, settings);
  onTestFinished(() => pool.end());
  return databaseOf(pool, config, "public");
}

/** Returns the error of a transaction whose connection breaks. */
async function thrownBy(work: (client: PoolClient, database: Database) => Promise<unknown>): Promise<unknown> {
  const database = await openDatabase({ max: 2 });
  return thrown(database.transaction((client) => work(client, database)));
}

const broken = (client: PoolClient): Promise<unknown> => new Promise((resolve) => client.once("error", resolve));

describe.skipIf(!hasPostgres)("a connection that breaks in a transaction", () => {
  test("while it runs a statement, is a database that is away", async () => {
    const error = await thrownBy((client) => client.query("SELECT pg_terminate_backend(pg_backend_pid())"));
    expect(isTransient(error), String(error)).toBe(true);
  });

  test("between two statements, is a database that is away", async () => {
    const error = await thrownBy(async (client, { pool }) => {
      const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
      const noticed = broken(client);
      await pool.query("SELECT pg_terminate_backend($1)", [rows[0].pid]);
      await noticed;
      await client.query("SELECT 1");
    });
    expect(error).toMatchObject({ code: "57P01" });
    expect(isTransient(error)).toBe(true);
  });

  test("because the process was paused in between, is a database that is away", async () => {
    const error = await thrownBy(async (client) => {
      const noticed = broken(client);
      await client.query("SET LOCAL idle_in_transaction_session_timeout = 20");
      await noticed;
      await client.query("SELECT 1");
    });
    expect(error).toMatchObject({ code: "25P03" });
    expect(isTransient(error)).toBe(true);
  });

  test("because the server does not answer in time, is a database that is away", async () => {
    const { transaction } = await openDatabase({ max: 1, query_timeout: 50 });
    // The server sleeps on, and a new index of any test waits for it.
    const error = await thrown(transaction((client) => client.query("SELECT pg_sleep(2)")));
    expect(isTransient(error), String(error)).toBe(true);
  });

  test("while it changes hands, ends no process", async () => {
    const { pool } = await openDatabase();
    const client = await pool.connect();
    expect(client.emit("error", new Error("terminating connection"))).toBe(true);
    client.release(true);
  });

  test("does not break those that follow", async () => {
    const { transaction } = await openDatabase();
    await expect(transaction((client) => client.query("SELECT nothing"))).rejects.toThrow("nothing");
    expect((await transaction((client) => client.query("SELECT 1 AS one"))).rows).toEqual([{ one: 1 }]);
  });
});
