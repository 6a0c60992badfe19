import { execFile, spawn } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { hasPostgres, temporaryFolder } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { shareServer } from "../../fixtures/runs.ts";
import { readLedger, startWorker } from "../../fixtures/workers.ts";

// What was committed must be there after a crash, as in production.
const shared = shareServer({ durable: true });
const { work } = shared;

/** As the user that started the server: PostgreSQL refuses to run as root. */
const asOwner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

let folder: string | undefined;

/** Stops the server as a crash would; returns what starts it again. */
async function stopServer(): Promise<() => Promise<void>> {
  // The process is another one after the first start.
  folder ??= readlinkSync(`/proc/${shared.server.pid}/cwd`);
  const data = folder;
  const command = readFileSync(join(data, "postmaster.opts"), "utf8").trim();
  const bin = dirname(command.split(" ")[0] ?? "");
  const run = (name: string, args: string[]): Promise<unknown> =>
    promisify(execFile)(join(bin, name), args, { ...asOwner, cwd: "/" });
  await run("pg_ctl", ["stop", "-s", "-w", "-m", "immediate", "-D", data]);
  return async () => {
    spawn("/bin/sh", ["-c", `exec ${command}`], { ...asOwner, cwd: "/", stdio: "ignore", detached: true }).unref();
    const { port } = new URL(shared.server.databaseUrl);
    await expect
      .poll(() =>
        run("pg_isready", ["-q", "-h", "127.0.0.1", "-p", port]).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  };
}

describe.skipIf(!hasPostgres)("a database that goes away", () => {
  test("a run goes on when the database is back, with every call made once", async () => {
    const made: number[] = [];
    const count = 8;
    const stopped = Promise.withResolvers<void>();
    const make = defineTool({
      name: "make",
      description: "Makes one.",
      parameters: { type: "object", properties: { index: { type: "number" } } },
      async execute({ index }) {
        made.push(index as number);
        // However late the server stops, a call is under way.
        if (index === 1) await stopped.promise;
        return `made ${index}`;
      },
    });
    const steps = Array.from({ length: count }, (_, index) => ({ calls: [{ name: "make", args: { index } }] }));
    const provider = new ScriptedProvider([...steps, "All made."]);
    const warnings: string[] = [];
    const agent = { provider, tools: new ToolRegistry([make]) };
    const runs = await work(agent, { onWarning: (message) => warnings.push(message) });
    const id = await runs.start("helper", "Make them.");
    const result = runs.result(id);
    await expect.poll(() => made.length).toBe(2);
    const start = await stopServer();
    stopped.resolve();
    // Longer than the lease: nobody is taken for dead because the server was.
    await sleep(2_000);
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
    await sleep(1_000);
    await start();
    expect(await runs.result(first)).toBe("First.");
    const second = await runs.start("helper", "Two.");
    await expect.poll(() => provider.requests.length).toBe(2);
    expect(await runs.result(second)).toBe("Second.");
  });

  test("a call that runs while the server is away is not taken for that of a dead worker", async () => {
    // A busy machine must reach the server within one lease of its start.
    const options = { databaseUrl: shared.server.databaseUrl, schema: "away", leaseMs: 3_000, closeMs: 1000 };
    const ledger = join(temporaryFolder("away"), "ledger");
    // Each worker has two runs, which the other could take for lost.
    const setup = { ledger, options: { ...options, limits: { worker: { concurrency: 2 } } } };
    const client = await shared.openRuns(options);
    const workers = [await startWorker(setup), await startWorker(setup)];
    try {
      const message = JSON.stringify({ calls: 1, ms: 10_000 });
      for (const id of ["a", "b", "c", "d"]) await client.start("plan", message, { id });
      await expect.poll(() => readLedger(ledger).filter((line) => line.startsWith("begin"))).toHaveLength(4);
      const start = await stopServer();
      await sleep(4_000);
      await start();
      for (const id of ["a", "b", "c", "d"]) expect(await client.result(id)).toBe("|ok c1");
      expect(readLedger(ledger).filter((line) => line.startsWith("begin"))).toHaveLength(4);
      expect((await client.list()).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1]);
    } finally {
      for (const worker of workers) worker.kill("SIGKILL");
    }
  });
});
