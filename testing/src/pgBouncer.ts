import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { freePort, unprivileged } from "./postgres.ts";

const program = "/usr/sbin/pgbouncer";

/** True if Debian's package `pgbouncer` is installed. */
export const hasPgBouncer: boolean = existsSync(program);

/** A pooler before a PostgreSQL server. */
export interface PgBouncer {
  /** The address of the database behind it. */
  readonly databaseUrl: string;
  stop(): Promise<void>;
}

/** Starts PgBouncer on 127.0.0.1 before the database at `databaseUrl`; it lends a connection for a transaction at a time. */
export async function startPgBouncer(databaseUrl: string, settings: readonly string[] = []): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-pgbouncer-"));
  const { hostname, port: behind, username, password, pathname } = new URL(databaseUrl);
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `* = host=${hostname} port=${behind} user=${username} password=${password}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "max_client_conn = 200",
    ...settings,
  ];
  writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o600 });
  const { uid, gid } = unprivileged;
  if (uid !== undefined) for (const path of [folder, file]) chownSync(path, uid, gid);
  // It ends with this process, by the end of its parent's standard input, and its signal does so at once.
  const script = `"$1" -q "$2" & child=$!; trap 'kill "$child"' TERM; { read -r _ || true; kill "$child"; } <&3 & wait "$child"`;
  const keeper = spawn("/bin/sh", ["-c", `exec 3<&0; ${script}`, "sh", program, file], {
    ...unprivileged,
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = once(keeper, "exit");
  const address = `postgresql://${username}:${password}@127.0.0.1:${port}${pathname}`;
  const stop = async (): Promise<void> => {
    keeper.stdin?.end();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({ connectionString: address });
    try {
      await client.connect();
      await client.end();
      return { databaseUrl: address, stop };
    } catch (error) {
      if (attempt === 100 || keeper.exitCode !== null) {
        await stop();
        throw error;
      }
      await sleep(50);
    }
  }
}
