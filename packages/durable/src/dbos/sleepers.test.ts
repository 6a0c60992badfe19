import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasPostgres, temporaryFolder } from "@toolcrib/testing";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { shareServer } from "../../fixtures/runs.ts";
import { readLedger, startWorker } from "../../fixtures/workers.ts";

const shared = shareServer();

const requestMs = 300;

/** The most requests that were in flight at once, as their provider counts: by its own clock, whatever becomes of who asked. */
function mostAtOnce(lines: readonly string[]): number {
  const begun = lines.filter((line) => line.startsWith("request ")).map((line) => Number(line.split(" ")[1]));
  return Math.max(...begun.map((at) => begun.filter((other) => other <= at && other > at - requestMs).length));
}

describe.skipIf(!hasPostgres)("a worker that slept for twice its lease and lost its connections", () => {
  test("begins no request that nobody counts, and its runs end", async () => {
    const limit = 3;
    const limits = { providers: { plan: { concurrency: limit } } };
    const options = { databaseUrl: shared.server.databaseUrl, schema: "sleepers", leaseMs: 900, limits };
    const ledger = join(temporaryFolder("sleepers"), "ledger");
    const client = await shared.openRuns({ databaseUrl: shared.server.databaseUrl, schema: "sleepers" });
    const admin = new pg.Client({ connectionString: shared.server.databaseUrl });
    await admin.connect();
    const workers = [await startWorker({ ledger, options }), await startWorker({ ledger, options })];
    try {
      const ids = Array.from({ length: 12 }, (_, index) => `r${index}`);
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
    } finally {
      for (const worker of workers) worker.kill("SIGKILL");
      for (const worker of workers) await worker.ended;
      await admin.end();
    }
  });
});
