import { fileURLToPath } from "node:url";
import { hasPostgres, startPostgres } from "@toolcrib/testing/postgres";
import { startProgram } from "@toolcrib/testing/startProgram";
import { Database } from "@toolcrib/testing-agent/durable/database";
import { expect, onTestFinished, test } from "vitest";

const demo = fileURLToPath(new URL("../../agent/src/durable/demo.ts", import.meta.url));

test.skipIf(!hasPostgres)(
  "the demo ends by itself, keeps what it promises and leaves nothing in the server of DATABASE_URL",
  async () => {
    const server = await startPostgres();
    if (!server) throw new Error("no server");
    onTestFinished(() => server.stop());
    const { ended } = startProgram(demo, [], { cwd: "/", env: { DATABASE_URL: server.databaseUrl } });
    const { code, stdout, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("160 of 160 steps are recorded, each once.");
    expect(stdout).toContain("No finished step ran twice.");
    const database = new Database(server.databaseUrl);
    const names = await database.query<{ datname: string }>("select datname from pg_database order by 1");
    await database.end();
    expect(names.map(({ datname }) => datname)).toEqual(["postgres", "template0", "template1"]);
  },
);
