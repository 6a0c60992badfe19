import { ScriptedProvider } from "@toolcrib/agent/testing";
import { hasPgBouncer, startPgBouncer } from "@toolcrib/testing/pgBouncer";
import { hasPostgres } from "@toolcrib/testing/postgres";
import { describe, expect, onTestFinished, test } from "vitest";
import { server, shareServer, toolOf } from "../../fixtures/runs.ts";

const { openRuns } = shareServer();

/** Runs eight agents that each ask twice, within the limit of one provider; returns their answers. */
async function runSome(databaseUrl: string): Promise<readonly string[]> {
  const helper = () => ({
    provider: new ScriptedProvider([{ calls: [{ name: "note", args: {} }] }, "Done."]),
    tools: toolOf("note", () => "noted"),
  });
  const limits = {
    providers: { [new ScriptedProvider([]).name]: { concurrency: 2 } },
    tenant: { concurrency: 3 },
  };
  const runs = await openRuns({ databaseUrl, agents: { helper }, limits });
  await runs.work();
  const starts = Array.from({ length: 8 }, (_, index) => runs.start("helper", "Hello.", { tenant: `t${index % 2}` }));
  return await Promise.all((await Promise.all(starts)).map((id) => runs.result(id)));
}

test.skipIf(!hasPgBouncer || !hasPostgres)(
  "behind a pooler that lends connections for a transaction, runs take their turns within their limits",
  async () => {
    const pooler = await startPgBouncer(server().databaseUrl, ["default_pool_size = 5"]);
    onTestFinished(() => pooler.stop());
    expect(await runSome(pooler.databaseUrl)).toEqual(Array(8).fill("Done."));
  },
);

describe.skipIf(!hasPostgres)("over TLS", () => {
  test("runs take their turns", async () => {
    const { databaseUrl, certificate } = server();
    const url = `${databaseUrl}?sslmode=verify-full&sslrootcert=${certificate}`;
    expect(await runSome(url)).toEqual(Array(8).fill("Done."));
  });

  test("a certificate that nobody vouches for is refused in words", async () => {
    await expect(openRuns({ databaseUrl: `${server().databaseUrl}?sslmode=verify-full` })).rejects.toMatchObject({
      code: "authentication",
      message: expect.stringMatching(/self-signed certificate.*sslrootcert=/),
    });
  });
});
