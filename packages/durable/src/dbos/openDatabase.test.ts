import { once } from "node:events";
import { createServer, type Server } from "node:net";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { checkVersion, type Engine } from "./loadEngine.ts";
import { openDatabase } from "./openDatabase.ts";
import { type DurableOptions, readSettings } from "./options.ts";

const open = (databaseUrl: string): Promise<unknown> =>
  openDatabase({ pg } as Engine, { databaseUrl, schema: "s", connections: 2 });

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

test.each<object>([
  ...[{ leaseMs: 1 }, { leaseMs: "9" }, { closeMs: 0 }, { connections: 1 }, { maxAttempts: 0 }],
  ...[{ agents: [] }, { agents: { a: {} } }, { database: "" }, { onWarning: 1 }, { tracing: {} }],
  ...[{ schema: "" }, { schema: 'we"ird; drop' }, { schema: "\u00e9".repeat(40) }, { retention: { days: 0 } }],
  ...[3, { tenants: {} }, { providers: [] }, { worker: { concurrency: 1.5 } }].map((limits) => ({ limits })),
  ...[{ concurrency: 0 }, { perminute: 1 }].map((a) => ({ limits: { providers: { a } } })),
])("the options %j are refused in words", (options) => {
  const given = { databaseUrl: "postgresql://localhost/x", ...options } as DurableOptions;
  expect(() => readSettings(given)).toThrow(expect.objectContaining({ code: "invalid_option" }));
});

test.each([undefined, "mysql://x/y", "x", 7])("%j is no address of a database", async (url) => {
  await expect(open(url as string)).rejects.toMatchObject({ code: "invalid_option" });
});

test("a server that is not there is told without its password", async () => {
  const server = createServer();
  const port = await portOf(server);
  server.close();
  await once(server, "close");
  const error = await open(`postgresql://user:hush@127.0.0.1:${port}/db`).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "network", message: expect.stringContaining("docker run") });
  expect(String(error)).not.toContain("hush");
});

test("a server without TLS is told in words", async () => {
  // To the request for TLS, PostgreSQL answers with one letter.
  const server = createServer((socket) => void socket.once("data", () => socket.end("N")).on("error", () => {}));
  const url = `postgresql://user@127.0.0.1:${await portOf(server)}/db?sslmode=verify-full`;
  const message = expect.stringContaining("Turn TLS on at the server");
  await expect(open(url)).rejects.toMatchObject({ code: "network", message });
});

test.each(["4.26.10", "5.2.11", "6.0.0", "5.2.0-preview"])(
  "version %s of the engine is refused in words",
  (version) => {
    const message = expect.stringMatching(
      /need @dbos-inc\/dbos-sdk \^5\.3\.0, and version \S+ is installed\. Run: npm install/,
    );
    expect(() => checkVersion(version)).toThrow(expect.objectContaining({ code: "missing_sdk", message }));
  },
);

test.each(["5.3.0", "5.4.1", "5.10.0"])("version %s of the engine is taken", (version) => {
  expect(() => checkVersion(version)).not.toThrow();
});
