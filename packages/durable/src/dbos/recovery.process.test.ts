import { hasPostgres } from "@toolcrib/testing/postgres";
import { expect, onTestFinished, test } from "vitest";
import { newSchema, openAdmin, server, shareServer } from "../../fixtures/runs.ts";
import { connectionConfig, databaseOf, openPool } from "./database.ts";
import { loadEngine } from "./loadEngine.ts";
import { lostTurns } from "./recovery.ts";

const { openRuns } = shareServer();

test.skipIf(!hasPostgres)(
  "a turn is lost if its worker has no lease, and never for the worker that runs it, however late its beat is",
  async () => {
    const [schema, admin] = [newSchema(), await openAdmin()];
    const runs = await openRuns({ schema });
    for (const id of ["late", "stray", "fresh"]) await runs.start("helper", "Hello.", { id });
    const config = connectionConfig(server().databaseUrl);
    const pool = openPool(await loadEngine(), config, { max: 1 });
    onTestFinished(() => pool.end());
    await admin.query(
      `INSERT INTO ${schema}.agent_workers (id, version, agents, lease_ms, beat_at)
       VALUES ('late', 'v', '{helper}', 1, now() - interval '1 hour'), ('well', 'v', '{helper}', 3600000, now())`,
    );
    await admin.query(
      `UPDATE ${schema}.workflow_status SET status = 'PENDING', executor_id = CASE workflow_uuid WHEN 'late' THEN 'late' ELSE 'well' END,
         started_at_epoch_ms = extract(epoch FROM now()) * 1000 - CASE workflow_uuid WHEN 'stray' THEN 60000 ELSE 0 END`,
    );
    const look = async (worker: string, running: readonly string[]): Promise<string[]> => {
      const found = await lostTurns(databaseOf(pool, config, schema), {
        ...{ worker, running, strayMs: 30_000, others: true },
      });
      return found.map(({ id }) => id).sort();
    };
    // A server that has just started gives every worker a lease: this one's is a millisecond.
    expect(await look("late", ["late"])).toEqual([]);
    expect(await look("other", [])).toEqual(["late"]);
    expect(await look("well", ["fresh"])).toEqual(["late", "stray"]);
    expect(await look("well", ["stray"])).toEqual(["late"]);
  },
);
