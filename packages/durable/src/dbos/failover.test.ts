import { setTimeout as sleep } from "node:timers/promises";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { hasPostgres } from "@toolcrib/testing";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { shareServer } from "../../fixtures/runs.ts";

const shared = shareServer();
const { work } = shared;
let admin: pg.Client;

beforeEach(async () => {
  admin = new pg.Client({ connectionString: shared.server.databaseUrl });
  await admin.connect();
});
afterEach(async () => {
  await admin.end();
});

/** What a server does that fails over: it still answers, and takes no writes. */
async function setReadOnly(isReadOnly: boolean): Promise<void> {
  await admin.query("SET default_transaction_read_only = off");
  await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly ? "on" : "off"}`);
  await admin.query("SELECT pg_reload_conf()");
}

/** Cancels whatever the other connections run, as an operator or a time limit does. */
async function cancelQueries(): Promise<void> {
  const others = "pid <> pg_backend_pid() AND state <> 'idle' AND backend_type = 'client backend'";
  await admin.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE ${others}`);
}

/** An agent that makes so many calls, one after another, and notes each. */
function maker(count: number, ms: number, made: number[]) {
  const make = defineTool({
    name: "make",
    description: "Makes one.",
    parameters: { type: "object", properties: { index: { type: "number" } } },
    async execute({ index }) {
      made.push(index as number);
      await sleep(ms);
      return `made ${index}`;
    },
  });
  const steps = Array.from({ length: count }, (_, index) => ({ calls: [{ name: "make", args: { index } }] }));
  return { provider: new ScriptedProvider([...steps, "All made."]), tools: new ToolRegistry([make]) };
}

const inOrder = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe.skipIf(!hasPostgres)("a database that refuses for a while", () => {
  test("because it is read-only: the run waits and goes on, with every call made once", async () => {
    const made: number[] = [];
    const runs = await work(maker(6, 100, made));
    const id = await runs.start("helper", "Make them.");
    await expect.poll(() => made.length).toBe(2);
    await setReadOnly(true);
    // Longer than the lease.
    await sleep(2_000);
    await expect(runs.start("helper", "More.")).rejects.toMatchObject({
      ...{ code: "network", retryable: true },
      message: expect.stringContaining("cannot be used now: cannot execute"),
    });
    await setReadOnly(false);
    expect(await runs.result(id)).toBe("All made.");
    expect(made).toEqual(inOrder(6));
    expect(await runs.get(id)).toMatchObject({ status: "done", attempts: 1 });
  });

  test("because it is read-only when a run is queued and taken: no run is left behind", async () => {
    const made: number[] = [];
    const agent = maker(1, 10, made);
    const runs = await work({ ...agent, provider: new ScriptedProvider(Array(8).fill("Done.")) });
    const ids = inOrder(8).map((index) => `r${index}`);
    for (const id of ids) {
      await expect.poll(() => runs.start("helper", "Hello.", { id }).catch(() => undefined)).toBe(id);
      await setReadOnly(true);
      await sleep(150);
      await setReadOnly(false);
    }
    for (const id of ids) expect(await runs.result(id)).toBe("Done.");
  });

  test("because queries are cancelled: the run goes on, with every call made once", async () => {
    const made: number[] = [];
    const runs = await work(maker(12, 50, made));
    const id = await runs.start("helper", "Make them.");
    const result = runs.result(id);
    const ended = new AbortController();
    const cancelling = (async () => {
      while (!ended.signal.aborted) {
        await cancelQueries();
        await sleep(5);
      }
    })();
    expect(await result.finally(() => ended.abort())).toBe("All made.");
    await cancelling;
    expect(made).toEqual(inOrder(12));
  });

  test("a turn that is a living worker's, and that it does not run, is queued again with its next beat", async () => {
    const provider = new ScriptedProvider([() => sleep(3_000).then(() => "One."), "Two."]);
    const runs = await work({ provider }, { schema: "stray", limits: { worker: { concurrency: 1 } } });
    const first = await runs.start("helper", "Hello.");
    await expect.poll(() => provider.requests.length).toBe(1);
    const second = await runs.start("helper", "Hello.");
    // As if the answer to what took it had been lost.
    await admin.query(
      `UPDATE stray.workflow_status SET status = 'PENDING', owner_xid = 'lost', recovery_attempts = 1,
         executor_id = (SELECT id FROM stray.agent_workers), application_version = (SELECT version FROM stray.agent_workers)
       WHERE workflow_uuid = $1`,
      [second],
    );
    expect(await runs.result(first)).toBe("One.");
    expect(await runs.result(second)).toBe("Two.");
    expect(await runs.get(second)).toMatchObject({ attempts: 1 });
  });
});
