import { setTimeout as sleep } from "node:timers/promises";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { hasPostgres } from "@toolcrib/testing";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shareServer } from "../../fixtures/runs.ts";
import { startWorker, type WorkerProcess } from "../../fixtures/workers.ts";
import type { Run } from "../run.ts";

const shared = shareServer();
const { openRuns, work } = shared;
let admin: pg.Client;

beforeAll(async () => {
  if (!hasPostgres) return;
  admin = new pg.Client({ connectionString: shared.server.databaseUrl });
  await admin.connect();
});
afterAll(async () => {
  await admin?.end();
});

describe.skipIf(!hasPostgres)("a database of durable runs", () => {
  test("is asked at most 10 transactions a second by four idle workers, and their turns are spread", async () => {
    const url = new URL(shared.server.databaseUrl);
    await admin.query("CREATE DATABASE quiet");
    url.pathname = "quiet";
    const options = { databaseUrl: url.href, leaseMs: 10_000 };
    const workers: WorkerProcess[] = [];
    try {
      for (let index = 0; index < 4; index += 1) workers.push(await startWorker({ ledger: "/dev/null", options }));
      const commits = async (): Promise<number> => {
        const { rows } = await admin.query(
          "SELECT xact_commit::int AS commits FROM pg_stat_database WHERE datname = 'quiet'",
        );
        return rows[0].commits;
      };
      // Counters are handed in once a second, and later where a process or the machine is busy: one of a few spans must be quiet.
      const seconds = 12;
      let fewest = Number.POSITIVE_INFINITY;
      for (let spans = 0; spans < 5 && fewest > 10 * seconds; spans += 1) {
        const before = await commits();
        await sleep(seconds * 1_000);
        fewest = Math.min(fewest, (await commits()) - before);
      }
      expect(fewest).toBeLessThanOrEqual(10 * seconds);
      const client = await openRuns({ databaseUrl: url.href, schema: "toolcrib" });
      const message = JSON.stringify({ calls: 1, ms: 2_000 });
      const ids = await Promise.all(Array.from({ length: 16 }, () => client.start("plan", message)));
      for (const id of ids) await client.result(id);
      const each = new pg.Client({ connectionString: url.href });
      await each.connect();
      const took = "SELECT DISTINCT executor_id FROM toolcrib.workflow_status";
      const { rowCount } = await each.query(took);
      await each.end();
      expect(rowCount).toBe(4);
    } finally {
      for (const worker of workers) worker.kill("SIGKILL");
      for (const worker of workers) await worker.ended;
    }
  });

  test("is listed page by page, also while runs are removed and added", async () => {
    const runs = await openRuns();
    for (let index = 0; index < 7; index += 1) {
      await runs.start("helper", "Hello.", { id: `r${index}` });
      // Runs of one millisecond are listed by their ids.
      await sleep(2);
    }
    const seen: string[] = [];
    let after: Run | undefined;
    for (;;) {
      const page = await runs.list({ limit: 3, after });
      seen.push(...page.map(({ id }) => id));
      after = page.at(-1);
      if (after === undefined) break;
      await runs.cancel(after.id);
      await runs.remove(after.id);
      await runs.start("helper", "Hello.");
    }
    expect(seen).toEqual(["r6", "r5", "r4", "r3", "r2", "r1", "r0"]);
    for (const wrong of [{}, "r1", { id: "r1", createdAt: "yesterday" }])
      await expect(runs.list({ after: wrong as never })).rejects.toMatchObject({ code: "invalid_option" });
  });

  test("loses the runs that ended longer ago than its retention, and no others", async () => {
    const provider = new ScriptedProvider(["One.", "Two."]);
    const schema = "retention";
    const client = await openRuns({ schema });
    for (const id of ["old", "new"]) await client.start("helper", "Hello.", { id });
    const first = await work({ provider }, { schema });
    for (const id of ["old", "new"]) await first.result(id);
    await first.close();
    await client.start("other", "Hello.", { id: "queued" });
    await admin.query("UPDATE retention.agent_runs SET updated_at = now() - interval '31 days' WHERE id <> 'new'");
    await work({ provider }, { schema, retention: { days: 30 } });
    await expect.poll(async () => (await client.list()).map(({ id }) => id)).toEqual(["queued", "new"]);
    const left = "SELECT workflow_uuid FROM retention.workflow_status ORDER BY 1";
    expect((await admin.query(left)).rows.map((row) => row.workflow_uuid)).toEqual(["new", "queued"]);
    await expect(openRuns({ retention: { days: 0 } })).rejects.toMatchObject({ code: "invalid_option" });
  });

  test("gets its tables once, and is left alone by an older version", async () => {
    const schema = "versions";
    const runs = await openRuns({ schema });
    const id = await runs.start("helper", "Hello.");
    const both = await Promise.all([openRuns({ schema }), openRuns({ schema })]);
    for (const each of both) expect(await each.get(id)).toMatchObject({ status: "queued" });
    expect((await admin.query("SELECT version FROM versions.agent_version")).rows).toEqual([{ version: 1 }]);
    await admin.query("UPDATE versions.agent_version SET version = 99");
    await expect(openRuns({ schema })).rejects.toMatchObject({
      code: "invalid_option",
      message: expect.stringContaining("newer @toolcrib/durable"),
    });
  });
});
