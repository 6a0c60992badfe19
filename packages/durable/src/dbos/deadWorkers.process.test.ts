import { join } from "node:path";
import { hasPostgres, temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { newSchema, openAdmin, server, shareServer, thrown } from "../../fixtures/runs.ts";
import { readLedger, startWorker, type WorkerProcess, type WorkerSetup } from "../../fixtures/workers.ts";
import type { DurableRuns } from "../index.ts";

const { openRuns } = shareServer();

/** A client of an empty schema, and what workers of it are started with. */
let client: DurableRuns;
let setup: WorkerSetup;
beforeEach(async () => {
  if (!hasPostgres) return;
  const options = { databaseUrl: server().databaseUrl, schema: newSchema(), leaseMs: 900, closeMs: 1000 };
  setup = { ledger: join(temporaryFolder("workers"), "ledger"), options };
  client = await openRuns(options);
});

const worker = (more: Partial<WorkerSetup["options"]> = {}): Promise<WorkerProcess> =>
  startWorker({ ...setup, options: { ...setup.options, ...more } });
const lines = (): string[] => readLedger(setup.ledger);
const seen = (line: string): Promise<void> => expect.poll(lines).toContain(line);
const plan = (what: { calls?: number; tool?: string; ms?: number; slow?: [string, number] }): string =>
  JSON.stringify(what);
const twice = (all: string[]): string[] => all.filter((line, index) => all.indexOf(line) !== index);

describe.skipIf(!hasPostgres)("workers that die", () => {
  test("a killed worker's runs go on in another: no recorded step runs again, a call that may run twice does, and one that must not may have run", async () => {
    const first = await worker();
    await client.start("plan", plan({ calls: 4, slow: ["c3", 60_000] }), { id: "act" });
    await client.start("plan", plan({ calls: 3, tool: "put", slow: ["c2", 60_000] }), { id: "put" });
    await client.start("plan", plan({ calls: 3, tool: "put", ms: 1_000 }), { id: "told" });
    await seen("begin told c1");
    await client.send("told", "one");
    for (const line of ["begin act c3", "begin put c2", "begin told c2"]) await seen(line);
    await client.send("told", "two");
    first.kill("SIGKILL");
    await worker();
    expect(await client.result("act")).toMatch(/^\|*ok c1\|+ok c2\|+.*may have run.*\|+ok c4$/);
    expect(await client.result("put")).toMatch(/^\|*ok c1\|+ok c2\|+ok c3$/);
    // A message that the dead worker has read is in its place, once, and one that it has not read is read.
    expect(await client.result("told")).toMatch(/^\|ok c1\|one\|\|ok c2\|two\|\|ok c3$/);
    expect(twice(lines()).sort()).toEqual(["begin put c2", "begin told c2"]);
    expect(await client.get("act")).toMatchObject({ status: "done", attempts: 2, usage: { cost: 1.25 } });
  });

  test("a worker that was paused beyond its lease runs no call again, harms nothing, and works on", async () => {
    const first = await worker();
    const id = await client.start("plan", plan({ calls: 4, slow: ["c2", 4_000] }), { id: "r" });
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
    // However busy the machine is, nobody is taken for dead and the call that runs comes to its end.
    const patient = { leaseMs: 60_000, closeMs: 60_000 };
    const first = await worker(patient);
    const id = await client.start("plan", plan({ calls: 5, ms: 300 }), { id: "r" });
    await seen("begin r c1");
    const second = await worker(patient);
    first.kill("SIGTERM");
    expect(await first.ended).toBe(0);
    expect(await client.result(id)).toMatch(/^\|*ok c1\|+ok c2\|+ok c3\|+ok c4\|+ok c5$/);
    expect(twice(lines())).toEqual([]);
    expect(await client.get(id)).toMatchObject({ attempts: 1 });
    for (const { output } of [first, second]) expect(output).toEqual({ stdout: "working\n", stderr: "" });
  });

  test.each([
    [1, "1 attempt:"],
    [2, "2 attempts:"],
  ])("a run that kills its workers is given up after maxAttempts, %d, and others go on", async (maxAttempts, words) => {
    await client.start("plan", plan({ calls: 1, tool: "put", ms: 60_000 }), { id: "bad" });
    if (maxAttempts > 1)
      await client.start("plan", plan({ calls: 4, tool: "look", slow: ["c2", 60_000] }), { id: "good" });
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const { kill, ended } = await worker({ maxAttempts });
      await expect.poll(() => lines().filter((line) => line === "begin bad c1").length).toBe(attempt);
      if (attempt === 2) expect(await client.result("good")).toMatch(/^\|*ok c1\|+ok c2\|+ok c3\|+ok c4$/);
      else if (maxAttempts > 1) await seen("begin good c2");
      kill("SIGKILL");
      await ended;
    }
    await worker({ maxAttempts });
    const message = expect.stringContaining(`abandoned after ${words}`);
    expect(await thrown(client.result("bad"))).toMatchObject({ code: "server", message });
    await client.cancel("bad");
    expect(await client.get("bad")).toMatchObject({ status: "failed", attempts: maxAttempts });
    await client.send("bad", plan({ calls: 0 }));
    expect(await client.result("bad")).toBe("");
    expect(await client.get("bad")).toMatchObject({ status: "done", turns: 2, attempts: 1 });
    expect(twice(lines().filter((line) => line.startsWith("end")))).toEqual([]);
  });

  test("four workers that start at once on an empty database share it, and ask it at most 60 transactions a second while they idle", async () => {
    const admin = await openAdmin();
    await admin.query("CREATE DATABASE quiet");
    const url = new URL(server().databaseUrl);
    url.pathname = "quiet";
    const options = { databaseUrl: url.href, leaseMs: 10_000 };
    await Promise.all([1, 2, 3, 4].map(() => startWorker({ ...setup, options })));
    const count = "SELECT xact_commit::int AS commits FROM pg_stat_database WHERE datname = 'quiet'";
    const commits = async (): Promise<number> => (await admin.query(count)).rows[0].commits;
    // Counters are handed in once a second, and later where a process or the machine is busy: one of a few spans must be quiet.
    const seconds = 4;
    const most = 60 * seconds;
    let fewest = Number.POSITIVE_INFINITY;
    for (let spans = 0; spans < 10 && fewest > most; spans += 1) {
      const before = await commits();
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
      fewest = Math.min(fewest, (await commits()) - before);
    }
    expect(fewest).toBeLessThanOrEqual(most);
    const other = await openRuns({ databaseUrl: url.href, schema: "toolcrib" });
    const ids = await Promise.all(Array.from({ length: 12 }, () => other.start("plan", plan({ calls: 1, ms: 1_000 }))));
    for (const id of ids) expect(await other.result(id)).toMatch(/ok c1/);
    expect(twice(lines())).toEqual([]);
  });
});
