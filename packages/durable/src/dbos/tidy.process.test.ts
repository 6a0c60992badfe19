import { setTimeout as sleep } from "node:timers/promises";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { hasPostgres } from "@toolcrib/testing/postgres";
import { describe, expect, test } from "vitest";
import { newSchema, openAdmin, shareServer } from "../../fixtures/runs.ts";
import type { Run } from "../run.ts";

const { openRuns, work } = shareServer();

describe.skipIf(!hasPostgres)("a database of durable runs", () => {
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
  });

  test("loses the runs that ended longer ago than its retention, and no others", async () => {
    const provider = new ScriptedProvider(["One.", "Two."]);
    const [schema, admin] = [newSchema(), await openAdmin()];
    const client = await openRuns({ schema });
    for (const id of ["old", "new"]) await client.start("helper", "Hello.", { id });
    const first = await work({ provider }, { schema });
    for (const id of ["old", "new"]) await first.result(id);
    await first.close();
    await client.start("other", "Hello.", { id: "queued" });
    await admin.query(`UPDATE ${schema}.agent_runs SET updated_at = now() - interval '31 days' WHERE id <> 'new'`);
    await work({ provider }, { schema, retention: { days: 30 } });
    await expect.poll(async () => (await client.list()).map(({ id }) => id)).toEqual(["queued", "new"]);
    const left = `SELECT workflow_uuid FROM ${schema}.workflow_status ORDER BY 1`;
    expect((await admin.query(left)).rows.map((row) => row.workflow_uuid)).toEqual(["new", "queued"]);
  });

  test("gets its tables once, and is left alone by an older version", async () => {
    const [schema, admin] = [newSchema(), await openAdmin()];
    const runs = await openRuns({ schema });
    const id = await runs.start("helper", "Hello.");
    const both = await Promise.all([openRuns({ schema }), openRuns({ schema })]);
    for (const each of both) expect(await each.get(id)).toMatchObject({ status: "queued" });
    expect((await admin.query(`SELECT version FROM ${schema}.agent_version`)).rows).toEqual([{ version: 2 }]);
    await admin.query(`UPDATE ${schema}.agent_version SET version = 99`);
    await expect(openRuns({ schema })).rejects.toMatchObject({
      code: "invalid_option",
      message: expect.stringContaining("newer @toolcrib/durable"),
    });
  });

  test("of an older version is refused with what to run", async () => {
    const [schema, admin] = [newSchema(), await openAdmin()];
    await openRuns({ schema });
    await admin.query(`UPDATE ${schema}.agent_version SET version = 1`);
    await expect(openRuns({ schema })).rejects.toMatchObject({
      code: "invalid_option",
      message: expect.stringMatching(/an older @toolcrib\/durable .* or run: DROP SCHEMA ".+" CASCADE$/),
    });
    await admin.query(`DROP SCHEMA ${schema} CASCADE`);
    await openRuns({ schema });
  });

  test("tells which turns the engine has ended or lost, and goes on with the others", async () => {
    const [schema, admin] = [newSchema(), await openAdmin()];
    const client = await openRuns({ schema });
    for (const id of ["begun", "ended", "lost"]) await client.start("helper", "Hello.", { id });
    const workflow = `UPDATE ${schema}.workflow_status SET executor_id = 'dead', status`;
    await admin.query(`${workflow} = 'PENDING' WHERE workflow_uuid = 'begun'`);
    await admin.query(`${workflow} = 'ERROR' WHERE workflow_uuid = 'ended'`);
    await admin.query(`DELETE FROM ${schema}.workflow_status WHERE workflow_uuid = 'lost'`);
    const runs = await work({ provider: new ScriptedProvider(["One."]) }, { schema });
    expect(await runs.result("begun")).toBe("One.");
    const told = { ended: "ended the turn itself, as ERROR", lost: "lost the turn" };
    for (const [id, words] of Object.entries(told))
      await expect(runs.result(id)).rejects.toMatchObject({ code: "server", message: expect.stringContaining(words) });
  });
});
