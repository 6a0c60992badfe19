import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { mounted, path, scripted, temporaryFile } from "../../../fixtures/mounting.ts";
import { mountMcp } from "../mountMcp.ts";
import type { McpServerConfig } from "../serverConfig.ts";
import { ProcessTransport } from "./processTransport.ts";

const patience = { timeout: 60_000 };

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that nobody has collected yet is not running.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

interface Stubborn {
  entry: McpServerConfig;
  /** The server and its child, once they run. */
  pids(): Promise<number[]>;
  ended(): Promise<void>;
}

async function stubborn(...args: string[]): Promise<Stubborn> {
  const file = await temporaryFile("pids");
  const read = (): number[] => (existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as number[]) : []);
  onTestFinished(async () => {
    for (const pid of read()) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  });
  return {
    entry: { command: process.execPath, args: [path("stubbornServer.mjs"), file, ...args] },
    async pids() {
      await expect.poll(() => existsSync(file), patience).toBe(true);
      const pids = read();
      expect(pids.map(isRunning)).toEqual([true, true]);
      return pids;
    },
    ended: () => expect.poll(() => read().filter(isRunning), patience).toEqual([]),
  };
}

test("a server that ignores the end of its input and SIGTERM ends with its children: at close, after the limit, at an abort", async () => {
  // Together, as most of the time is spent waiting for the servers to end by themselves.
  const close = async (): Promise<void> => {
    const server = await stubborn();
    const { mount } = await mounted({ s: server.entry });
    expect(mount.problems).toEqual([]);
    await server.pids();
    await mount.close();
    await server.ended();
  };
  const limit = async (): Promise<void> => {
    const server = await stubborn("silent");
    const { mount } = await mounted({ s: server.entry }, { startTimeoutMs: 2000 });
    expect(mount.problems).toMatchObject([{ code: "server_failed" }]);
    await server.ended();
  };
  const abort = async (): Promise<void> => {
    const server = await stubborn("silent");
    const controller = new AbortController();
    const mounting = mountMcp({ mcpServers: { s: server.entry } }, { signal: controller.signal });
    const refused = expect(mounting).rejects.toThrow("enough");
    await server.pids();
    controller.abort(new Error("enough"));
    await refused;
    await server.ended();
  };
  await Promise.all([close(), limit(), abort()]);
});

test("a child that a server leaves behind ends with it", async () => {
  const server = await stubborn();
  await mounted({ s: server.entry });
  const [leader = 0] = await server.pids();
  process.kill(leader, "SIGKILL");
  await server.ended();
});

test("a server that ignores signals ends with the program that mounted it, however that ends", async () => {
  const endBy = async (way: "SIGTERM" | "SIGKILL" | "exit"): Promise<void> => {
    const server = await stubborn();
    const { command, args = [] } = server.entry as { command: string; args?: string[] };
    const host = fork(path("host.ts"), [command, ...args], {
      execArgv: ["--import", path("sources.mjs")],
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    onTestFinished(() => void host.kill("SIGKILL"));
    const exited = once(host, "exit");
    expect(String((await once(host.stdout as NodeJS.ReadableStream, "data"))[0])).toBe("mounted\n");
    await server.pids();
    if (way === "exit") host.send("exit");
    else host.kill(way);
    const [code, signal] = await exited;
    expect(way === "exit" ? code : signal).toBe(way === "exit" ? 0 : way);
    await server.ended();
  };
  await Promise.all((["SIGTERM", "SIGKILL", "exit"] as const).map(endBy));
});

test("a pipe that breaks before the end of its process is known: who asks for the end waits for it, and for all that was written", async () => {
  const script = `
    process.stdin.destroy();
    process.on("SIGTERM", () => process.stderr.write("x".repeat(1e6) + "last words", () => process.exit(4)));
    setInterval(() => {}, 1000);
    console.error("ready");`;
  const { command, args = [] } = scripted(script) as { command: string; args?: string[] };
  const transport = new ProcessTransport({ command, args, env: {} }, 1000);
  onTestFinished(() => transport.close());
  await transport.start();
  const said = (): string => transport.errors.toText((text) => text);
  await expect.poll(said, patience).toContain("ready");
  const ended = transport.whenExited().then(() => [transport.exitReason, said().slice(-10)]);
  expect(transport.exitReason).toBeUndefined();
  process.kill(Number(transport.pid), "SIGTERM");
  expect(await ended).toEqual(["ended with exit code 4", "last words"]);
});
