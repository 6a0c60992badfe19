import { execFile, spawn } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { hasPostgres, temporaryFolder } from "@toolcrib/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { newSchema, server, shareServer, toolOf } from "../../fixtures/runs.ts";
import { readLedger, startWorker } from "../../fixtures/workers.ts";

const { openRuns, work } = shareServer();

/** As the user that started the server: PostgreSQL refuses to run as root. */
const asOwner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

let folder: string | undefined;

/** Stops the server as a crash would; returns what starts it again, which the end of the test does too. */
async function stopServer(): Promise<() => Promise<void>> {
  // The process is another one after the first start.
  folder ??= readlinkSync(`/proc/${server().pid}/cwd`);
  const data = folder;
  const command = readFileSync(join(data, "postmaster.opts"), "utf8").trim();
  const bin = dirname(command.split(" ")[0] ?? "");
  const run = (name: string, args: string[]): Promise<unknown> =>
    promisify(execFile)(join(bin, name), args, { ...asOwner, cwd: "/" });
  await run("pg_ctl", ["stop", "-s", "-w", "-m", "immediate", "-D", data]);
  let starting: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    spawn("/bin/sh", ["-c", `exec ${command}`], { ...asOwner, cwd: "/", stdio: "ignore", detached: true }).unref();
    const { port } = new URL(server().databaseUrl);
    const isReady = (): Promise<boolean> =>
      run("pg_isready", ["-q", "-h", "127.0.0.1", "-p", port]).then(
        () => true,
        () => false,
      );
    await expect.poll(isReady).toBe(true);
  };
  const startOnce = (): Promise<void> => (starting ??= start());
  onTestFinished(startOnce);
  return startOnce;
}

describe.skipIf(!hasPostgres)("a database that goes away", () => {
  test("a run goes on when the database is back, with every call made once", async () => {
    const made: number[] = [];
    const count = 8;
    const stopped = Promise.withResolvers<void>();
    const tools = toolOf("make", async ({ index }) => {
      made.push(Number(index));
      // However late the server stops, a call is under way.
      if (index === 1) await stopped.promise;
      return `made ${index}`;
    });
    const steps = Array.from({ length: count }, (_, index) => ({ calls: [{ name: "make", args: { index } }] }));
    const provider = new ScriptedProvider([...steps, "All made."]);
    const warnings: string[] = [];
    const runs = await work({ provider, tools }, { onWarning: (message) => warnings.push(message) });
    const id = await runs.start("helper", "Make them.");
    const result = runs.result(id);
    await expect.poll(() => made.length).toBe(2);
    const start = await stopServer();
    stopped.resolve();
    // Longer than the lease: nobody is taken for dead because the server was.
    await sleep(1_500);
    expect(made.length).toBe(2);
    await start();
    expect(await result).toBe("All made.");
    expect(made).toEqual(Array.from({ length: count }, (_, index) => index));
    expect(await runs.get(id)).toMatchObject({ status: "done", attempts: 1 });
    expect(warnings.length).toBeGreaterThan(0);
  });

  test("calls reject in words that say to make them again, and a result waits", async () => {
    const answer = Promise.withResolvers<string>();
    const runs = await work({ provider: new ScriptedProvider([() => answer.promise, "Second."]) });
    const id = await runs.start("helper", "One.", { id: "timeout exceeded" });
    const result = runs.result(id);
    const start = await stopServer();
    const calls = {
      start: () => runs.start("helper", "One.", { id: "other" }),
      get: () => runs.get(id),
      list: () => runs.list(),
      send: () => runs.send(id, "More."),
      approve: () => runs.approve(id, { call: true }),
      cancel: () => runs.cancel(id),
      remove: () => runs.remove(id),
    };
    for (const [name, call] of Object.entries(calls))
      await expect(call(), name).rejects.toMatchObject({
        ...{ name: "AgentError", code: "network", retryable: true },
        message: expect.stringMatching(/^The database cannot be reached: .+\. Repeat the call later/),
      });
    const late = runs.result(id);
    await start();
    answer.resolve("First.");
    expect(await Promise.all([result, late])).toEqual(["First.", "First."]);
    // An error that only quotes such words is not one of the database.
    await expect(runs.approve(id, { call: true })).rejects.toMatchObject({ code: "invalid_option" });
    await calls.start();
    expect(await runs.result("other")).toBe("Second.");
  });

  test("a request that ends while the server is away leaves its place to the next", async () => {
    const answer = Promise.withResolvers<string>();
    const provider = new ScriptedProvider([() => answer.promise, "Second."]);
    const limits = { providers: { [provider.name]: { concurrency: 1 } } };
    const runs = await work({ provider }, { limits });
    const first = await runs.start("helper", "One.");
    await expect.poll(() => provider.requests.length).toBe(1);
    const start = await stopServer();
    answer.resolve("First.");
    await sleep(500);
    await start();
    expect(await runs.result(first)).toBe("First.");
    const second = await runs.start("helper", "Two.");
    await expect.poll(() => provider.requests.length).toBe(2);
    expect(await runs.result(second)).toBe("Second.");
  });

  test("a call that runs while the server is away is not taken for that of a dead worker", async () => {
    // A busy machine must reach the server within one lease of its start.
    const options = { databaseUrl: server().databaseUrl, schema: newSchema(), leaseMs: 2_000, closeMs: 1000 };
    const ledger = join(temporaryFolder("away"), "ledger");
    // Each worker has two runs, which the other could take for lost.
    const setup = { ledger, options: { ...options, limits: { worker: { concurrency: 2 } } } };
    const client = await openRuns(options);
    await Promise.all([startWorker(setup), startWorker(setup)]);
    const ids = ["a", "b", "c", "d"];
    for (const id of ids) await client.start("plan", JSON.stringify({ calls: 1, ms: 7_000 }), { id });
    const begun = (): string[] => readLedger(ledger).filter((line) => line.startsWith("begin"));
    await expect.poll(begun).toHaveLength(4);
    const start = await stopServer();
    await sleep(2_500);
    await start();
    for (const id of ids) expect(await client.result(id)).toBe("|ok c1");
    expect(begun()).toHaveLength(4);
    expect((await client.list()).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1]);
  });
});
