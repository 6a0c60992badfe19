import { ScriptedProvider } from "@toolcrib/agent/testing";
import { hasPostgres, startPostgres } from "@toolcrib/testing";
import pg from "pg";
import { expect, test } from "vitest";
import { durable } from "./durable.ts";

test.skipIf(!hasPostgres)(
  "a worker gives its signs of life while its runs wait with all of their connections",
  async () => {
    const server = await startPostgres();
    if (!server) throw new Error("no server");
    const { databaseUrl } = server;
    const answering = Promise.withResolvers<string>();
    const agents = { hold: () => ({ provider: new ScriptedProvider([() => answering.promise]) }) };
    const runs = await durable({ databaseUrl, agents, connections: 2, leaseMs: 600 });
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      await runs.work();
      const ids = await Promise.all([1, 2, 3].map(() => runs.start("hold", "Wait.")));
      await expect.poll(async () => (await runs.list({ status: "running" })).length).toBe(3);
      await client.query("BEGIN");
      await client.query("LOCK TABLE toolcrib.operation_outputs IN ACCESS EXCLUSIVE MODE");
      answering.resolve("done");
      const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
      await expect.poll(async () => (await client.query(waiting)).rows[0].count).toBe(2);
      const newest = "SELECT extract(epoch FROM max(beat_at))::float AS at FROM toolcrib.agent_workers";
      const beat = async (): Promise<number> => (await client.query(newest)).rows[0].at;
      const before = await beat();
      await expect.poll(beat).toBeGreaterThan(before + 1);
      await client.query("COMMIT");
      for (const id of ids) expect(await runs.result(id)).toBe("done");
      expect((await runs.list()).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
    } finally {
      await client.end();
      await runs.close();
      await server.stop();
    }
  },
);
