import { testReadme } from "@toolcrib/testing";
import { hasPostgres } from "@toolcrib/testing/postgres";
import { server } from "../fixtures/runs.ts";

if (hasPostgres) process.env.DATABASE_URL = server().databaseUrl;

const expected = { "run.ts": "as its comments say", "approve.ts": "as its comments say" } as const;
testReadme(new URL("../README.md", import.meta.url), expected, hasPostgres ? [] : Object.keys(expected));
