import { join } from "node:path";
import { hasPostgres, type PostgresServer, startPostgres, temporaryFolder } from "@toolcrib/testing";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readLedger, startWorker, type WorkerProcess, type WorkerSetup } from "../../fixtures/workers.ts";
import type { DurableRuns } from "../index.ts";
import { durable } from "./durable.ts";

let server: PostgresServer | undefined;
let schemas = 0;
let client: DurableRuns;
let setup: WorkerSetup;
const workers: WorkerProcess[] = [];

beforeAll(async () => {
  server = await startPostgres();
});
afterEach(async () => {
  for (const worker of workers.splice(0)) {
    worker.kill("SIGKILL");
    await worker.ended;
  }
  await client.close();
});
afterAll(async () => {
  await server?.stop();
});

/** A client of an empty schema, and what workers of it are started with. */
async function begin(): Promise<void> {
  const options = { databaseUrl: server?.databaseUrl ?? "", schema: `s${++schemas}`, leaseMs: 900, closeMs: 1000 };
  setup = { ledger: join(temporaryFolder("workers"), "ledger"), options };
  client = await durable(options);
}

async function worker(more: Partial<WorkerSetup> = {}): Promise<WorkerProcess> {
  const started = await startWorker({ ...setup, ...more });
  workers.push(started);
  return started;
}

const lines = (): string[] => readLedger(setup.ledger);
const seen = (line: string): Promise<void> => expect.poll(lines).toContain(line);
const plan = (what: { calls?: number; tool?: string; ms?: number; slow?: [string, number] }): string =>
  JSON.stringify(what);
const twice = (all: string[]): string[] => all.filter((line, index) => all.indexOf(line) !== index);

describe.skipIf(!hasPostgres)("workers that die", () => {
  test("a killed worker's run goes on in another: no recorded step runs again, and a call that was cut may have run", async () => {
    await begin();
    const first = await worker();
    const id = await client.start("plan", plan({ calls: 4, slow: ["c3", 60_000] }), { id: "r" });
    await seen("begin r c3");
    first.kill("SIGKILL");
    await worker();
    const answer = await client.result(id);
    expect(answer).toMatch(/^\|*ok c1\|+ok c2\|+.*may have run.*\|+ok c4$/);
    expect(twice(lines())).toEqual([]);
    expect(await client.get(id)).toMatchObject({ status: "done", attempts: 2, usage: { cost: 1.25 } });
  });

  test("a call that may run twice runs again where it was cut", async () => {
    await begin();
    const first = await worker();
    const id = await client.start("plan", plan({ calls: 3, tool: "put", slow: ["c2", 60_000] }), { id: "r" });
    await seen("begin r c2");
    first.kill("SIGKILL");
    await worker();
    expect(await client.result(id)).toMatch(/^\|*ok c1\|+ok c2\|+ok c3$/);
    expect(twice(lines())).toEqual(["begin r c2"]);
  });

  test("a message that a killed worker has read is in its place, once, and one that it has not read is read", async () => {
    await begin();
    const first = await worker();
    const id = await client.start("plan", plan({ calls: 3, tool: "put", ms: 1_500 }), { id: "r" });
    await seen("begin r c1");
    await client.send(id, "one");
    await seen("begin r c2");
    await client.send(id, "two");
    first.kill("SIGKILL");
    await worker();
    expect(await client.result(id)).toMatch(/^\|ok c1\|one\|\|ok c2\|two\|\|ok c3$/);
  });

  test("a worker that was paused beyond its lease runs no call again, harms nothing, and works on", async () => {
    await begin();
    const first = await worker();
    const id = await client.start("plan", plan({ calls: 4, slow: ["c2", 5_000] }), { id: "r" });
    await seen("begin r c2");
    first.kill("SIGSTOP");
    const second = await worker();
    const answer = await client.result(id);
    expect(answer).toMatch(/ok c1.*may have run.*ok c3.*ok c4/);
    first.kill("SIGCONT");
    // What it was in comes to its end, and is not recorded.
    await seen("end r c2");
    second.kill("SIGTERM");
    expect(await second.ended).toBe(0);
    const next = await client.start("plan", plan({ calls: 1 }), { id: "n" });
    expect(await client.result(next)).toMatch(/ok c1/);
    expect(twice(lines().filter((line) => !line.startsWith("reply")))).toEqual([]);
    expect(await client.result(id)).toBe(answer);
    expect(first.output.stderr).toBe("");
  });

  test("a worker that is closed hands its runs over, prints nothing and ends by itself", async () => {
    await begin();
    // However busy the machine is, nobody is taken for dead and the call that runs comes to its end.
    setup = { ...setup, options: { ...setup.options, leaseMs: 60_000, closeMs: 60_000 } };
    const first = await worker();
    const id = await client.start("plan", plan({ calls: 5, ms: 300 }), { id: "r" });
    await seen("begin r c2");
    const second = await worker();
    first.kill("SIGTERM");
    expect(await first.ended).toBe(0);
    expect(await client.result(id)).toMatch(/^\|*ok c1\|+ok c2\|+ok c3\|+ok c4\|+ok c5$/);
    expect(twice(lines())).toEqual([]);
    expect(await client.get(id)).toMatchObject({ attempts: 1 });
    for (const { output } of [first, second]) expect(output).toEqual({ stdout: "working\n", stderr: "" });
  });

  test("a call that close cuts off is not recorded as failed: it runs again elsewhere", async () => {
    await begin();
    const first = await worker();
    const id = await client.start("plan", plan({ tool: "put", slow: ["c1", 60_000] }), { id: "r" });
    await seen("begin r c1");
    await worker();
    first.kill("SIGTERM");
    expect(await first.ended).toBe(0);
    expect(await client.result(id)).toBe("|ok c1");
    expect(twice(lines())).toEqual(["begin r c1"]);
  });

  test("workers that start at once on an empty database share it", async () => {
    await begin();
    // Nobody dies here, however busy the machine is.
    const options = { ...setup.options, schema: "an empty one", leaseMs: 60_000 };
    await Promise.all([1, 2, 3].map(() => worker({ options })));
    const other = await durable(options);
    const ids = await Promise.all([1, 2, 3, 4, 5, 6].map(() => other.start("plan", plan({ calls: 2, ms: 50 }))));
    for (const id of ids) expect(await other.result(id)).toMatch(/ok c1.*ok c2/);
    expect(twice(lines())).toEqual([]);
    await other.close();
  });

  test("a worker with other tools does not go on with a turn, and the run says what it waits for", async () => {
    await begin();
    const first = await worker();
    const id = await client.start("plan", plan({ calls: 3, slow: ["c2", 60_000] }), { id: "r" });
    await seen("begin r c2");
    first.kill("SIGKILL");
    await first.ended;
    await worker({ extraTool: "more" });
    const fresh = await client.start("plan", plan({ calls: 1 }), { id: "f" });
    expect(await client.result(fresh)).toMatch(/ok c1/);
    const before = lines().filter((line) => line.includes(" r "));
    // Once the lease of the first has run out.
    await expect.poll(async () => (await client.get(id))?.detail).toContain("other tools");
    await worker();
    expect(await client.result(id)).toMatch(/ok c1.*may have run.*ok c3/);
    expect(lines().filter((line) => line.includes(" r "))[before.length]).toBe("reply r 3");
  });

  test.each([
    [1, "1 attempt:"],
    [2, "2 attempts:"],
  ])("a run that kills its workers is given up after maxAttempts, %d", async (maxAttempts, words) => {
    await begin();
    const options = { ...setup.options, maxAttempts };
    const id = await client.start("plan", plan({ calls: 1, tool: "put", ms: 60_000 }), { id: "r" });
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const { kill } = await worker({ options });
      await expect.poll(() => lines().filter((line) => line === "begin r c1").length).toBe(attempt);
      kill("SIGKILL");
    }
    await worker({ options });
    const error = await client.result(id).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "server", message: expect.stringContaining(`abandoned after ${words}`) });
    await client.cancel(id);
    expect(await client.get(id)).toMatchObject({ status: "failed", attempts: maxAttempts });
    await client.send(id, plan({ calls: 0 }));
    expect(await client.result(id)).toBe("");
    expect(await client.get(id)).toMatchObject({ status: "done", turns: 2, attempts: 1 });
  });

  test("a run survives workers that die one after another", async () => {
    await begin();
    const id = await client.start("plan", plan({ calls: 6, tool: "look", ms: 100 }), { id: "r" });
    for (const call of ["c1", "c3", "c5"]) {
      const { kill } = await worker();
      await seen(`begin r ${call}`);
      kill("SIGKILL");
    }
    await worker();
    expect(await client.result(id)).toMatch(/^\|*ok c1\|+ok c2\|+ok c3\|+ok c4\|+ok c5\|+ok c6$/);
    const ended = lines().filter((line) => line.startsWith("end"));
    expect([...new Set(ended)]).toHaveLength(6);
  });

  test("a worker that is paused in the middle of a transaction does not hold up the others' runs", async () => {
    await begin();
    const first = await worker();
    for (const id of ["held", "free"]) {
      await client.start("plan", plan({ calls: 2, tool: "put", slow: ["c1", 60_000] }), { id });
      await seen(`begin ${id} c1`);
    }
    first.kill("SIGKILL");
    await first.ended;
    const transaction = new pg.Client({ connectionString: setup.options.databaseUrl });
    await transaction.connect();
    try {
      await transaction.query("BEGIN");
      const lock = `SELECT FROM ${setup.options.schema}.workflow_status WHERE workflow_uuid = 'held' FOR NO KEY UPDATE`;
      await transaction.query(lock);
      await worker();
      expect(await client.result("free")).toMatch(/ok c2$/);
      expect(await client.get("held")).toMatchObject({ status: "running" });
      await transaction.query("COMMIT");
      expect(await client.result("held")).toMatch(/ok c2$/);
    } finally {
      await transaction.end();
    }
  });
});
