import { hasPostgres, type PostgresServer, startPostgres, testReadme } from "@toolcrib/testing";
import { afterAll, beforeAll } from "vitest";

let server: PostgresServer | undefined;

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
  process.env.DATABASE_URL = server?.databaseUrl;
});
afterAll(async () => {
  await server?.stop();
});

const expected = { "run.ts": "as its comments say", "approve.ts": "as its comments say" } as const;
testReadme(new URL("../README.md", import.meta.url), expected, hasPostgres ? [] : Object.keys(expected));
