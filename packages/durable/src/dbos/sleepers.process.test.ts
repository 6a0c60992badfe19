import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasPostgres, temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { newSchema, openAdmin, server, shareServer } from "../../fixtures/runs.ts";
import { readLedger, startWorker } from "../../fixtures/workers.ts";

const { openRuns } = shareServer();
const requestMs = 250;

/** The most requests that were in flight at once, as their provider counts: by its own clock, whatever becomes of who asked. */
function mostAtOnce(lines: readonly string[]): number {
  const begun = lines.filter((line) => line.startsWith("request ")).map((line) => Number(line.split(" ")[1]));
  return Math.max(...begun.map((at) => begun.filter((other) => other <= at && other > at - requestMs).length));
}

test.skipIf(!hasPostgres)(
  "a worker that slept for twice its lease and lost its connections begins no request that nobody counts, and its runs end",
  async () => {
    const limit = 3;
    const limits = { providers: { plan: { concurrency: limit } } };
    const options = { databaseUrl: server().databaseUrl, schema: newSchema(), leaseMs: 900, limits };
    const ledger = join(temporaryFolder("sleepers"), "ledger");
    const client = await openRuns({ schema: options.schema });
    const admin = await openAdmin();
    const workers = await Promise.all([startWorker({ ledger, options }), startWorker({ ledger, options })]);
    const ids = Array.from({ length: 8 }, (_, index) => `r${index}`);
    for (const id of ids) await client.start("plan", JSON.stringify({ calls: 5, tool: "put", requestMs }), { id });
    for (const sleeper of workers) {
      const before = readLedger(ledger).length;
      await expect.poll(() => readLedger(ledger).length).toBeGreaterThan(before + 8);
      sleeper.kill("SIGSTOP");
      // Once its last requests have ended at the provider.
      await sleep(requestMs);
      await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toolcrib' AND state = 'idle'`,
      );
      await sleep(1_800 - requestMs);
      sleeper.kill("SIGCONT");
    }
    for (const id of ids) expect(await client.result(id)).toMatch(/ok c5$/);
    expect(mostAtOnce(readLedger(ledger))).toBeLessThanOrEqual(limit);
  },
);
