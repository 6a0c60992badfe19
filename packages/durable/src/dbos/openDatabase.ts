import { AgentError, type AgentErrorCode } from "@toolcrib/agent";
import { isObject, messageOf } from "@toolcrib/core/text";
import { invalid } from "../checkInput.ts";
import { connectionConfig, type Database, databaseOf, openPool } from "./database.ts";
import type { Engine } from "./loadEngine.ts";
import { isTransient } from "./retry.ts";
import { createTables } from "./tables.ts";

const startOne = "docker run --detach --publish 5432:5432 --env POSTGRES_PASSWORD=secret postgres:17";

/** Opens the database, and makes the tables in it where there are none. */
export async function openDatabase(
  engine: Engine,
  { databaseUrl: url, schema: schemaName, connections }: { databaseUrl: string; schema: string; connections: number },
): Promise<Database> {
  const address = readAddress(url);
  const open = async (isPooled: boolean): Promise<Database> => {
    const config = connectionConfig(url, isPooled);
    const pool = openPool(engine, config, { max: connections });
    try {
      const database = databaseOf(pool, config, schemaName);
      await pool.query("SELECT 1");
      await createTables(database);
      return database;
    } catch (error) {
      await pool.end();
      throw error;
    }
  };
  try {
    return await open(false).catch((error: unknown) => {
      if (!isFromPooler(error)) throw error;
      return open(true);
    });
  } catch (cause) {
    throw explain(cause, address);
  }
}

/** Returns whether a pooler such as PgBouncer refused a setting of the connection, which PostgreSQL itself takes. */
function isFromPooler(error: unknown): boolean {
  return isObject(error) && error.code === "08P01" && /startup parameter/i.test(messageOf(error));
}

/** Returns the address as errors show it: without user and password. */
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
  const [kind, advice] = adviceFor(cause, code);
  if (kind === undefined) return cause;
  const said = messageOf(cause) || code;
  const message = `The PostgreSQL database at ${address} cannot be used: ${said}. ${advice}`;
  return new AgentError({ code: kind, message, cause, retryable: kind === "network" });
}

/** Says what to do, by the code of PostgreSQL or of the system. */
function adviceFor(cause: unknown, code: string): readonly [AgentErrorCode, string] | readonly [] {
  const message = messageOf(cause);
  if (code === "28P01" || code === "28000")
    return ["authentication", "Check the user and the password in databaseUrl."];
  if (code === "3D000") return ["not_found", "Create the database with createdb, or name another one in databaseUrl."];
  if (code === "42501")
    return ["authentication", "Let its user create a schema, or create the tables as another user."];
  if (/^(?:ERR_TLS|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|CERT_)/.test(code))
    return [
      "authentication",
      "Name the authority of its certificate in databaseUrl: ?sslmode=verify-full&sslrootcert=FILE.",
    ];
  if (/does not support SSL|SSL is not enabled/i.test(message))
    return ["network", "Turn TLS on at the server, or leave sslmode out of databaseUrl."];
  if (/^E[A-Z]+$/.test(code) || /timeout|terminated/i.test(message))
    return ["network", `Check databaseUrl, or start a server, for example: ${startOne}`];
  if (code === "25006") return ["network", "It is read-only, as a replica is: name the primary server in databaseUrl."];
  if (isTransient(cause)) return ["network", "Try again later."];
  return [];
}
