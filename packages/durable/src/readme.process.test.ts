import { testReadme } from "@toolcrib/testing";
import { hasPostgres } from "@toolcrib/testing/postgres";
import { server } from "../fixtures/runs.ts";

if (hasPostgres) process.env.DATABASE_URL = server().databaseUrl;

const said = "as its comments say";
const pages = [
  ["../README.md", ["run.ts", "approve.ts"]],
  ["../../../docs/src/content/docs/guides/durable.md", ["program.ts"]],
] as const;
for (const [path, names] of pages) {
  const expected = Object.fromEntries(names.map((name) => [name, said] as const));
  testReadme(new URL(path, import.meta.url), expected, hasPostgres ? [] : names);
}
