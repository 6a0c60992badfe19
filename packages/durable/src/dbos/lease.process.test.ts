import { ScriptedProvider } from "@toolcrib/agent/testing";
import { hasPostgres } from "@toolcrib/testing/postgres";
import { expect, test } from "vitest";
import { newSchema, openAdmin, shareServer } from "../../fixtures/runs.ts";

const { openRuns } = shareServer();

test.skipIf(!hasPostgres)(
  "a worker gives its signs of life while its runs wait with all of their connections",
  async () => {
    const answering = Promise.withResolvers<string>();
    const agents = { hold: () => ({ provider: new ScriptedProvider([() => answering.promise]) }) };
    const schema = newSchema();
    const runs = await openRuns({ agents, schema, connections: 2, leaseMs: 600 });
    const admin = await openAdmin();
    await runs.work();
    const ids = await Promise.all([1, 2, 3].map(() => runs.start("hold", "Wait.")));
    await expect.poll(async () => (await runs.list({ status: "running" })).length).toBe(3);
    await admin.query("BEGIN");
    await admin.query(`LOCK TABLE ${schema}.operation_outputs IN ACCESS EXCLUSIVE MODE`);
    answering.resolve("done");
    const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
    await expect.poll(async () => (await admin.query(waiting)).rows[0].count).toBe(2);
    const newest = `SELECT extract(epoch FROM max(beat_at))::float AS at FROM ${schema}.agent_workers`;
    const beat = async (): Promise<number> => (await admin.query(newest)).rows[0].at;
    const before = await beat();
    await expect.poll(beat).toBeGreaterThan(before + 1);
    await admin.query("COMMIT");
    for (const id of ids) expect(await runs.result(id)).toBe("done");
    expect((await runs.list()).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
  },
);
