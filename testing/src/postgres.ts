import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface PostgresOptions {
  /** Wait for the disk at each commit, as in production. Without it the server is quicker and a crash of the machine loses data. */
  readonly durable?: boolean;
  /** Further settings by name, as in `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Speak TLS, by a certificate of its own for 127.0.0.1. */
  readonly tls?: boolean;
}

export interface PostgresServer {
  /** Address of the database `postgres`, as a superuser. */
  readonly databaseUrl: string;
  /** With `tls`: the file of the certificate that clients may trust. */
  readonly certificate?: string;
  /** The process whose children serve the connections. */
  readonly pid: number;
  /** Ends the server as a crash would, and starts it again. */
  restart(): Promise<void>;
  /** Makes an empty database. Returns its address. */
  createDatabase(name: string): Promise<string>;
  /** Stops the server and removes its folder. Both also happen when this process dies. */
  stop(): Promise<void>;
}

const installed = "/usr/lib/postgresql";
const user = "toolcrib";

/** The folder with `initdb` and `postgres` of Debian's newest PostgreSQL. */
function programs(): string | undefined {
  if (!existsSync(installed)) return undefined;
  const versions = readdirSync(installed).sort((one, other) => Number(other) - Number(one));
  return versions.map((version) => join(installed, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));
}

export const hasPostgres = programs() !== undefined;

/** The end of its standard input, which comes with the end of this process, ends the server. */
const script = `
set -eu
bin=$1 folder=$2 settings=$3
trap '"$bin/pg_ctl" stop -s -m immediate -D "$folder/data" || true; rm -rf "$folder"' EXIT
"$bin/initdb" -D "$folder/data" -U ${user} -A scram-sha-256 --pwfile="$folder/password" --no-sync --no-locale -E UTF8 >/dev/null
"$bin/pg_ctl" start -s -w -D "$folder/data" -l "$folder/log" -o "$settings" || { cat "$folder/log" >&2; exit 1; }
echo ready
read -r _ || true
`;

/** PostgreSQL as Debian packs it refuses to run as root: this is Debian's `nobody`. */
export const unprivileged:
  | { readonly uid: number; readonly gid: number }
  | { readonly uid?: undefined; readonly gid?: undefined } = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/**
 * Starts a PostgreSQL server of its own on 127.0.0.1, in a folder for temporary files. Resolves to undefined, with a line on
 * standard error, where Debian's package `postgresql` is not installed.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer | undefined> {
  const bin = programs();
  if (bin === undefined) {
    console.error(`No PostgreSQL in ${installed}. Install Debian's package postgresql.`);
    return undefined;
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(bin, options);
    } catch (error) {
      // Another process may have taken the port since it was found free.
      if (attempt === 3) throw error;
    }
  }
}

async function start(
  bin: string,
  { durable = false, settings = {}, tls = false }: PostgresOptions,
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-postgres-"));
  const password = randomBytes(16).toString("hex");
  const port = await freePort();
  writeFileSync(join(folder, "password"), password, { mode: 0o600 });
  const { uid, gid } = unprivileged;
  if (uid !== undefined) for (const path of [folder, join(folder, "password")]) chownSync(path, uid, gid);
  const certificate = tls ? makeCertificate(folder) : undefined;
  const all = {
    ...(certificate && { ssl: "on", ssl_cert_file: certificate, ssl_key_file: join(folder, "server.key") }),
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    ...(!durable && { fsync: "off", full_page_writes: "off" }),
    ...settings,
  };
  const flags = Object.entries(all).map(([name, value]) => `-c ${name}='${value}'`);
  const keeper = spawn("/bin/sh", ["-c", script, "sh", bin, folder, flags.join(" ")], {
    ...unprivileged,
    cwd: "/",
    // Ctrl-C on a terminal goes to the programs of the foreground: the tests end first, then the server.
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  try {
    await ready(keeper);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  const data = join(folder, "data");
  const address = (database: string): string => `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;
  return {
    databaseUrl: address("postgres"),
    ...(certificate && { certificate }),
    get pid() {
      return Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
    },
    async restart() {
      const args = ["restart", "-s", "-w", "-m", "immediate", "-D", data, "-l", join(folder, "log")];
      await promisify(execFile)(join(bin, "pg_ctl"), args, { ...unprivileged, cwd: "/" });
    },
    async createDatabase(name) {
      const environment = { ...process.env, PGPASSWORD: password };
      const where = ["-h", "127.0.0.1", "-p", String(port), "-U", user];
      await promisify(execFile)(join(bin, "createdb"), [...where, name], { env: environment });
      return address(name);
    },
    stop: () => stop(keeper),
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Makes a key that only the server may read, and its certificate; returns the file of the latter. */
function makeCertificate(folder: string): string {
  const [key, certificate] = [join(folder, "server.key"), join(folder, "server.crt")];
  const names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate];
  execFileSync("openssl", [...args, ...names], { stdio: "ignore" });
  const { uid, gid } = unprivileged;
  if (uid !== undefined) for (const path of [key, certificate]) chownSync(path, uid, gid);
  return certificate;
}

/** Waits for the word `ready`. Then the keeper no longer holds up the end of this process. */
async function ready(keeper: ChildProcess): Promise<void> {
  let said = "";
  keeper.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  await new Promise<void>((resolve, reject) => {
    keeper.once("error", reject);
    keeper.once("close", () => reject(new Error(`PostgreSQL did not start: ${said.trim()}`)));
    keeper.stdout?.once("data", () => resolve());
  });
  keeper.unref();
  for (const stream of [keeper.stdin, keeper.stdout, keeper.stderr]) unref(stream);
}

function unref(stream: unknown): void {
  if (typeof stream === "object" && stream !== null && "unref" in stream) (stream as { unref(): void }).unref();
}

async function stop(keeper: ChildProcess): Promise<void> {
  if (keeper.exitCode !== null || keeper.signalCode !== null) return;
  keeper.ref();
  const ended = once(keeper, "exit");
  keeper.stdin?.end();
  await ended;
}
