import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import {
  hasPgBouncer,
  hasPostgres,
  type PgBouncer,
  type PostgresServer,
  startPgBouncer,
  startPostgres,
} from "@toolcrib/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { DurableRuns } from "../run.ts";
import { durable } from "./durable.ts";
import type { DurableOptions } from "./options.ts";

let server: PostgresServer | undefined;
let pooler: PgBouncer | undefined;
const open: DurableRuns[] = [];

beforeAll(async () => {
  if (!hasPostgres) return;
  server = await startPostgres({ tls: true });
  if (server && hasPgBouncer) pooler = await startPgBouncer(server.databaseUrl, ["default_pool_size = 5"]);
});
afterEach(async () => {
  for (const runs of open.splice(0)) await runs.close();
});
afterAll(async () => {
  await pooler?.stop();
  await server?.stop();
});

const note = defineTool({
  name: "note",
  description: "Takes a note.",
  parameters: { type: "object", properties: {} },
  execute: () => "noted",
});

/** Runs eight agents that each ask twice, within the limit of one provider; returns their answers. */
async function runSome(databaseUrl: string): Promise<readonly string[]> {
  const helper = () => {
    const provider = new ScriptedProvider([{ calls: [{ name: "note", args: {} }] }, "Done."]);
    return { provider, tools: new ToolRegistry([note]) };
  };
  const limits: DurableOptions["limits"] = {
    providers: { [new ScriptedProvider([]).name]: { concurrency: 2 } },
    tenant: { concurrency: 3 },
  };
  const runs = await durable({ databaseUrl, agents: { helper }, limits, leaseMs: 900, closeMs: 500 });
  open.push(runs);
  await runs.work();
  const ids: string[] = [];
  for (let index = 0; index < 8; index += 1)
    ids.push(await runs.start("helper", "Hello.", { tenant: `t${index % 2}` }));
  return await Promise.all(ids.map((id) => runs.result(id)));
}

describe.skipIf(!hasPgBouncer || !hasPostgres)("behind a pooler that lends connections for a transaction", () => {
  test("runs take their turns within their limits", async () => {
    expect(await runSome(pooler?.databaseUrl ?? "")).toEqual(Array(8).fill("Done."));
  });
});

describe.skipIf(!hasPostgres)("over TLS", () => {
  test("runs take their turns", async () => {
    const url = `${server?.databaseUrl}?sslmode=verify-full&sslrootcert=${server?.certificate}`;
    expect(await runSome(url)).toEqual(Array(8).fill("Done."));
  });

  test("a certificate that nobody vouches for is refused in words", async () => {
    await expect(durable({ databaseUrl: `${server?.databaseUrl}?sslmode=verify-full` })).rejects.toMatchObject({
      code: "authentication",
      message: expect.stringMatching(/self-signed certificate.*sslrootcert=/),
    });
  });

  test("a server without it is refused in words", async () => {
    const plain = await startPostgres();
    try {
      await expect(durable({ databaseUrl: `${plain?.databaseUrl}?sslmode=verify-full` })).rejects.toMatchObject({
        code: "network",
        message: expect.stringContaining("Turn TLS on at the server"),
      });
    } finally {
      await plain?.stop();
    }
  });
});
