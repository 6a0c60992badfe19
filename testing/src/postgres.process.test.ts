import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { hasPostgres, startPostgres } from "./postgres.ts";

const ask = (databaseUrl: string, sql: string): string =>
  execFileSync("psql", [databaseUrl, "-Atc", sql], { encoding: "utf8", stdio: "pipe" }).trim();

const runs = (pid: number): boolean => existsSync(`/proc/${pid}`);

test.skipIf(!hasPostgres)("a server answers, has databases of its own, and leaves nothing behind", async () => {
  const server = await startPostgres();
  if (!server) throw new Error("no server");
  const { pid } = server;
  const folder = ask(server.databaseUrl, "show data_directory");
  expect(ask(server.databaseUrl, "show fsync")).toBe("off");
  const other = await server.createDatabase("other");
  expect(ask(other, "select current_database()")).toBe("other");
  expect(() => ask(other.replace(/:[0-9a-f]+@/, ":wrong@"), "select 1")).toThrow("password");
  await server.stop();
  await server.stop();
  expect(existsSync(folder)).toBe(false);
  await expect.poll(() => runs(pid)).toBe(false);
});

test.skipIf(!hasPostgres)("the server of a process that is killed ends too", async () => {
  const module = new URL("postgres.ts", import.meta.url).href;
  const program = `const { startPostgres } = await import(${JSON.stringify(module)});
    const server = await startPostgres({ durable: true, settings: { max_connections: 7 } });
    console.log(JSON.stringify(server));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  const { databaseUrl, pid } = JSON.parse(line) as { databaseUrl: string; pid: number };
  const folder = ask(databaseUrl, "show data_directory");
  expect([ask(databaseUrl, "show fsync"), ask(databaseUrl, "show max_connections")]).toEqual(["on", "7"]);
  child.kill("SIGKILL");
  await expect.poll(() => [runs(pid), existsSync(folder)]).toEqual([false, false]);
});
