import { testReadme } from "@toolcrib/testing";
import { hasPostgres } from "@toolcrib/testing/postgres";
import { server } from "../fixtures/runs.ts";

if (hasPostgres) process.env.DATABASE_URL = server().databaseUrl;

const said = "as its comments say";
const expected = { "run.ts": said, "approve.ts": said, "program.ts": said } as const;
testReadme(new URL("../README.md", import.meta.url), expected, hasPostgres ? [] : Object.keys(expected));
