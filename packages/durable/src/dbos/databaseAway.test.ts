import { execFile, spawn } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { hasPostgres } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { shareServer } from "../../fixtures/runs.ts";

const shared = shareServer();
const { work } = shared;

/** As the user that started the server: PostgreSQL refuses to run as root. */
const asOwner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** Stops the server as a crash would; returns what starts it again. */
async function stopServer(): Promise<() => Promise<void>> {
  const { pid } = shared.server;
  const folder = readlinkSync(`/proc/${pid}/cwd`);
  const command = readFileSync(join(folder, "postmaster.opts"), "utf8").trim();
  const bin = dirname(command.split(" ")[0] ?? "");
  const run = (name: string, args: string[]): Promise<unknown> =>
    promisify(execFile)(join(bin, name), args, { ...asOwner, cwd: "/" });
  await run("pg_ctl", ["stop", "-s", "-w", "-m", "immediate", "-D", folder]);
  return async () => {
    spawn("/bin/sh", ["-c", `exec ${command}`], { ...asOwner, cwd: "/", stdio: "ignore", detached: true }).unref();
    const { port } = new URL(shared.server.databaseUrl);
    await expect
      .poll(() =>
        run("pg_isready", ["-q", "-h", "127.0.0.1", "-p", port]).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  };
}

describe.skipIf(!hasPostgres)("a database that goes away", () => {
  test("a run goes on when the database is back, with every call made once", async () => {
    const made: number[] = [];
    const count = 8;
    const make = defineTool({
      name: "make",
      description: "Makes one.",
      parameters: { type: "object", properties: { index: { type: "number" } } },
      async execute({ index }) {
        made.push(index as number);
        await sleep(150);
        return `made ${index}`;
      },
    });
    const steps = Array.from({ length: count }, (_, index) => ({ calls: [{ name: "make", args: { index } }] }));
    const provider = new ScriptedProvider([...steps, "All made."]);
    const warnings: string[] = [];
    const agent = { provider, tools: new ToolRegistry([make]) };
    const runs = await work(agent, { onWarning: (message) => warnings.push(message) });
    const id = await runs.start("helper", "Make them.");
    const result = runs.result(id);
    await expect.poll(() => made.length).toBe(2);
    const start = await stopServer();
    // Longer than the lease: nobody is taken for dead because the server was.
    await sleep(2_000);
    expect(made.length).toBeLessThan(count);
    await start();
    expect(await result).toBe("All made.");
    expect(made).toEqual(Array.from({ length: count }, (_, index) => index));
    expect(await runs.get(id)).toMatchObject({ status: "done", attempts: 1 });
    expect(warnings.length).toBeGreaterThan(0);
  });
});
