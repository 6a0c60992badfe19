import { hasPostgres } from "@toolcrib/testing";
import type { PoolClient } from "pg";
import { describe, expect, test } from "vitest";
import { shareServer } from "../../fixtures/runs.ts";
import { connectionConfig, type Database, databaseOf, openPool } from "./database.ts";
import { loadEngine } from "./loadEngine.ts";
import { isTransient } from "./retry.ts";

const shared = shareServer();

/** What a transaction throws whose connection breaks. */
async function thrownBy(work: (client: PoolClient, database: Database) => Promise<unknown>): Promise<unknown> {
  const { databaseUrl } = shared.server;
  const pool = openPool(await loadEngine(), connectionConfig(databaseUrl), { max: 2 });
  const database = databaseOf(pool, connectionConfig(databaseUrl), "public");
  try {
    return await database
      .transaction((client) => work(client, database))
      .then(
        () => undefined,
        (error: unknown) => error,
      );
  } finally {
    await pool.end();
  }
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
    const { databaseUrl } = shared.server;
    const pool = openPool(await loadEngine(), connectionConfig(databaseUrl), { max: 1, query_timeout: 50 });
    const { transaction } = databaseOf(pool, connectionConfig(databaseUrl), "public");
    const error = await transaction((client) => client.query("SELECT pg_sleep(60)")).catch((thrown: unknown) => thrown);
    expect(isTransient(error), String(error)).toBe(true);
    await pool.end();
  });

  test("while it changes hands, ends no process", async () => {
    const pool = openPool(await loadEngine(), connectionConfig(shared.server.databaseUrl), { max: 1 });
    const client = await pool.connect();
    expect(client.emit("error", new Error("terminating connection"))).toBe(true);
    client.release(true);
    await pool.end();
  });

  test("does not break those that follow", async () => {
    const { databaseUrl } = shared.server;
    const pool = openPool(await loadEngine(), connectionConfig(databaseUrl), { max: 1 });
    const { transaction } = databaseOf(pool, connectionConfig(databaseUrl), "public");
    await expect(transaction((client) => client.query("SELECT nothing"))).rejects.toThrow("nothing");
    expect((await transaction((client) => client.query("SELECT 1 AS one"))).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });
});
