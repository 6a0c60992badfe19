import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasPostgres, temporaryFolder } from "@toolcrib/testing";
import { randomOf } from "@toolcrib/testing/randomOf";
import { beforeEach, describe, expect, test } from "vitest";
import { newSchema, server, shareServer } from "../../fixtures/runs.ts";
import { readLedger, startWorker, type WorkerProcess, type WorkerSetup } from "../../fixtures/workers.ts";
import type { DurableRuns } from "../index.ts";

const { openRuns } = shareServer();

let client: DurableRuns;
let setup: WorkerSetup;
beforeEach(async () => {
  if (!hasPostgres) return;
  const options = { databaseUrl: server().databaseUrl, schema: newSchema(), leaseMs: 900, maxAttempts: 1000 };
  setup = { ledger: join(temporaryFolder("workers"), "ledger"), options };
  client = await openRuns(options);
});

const started = (run: string): string[] => readLedger(setup.ledger).filter((line) => line.startsWith(`begin ${run} `));
const program = (code: string): string => JSON.stringify({ calls: 1, code });
const twice = (all: string[]): string[] => all.filter((line, index) => all.indexOf(line) !== index);
const kill = async (worker: WorkerProcess): Promise<void> => {
  worker.kill("SIGKILL");
  await worker.ended;
};

describe.skipIf(!hasPostgres)("a program", () => {
  test("whose worker dies between two calls goes on in another: no call that has ended runs again", async () => {
    const first = await startWorker(setup);
    const code = `const run = "p", told = await Promise.all([1, 2, 3].map((ms) => tools.look({ run, ms })));
      for (const ms of [0, 60000, 0]) told.push(await tools.act({ run, ms, once: true }).catch((error) => error.message));
      return [...told, Date.now() > 0, await tools.put({ run, ms: 0 })].join()`;
    await client.start("plan", program(code), { id: "p" });
    await expect.poll(() => started("p")).toContain("begin p c1:5");
    await kill(first);
    await startWorker(setup);
    const told = "ok c1:1,ok c1:2,ok c1:3,ok c1:4,Error executing act: Interrupted; may have run,ok c1:6,true,ok c1:7";
    expect(await client.result("p")).toContain(told);
    expect(started("p").sort()).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => `begin p c1:${number}`));
    expect(await client.get("p")).toMatchObject({ attempts: 2, turns: 1 });
  });

  test("that asks waits without a worker, and goes on in another: its record is in the session", async () => {
    const first = await startWorker(setup);
    const code = `const run = "q", told = [await tools.act({ run, ms: 0 }), Math.random()];
      const both = [1, 2].map((n) => tools.act({ run, ms: 0, ask: "Act " + n + "?" }).catch((error) => error.code));
      return [told.length, told[0], ...(await Promise.all(both)), await tools.act({ run, ms: 0 })].join()`;
    await client.start("plan", program(code), { id: "q" });
    await expect.poll(async () => (await client.get("q"))?.status).toBe("waiting");
    await kill(first);
    const asked = [2, 3].map((number) => ({ callId: `c1:${number}`, within: "c1", name: "act" }));
    expect(await client.get("q")).toMatchObject({ pending: asked });
    await startWorker(setup);
    await client.approve("q", { "c1:2": true, "c1:3": "not this" });
    await expect.poll(async () => (await client.get("q"))?.status).toBe("done");
    expect(await client.result("q")).toContain("2,ok c1:1,ok c1:2,permission_denied,ok c1:4");
    expect(started("q")).toEqual([1, 2, 4].map((number) => `begin q c1:${number}`));
  });

  test("is repeated whenever its workers are killed, and runs nothing twice that must not", async () => {
    const random = randomOf(56);
    const rounds = 6;
    const ids = Array.from({ length: rounds }, (_, number) => `r${number}`);
    for (const id of ids) {
      const code = `const run = "${id}", told = [];
        for (let n = 0; n < 12; n += 1) {
          told.push(await tools.act({ run, ms: Math.floor(Math.random() * 80) }).catch((error) => error.message));
          told.push(...(await Promise.all([1, 2, 3].map(() => tools.look({ run, ms: Math.random() * 40 })))));
        }
        return told.join()`;
      await client.start("plan", program(code), { id });
    }
    let kills = 0;
    const isDone = async (): Promise<boolean> =>
      (await client.list({ limit: 1000 })).every(({ status }) => status === "done");
    const workers = [await startWorker(setup), await startWorker(setup)];
    while (!(await isDone()) && kills < 2 * rounds) {
      await sleep(400 + random() * 1200);
      const index = kills % 2;
      await kill(workers[index] as WorkerProcess);
      kills += 1;
      workers[index] = await startWorker(setup);
    }
    let doubtful = 0;
    for (const id of ids) {
      const answer = await client.result(id);
      const told = answer.split("|").at(-1)?.split(",") ?? [];
      expect(told, answer).toHaveLength(48);
      doubtful += told.filter((one) => one.endsWith("may have run")).length;
      for (const one of told.filter((text) => text.startsWith("ok ")))
        expect(started(id), answer).toContain(`begin ${id} ${one.slice(3)}`);
      // Every fourth call, from the first one on, must not run twice.
      const once = started(id).filter((line) => Number(line.split(":")[1]) % 4 === 1);
      expect(twice(once), id).toEqual([]);
    }
    console.log(`${kills} kills, ${doubtful} calls in doubt`);
    expect(kills).toBeGreaterThan(0);
    expect(doubtful).toBeLessThanOrEqual(rounds * kills);
  });
});
