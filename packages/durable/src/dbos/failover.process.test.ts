import { setTimeout as sleep } from "node:timers/promises";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { hasPostgres } from "@toolcrib/testing/postgres";
import type pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newSchema, openAdmin, shareServer, toolOf } from "../../fixtures/runs.ts";

const { work } = shareServer();
let admin: pg.Client;

beforeEach(async () => {
  if (hasPostgres) admin = await openAdmin();
});
afterEach(() => setReadOnly(false));

/** Makes a server fail over: it still answers, and takes no writes. */
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
  const tools = toolOf("make", async ({ index }) => {
    made.push(Number(index));
    await sleep(ms);
    return `made ${index}`;
  });
  const steps = inOrder(count).map((index) => ({ calls: [{ name: "make", args: { index } }] }));
  return { provider: new ScriptedProvider([...steps, "All made."]), tools };
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
    await sleep(1_500);
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
    const runs = await work({ ...agent, provider: new ScriptedProvider(Array(4).fill("Done.")) });
    const ids = inOrder(4).map((index) => `r${index}`);
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
    const runs = await work(maker(8, 50, made));
    const id = await runs.start("helper", "Make them.");
    const result = runs.result(id);
    const ended = new AbortController();
    const cancelling = (async () => {
      while (!ended.signal.aborted) {
        await cancelQueries();
        await sleep(20);
      }
    })();
    expect(await result.finally(() => ended.abort())).toBe("All made.");
    await cancelling;
    expect(made).toEqual(inOrder(8));
  });

  test("a turn that is a living worker's, and that it does not run, is queued again with its next beat", async () => {
    const provider = new ScriptedProvider([() => sleep(1_500).then(() => "One."), "Two."]);
    const schema = newSchema();
    const runs = await work({ provider }, { schema, limits: { worker: { concurrency: 1 } } });
    const first = await runs.start("helper", "Hello.");
    await expect.poll(() => provider.requests.length).toBe(1);
    const second = await runs.start("helper", "Hello.");
    // As if the answer to what took it had been lost.
    await admin.query(
      `UPDATE ${schema}.workflow_status SET status = 'PENDING', owner_xid = 'lost', recovery_attempts = 1,
         executor_id = (SELECT id FROM ${schema}.agent_workers), application_version = (SELECT version FROM ${schema}.agent_workers)
       WHERE workflow_uuid = $1`,
      [second],
    );
    expect(await runs.result(first)).toBe("One.");
    expect(await runs.result(second)).toBe("Two.");
    expect(await runs.get(second)).toMatchObject({ attempts: 1 });
  });
});
