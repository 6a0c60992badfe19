import { AgentError, type AgentErrorCode } from "@toolcrib/agent";
import { isObject, messageOf } from "@toolcrib/core/text";
import { invalid } from "../checkInput.ts";
import { type Database, databaseOf, openPool } from "./database.ts";
import type { Engine } from "./loadEngine.ts";
import { createTables } from "./tables.ts";

const startOne = "docker run --detach --publish 5432:5432 --env POSTGRES_PASSWORD=secret postgres:17";

/** Opens the database, and makes the tables in it where there are none. */
export async function openDatabase(
  engine: Engine,
  { databaseUrl: url, schema: schemaName, connections }: { databaseUrl: string; schema: string; connections: number },
): Promise<Database> {
  const address = readAddress(url);
  const pool = openPool(engine, url, { max: connections });
  const database = databaseOf(pool, url, schemaName);
  try {
    await pool.query("SELECT 1");
    await createTables(engine, database);
    return database;
  } catch (cause) {
    await pool.end();
    throw explain(cause, address);
  }
}

/** The address as errors show it: without user and password. */
function readAddress(url: unknown): string {
  const example = "postgresql://postgres:secret@localhost:5432/postgres";
  try {
    const { protocol, host, pathname, searchParams } = new URL(String(url));
    if (protocol === "postgres:" || protocol === "postgresql:")
      return `${host || (searchParams.get("host") ?? "localhost")}${pathname}`;
  } catch {
    // Worded below.
  }
  throw invalid(`databaseUrl must be the address of a PostgreSQL database, such as ${example}.`);
}

function explain(cause: unknown, address: string): unknown {
  const code = isObject(cause) ? String(cause.code) : "";
  const [kind, advice] = adviceFor(code, messageOf(cause));
  if (kind === undefined) return cause;
  const said = messageOf(cause) || code;
  const message = `The PostgreSQL database at ${address} cannot be used: ${said}. ${advice}`;
  return new AgentError({ code: kind, message, cause });
}

/** What to do, by the code of PostgreSQL or of the system. */
function adviceFor(code: string, message: string): readonly [AgentErrorCode, string] | readonly [] {
  if (code === "28P01" || code === "28000")
    return ["authentication", "Check the user and the password in databaseUrl."];
  if (code === "3D000") return ["not_found", "Make the database with createdb, or name another in databaseUrl."];
  if (code === "42501") return ["authentication", "Let its user create a schema, or make the tables as another user."];
  if (/^E[A-Z]+$/.test(code) || /timeout|terminated/i.test(message))
    return ["network", `Check databaseUrl, or start a server, for example: ${startOne}`];
  return [];
}
