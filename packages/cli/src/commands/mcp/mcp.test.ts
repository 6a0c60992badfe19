import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ToolRegistry } from "@toolcrib/core";
import { type McpServerConfig, mountMcp } from "@toolcrib/mcp";
import {
  answerWith,
  compileCache,
  type ProgramEnd,
  startProgram,
  temporaryFolder,
  WireServer,
  writeIn,
} from "@toolcrib/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bin, command } from "../../../fixtures/command.ts";
import { plainServer, tool } from "../../../fixtures/servers.ts";

let folder = "";
let state = "";
const cleanups: (() => unknown)[] = [];

beforeEach(() => {
  folder = temporaryFolder("mcp");
  state = temporaryFolder("state");
  writeFileSync(join(folder, "a.txt"), "hello\n");
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function toolcrib(...args: string[]): Promise<ProgramEnd> {
  return command(["mcp", ...args], { cwd: folder, env: { XDG_STATE_HOME: state } });
}

const served = (...args: string[]): McpServerConfig => ({
  command: process.execPath,
  args: [bin, "mcp", "serve", ...args],
  env: compileCache,
  cwd: folder,
});

async function connect(server: McpServerConfig): Promise<ToolRegistry> {
  const mount = await mountMcp({ mcpServers: { own: server } });
  cleanups.push(() => mount.close());
  expect(mount.problems).toEqual([]);
  const registry = new ToolRegistry();
  for (const tool of mount.tools) registry.register(tool);
  return registry;
}

describe("mcp serve", () => {
  test("serves the enabled tools, confined to the working directory", async () => {
    const registry = await connect(served());
    const names = registry.getToolNames().map((name) => name.replace("mcp__own__", ""));
    expect(names).toContain("read_file");
    expect(names).toContain("edit_file");
    for (const off of ["remove", "run_bash", "save_session_context"]) expect(names).not.toContain(off);
    expect(await registry.execute("mcp__own__read_file", { path: "a.txt" })).toBe("hello\n");
    expect(await registry.execute("mcp__own__read_file", { path: "/etc/passwd" })).toMatch(/outside/);
  });

  test("--root and --enable choose where and what", async () => {
    const other = temporaryFolder("root");
    writeFileSync(join(other, "b.txt"), "there\n");
    const registry = await connect(served("--root", other, "--enable", "run_bash"));
    expect(await registry.execute("mcp__own__read_file", { path: join(other, "b.txt") })).toBe("there\n");
    expect(await registry.execute("mcp__own__read_file", { path: join(folder, "a.txt") })).toMatch(/outside/);
    const answer = JSON.parse(await registry.execute("mcp__own__run_bash", { command: "pwd" }));
    expect(answer).toEqual({ stdout: `${other}\n`, stderr: "", exit_code: 0 });
  });

  test("--http serves at /mcp to clients with the token, until Ctrl-C", async () => {
    const program = command.start(["mcp", "serve", "--http", "0"], {
      cwd: folder,
      env: { TOOLCRIB_MCP_TOKEN: "s3cret", XDG_STATE_HOME: state },
    });
    const noted = await program.printed("Bearer s3cret");
    const url = String(/http:\S+/.exec(noted)?.[0]);
    const registry = await connect({ url, headers: { Authorization: "Bearer s3cret" } });
    expect(await registry.execute("mcp__own__read_file", { path: "a.txt" })).toBe("hello\n");
    expect((await fetch(url, { method: "POST" })).status).toBe(401);
    program.signal("SIGINT");
    expect((await program.ended).code).toBe(0);
  });
});

test("a server is added, listed, tested and removed, and the rest of .mcp.json stays", async () => {
  const file = join(folder, ".mcp.json");
  writeFileSync(file, JSON.stringify({ note: "ours", mcpServers: { old: { command: "old", disabled: true } } }));
  expect(await toolcrib("add", "self", "-e", "A=b", "--", process.execPath, bin, "mcp", "serve")).toMatchObject({
    code: 0,
  });
  expect((await toolcrib("add", "web", "https://example.com/mcp", "-H", "X-Key: k")).code).toBe(0);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    note: "ours",
    mcpServers: {
      old: { command: "old", disabled: true },
      self: { command: process.execPath, args: [bin, "mcp", "serve"], env: { A: "b" } },
      web: { type: "http", url: "https://example.com/mcp", headers: { "X-Key": "k" } },
    },
  });
  const { stdout } = await toolcrib("list");
  expect(stdout.split("\n").map((line) => line.split(" ")[0])).toEqual(["old", "self", "web", ""]);
  expect(stdout).not.toContain("X-Key");
  const tested = await toolcrib("test", "self");
  expect(tested).toMatchObject({ code: 0, stderr: "" });
  expect(tested.stdout).toContain("mcp__self__read_file");
  expect((await toolcrib("remove", "self")).code).toBe(0);
  expect(Object.keys(JSON.parse(readFileSync(file, "utf8")).mcpServers)).toEqual(["old", "web"]);
});

/** Adds `toolcrib mcp serve` as the server `self`; resolves to the file that it writes its process id to. */
async function addSelf(): Promise<string> {
  const pidFile = join(folder, "pid");
  writeFileSync(
    join(folder, "server.mjs"),
    `import { writeFileSync } from "node:fs";
     writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
     process.argv = [process.execPath, ${JSON.stringify(bin)}, "mcp", "serve"];
     await import(${JSON.stringify(pathToFileURL(bin).href)});`,
  );
  await toolcrib("add", "self", process.execPath, join(folder, "server.mjs"));
  return pidFile;
}

interface CostRow {
  readonly name: string;
  readonly tokens: number;
  readonly enabled: boolean;
}

test("tools cost --mcp counts the servers' tools too, and ends the servers", async () => {
  const pidFile = await addSelf();
  const cost = async (...flags: string[]): Promise<{ total: number; tokens: Map<string, number> }> => {
    const args = ["tools", "cost", "--json", ...flags];
    const end = await command(args, { cwd: folder, env: { XDG_STATE_HOME: state } });
    expect(end).toMatchObject({ code: 0, stderr: "" });
    const { total, tools } = JSON.parse(end.stdout) as { total: number; tools: CostRow[] };
    return { total, tokens: new Map(tools.filter((tool) => tool.enabled).map(({ name, tokens }) => [name, tokens])) };
  };
  const own = await cost();
  expect(existsSync(pidFile)).toBe(false);
  const all = await cost("--mcp");
  const mounted = [...all.tokens].filter(([name]) => !own.tokens.has(name));
  expect(mounted.map(([name]) => name)).toContain("mcp__self__read_file");
  expect(all.total - own.total).toBe(mounted.reduce((sum, [, tokens]) => sum + tokens, 0));
  expect(all.tokens.get("mcp__self__read_file")).toBeGreaterThan(own.tokens.get("read_file") ?? Infinity);
  expect(() => process.kill(Number(readFileSync(pidFile, "utf8")), 0)).toThrow(/ESRCH/);
});

test("run --mcp gives the model the servers' tools, and ends the servers with the run", async () => {
  const pidFile = await addSelf();
  const wire = await WireServer.start();
  cleanups.push(() => wire.close());
  const call = { name: "mcp__self__read_file", args: '{"path":"a.txt"}' };
  wire.script(answerWith({ calls: [call] }), answerWith({ text: "It says hello." }));
  const args = [
    "run",
    "what does a.txt say?",
    "--mcp",
    "--tools",
    call.name,
    "--allow",
    call.name,
    "-m",
    "openai-compatible/m",
  ];
  const { code, stdout, stderr } = await command([...args, "--base-url", `${wire.url}/v1`], {
    cwd: folder,
    env: { XDG_STATE_HOME: state },
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "It says hello.\n" });
  expect(stderr).toContain("mcp__self__read_file");
  expect(wire.requests[1]?.text).toContain("hello\\n");
  expect(() => process.kill(Number(readFileSync(pidFile, "utf8")), 0)).toThrow(/ESRCH/);
});

test("mcp test names a tool that has changed, until the change is accepted", async () => {
  const file = join(folder, "server.json");
  const write = (description: string): void =>
    writeFileSync(file, JSON.stringify({ tools: [tool("hi", { description })] }));
  write("Says hi.");
  await toolcrib("add", "s", ...plainServer(file));
  expect((await toolcrib("test")).code).toBe(0);
  write("Says hi, and more.");
  const changed = await toolcrib("test");
  expect(changed.code).toBe(1);
  expect(changed.stderr).toMatch(/Tool hi of the MCP server s has changed since it was accepted/);
  expect(changed.stderr).toContain('description\n  before: "Says hi."\n  after:  "Says hi, and more."');
  expect((await toolcrib("test", "--accept")).code).toBe(0);
  expect((await toolcrib("test")).code).toBe(0);
});

test("mcp test, ended by a signal, ends a server that neither answers nor stops when its input closes", async () => {
  const script = `
    const fs = require("node:fs");
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(name, () => {});
    process.stdin.resume();
    setInterval(() => {}, 1000);
    fs.writeFileSync("pid.new", String(process.pid));
    fs.renameSync("pid.new", "pid");`;
  const endBy = async (signal: NodeJS.Signals): Promise<number | null> => {
    const cwd = join(folder, signal);
    writeIn(cwd, "silent.cjs", script);
    const options = { cwd, env: { XDG_STATE_HOME: state } };
    await command(["mcp", "add", "s", process.execPath, join(cwd, "silent.cjs")], options);
    const program = startProgram(bin, ["mcp", "test"], options);
    const pidFile = join(cwd, "pid");
    await expect.poll(() => existsSync(pidFile), { timeout: 60_000 }).toBe(true);
    const pid = Number(readFileSync(pidFile, "utf8"));
    program.child.kill(signal);
    const { code } = await program.ended;
    const isRunning = (): boolean => {
      try {
        process.kill(pid, 0);
        return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
      } catch {
        return false;
      }
    };
    await expect.poll(isRunning, { timeout: 60_000 }).toBe(false);
    return code;
  };
  expect(await Promise.all([endBy("SIGINT"), endBy("SIGTERM")])).toEqual([130, 143]);
});

test("an invalid .mcp.json is reported and not changed", async () => {
  writeFileSync(join(folder, ".mcp.json"), "{ nope");
  for (const args of [["list"], ["add", "s", "cmd"], ["remove", "s"]]) {
    const { code, stderr } = await toolcrib(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/\.mcp\.json is not valid JSON: unexpected "n" at character 3/);
  }
  expect(readFileSync(join(folder, ".mcp.json"), "utf8")).toBe("{ nope");
});
