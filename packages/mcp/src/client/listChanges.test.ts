import { defineTool, type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { mounted, path, plain, scripted, serveLoopback, temporaryFile } from "../../fixtures/mounting.ts";
import { servedEntry } from "../../fixtures/serving.ts";
import { isMcpError } from "../errors.ts";
import type { McpToolsChange } from "./mountedTools.ts";
import type { MountMcpOptions } from "./mountMcp.ts";
import { fileToolStore } from "./toolStore.ts";

interface Opened {
  readonly registry: ToolRegistry;
  readonly call: () => Promise<string>;
  /** Has the server do something; returns how many lists it was asked for so far. */
  readonly tell: (what: "hold" | "release" | "flood" | "turn" | "lists") => Promise<number>;
}

async function open(): Promise<Opened> {
  const entry = { command: process.execPath, args: [path("changingServer.mjs")] };
  const { registry } = await mounted({ s: entry }, { resources: true });
  return {
    registry,
    call: () => registry.execute("mcp__s__hello"),
    tell: async (uri) => Number(await registry.execute("read_resource", { server: "s", uri })),
  };
}

test("a flood of changes makes one list for all calls that follow it", async () => {
  const { call, tell } = await open();
  expect(await tell("flood")).toBe(1);
  expect(await tell("lists")).toBe(1);
  expect(new Set(await Promise.all(Array.from({ length: 20 }, call)))).toEqual(new Set(["hello"]));
  expect(await tell("lists")).toBe(2);
});

test("while a list is under way, one more waits, however many changes and calls follow", async () => {
  const { call, tell } = await open();
  await tell("turn");
  await tell("hold");
  const calls = [call()];
  await expect.poll(() => tell("lists")).toBe(2);
  for (const _round of [1, 2, 3]) {
    await tell("flood");
    calls.push(call(), call());
  }
  expect(await tell("lists")).toBe(2);
  await tell("release");
  for (const answer of await Promise.all(calls)) expect(answer).toMatch(/has changed since it was accepted/);
  expect(await tell("lists")).toBe(3);
});

test("a change during a list counts for the calls that follow it, which are refused by a typed error", async () => {
  const { registry, call, tell } = await open();
  await tell("flood");
  await tell("hold");
  const first = call();
  await expect.poll(() => tell("lists")).toBe(2);
  await tell("turn");
  const second = call();
  await tell("release");
  expect(await first).toBe("hello");
  expect(await second).toMatch(/has changed since it was accepted/);
  const outcome = await registry.invoke("mcp__s__hello", {});
  const cause = outcome.ok ? undefined : outcome.error.cause;
  expect(isMcpError(cause) && cause.code).toBe("tool_changed");
});

const listed = (name: string, description = "One."): ExecutableTool =>
  defineTool({
    name,
    description,
    parameters: { type: "object", properties: {} },
    execute: () => `${name}: ${description}`,
  });

const turnings = ["stdio", "http", "http in the newer revision"] as const;

/** A server whose tools `one`, `two` and `old` become `one`, another `two`, and `new`. */
const turning: Readonly<
  Record<
    (typeof turnings)[number],
    (options: MountMcpOptions) => Promise<{ registry: ToolRegistry; turn: () => unknown }>
  >
> = {
  async stdio(options) {
    const asListed = (tools: ExecutableTool[]): object[] =>
      tools.map((one) => ({
        name: one.name,
        description: one.getSchema().function.description,
        inputSchema: { type: "object" },
      }));
    const tools = asListed([listed("one"), listed("two"), listed("old"), listed("turn")]);
    const next = asListed([listed("one"), listed("two", "Two."), listed("new"), listed("turn")]);
    const { registry } = await mounted({ s: await plain("stdio", { tools, next }) }, options);
    return { registry, turn: () => registry.execute("mcp__s__turn") };
  },
  async http(options) {
    const served = new ToolRegistry([listed("one"), listed("two"), listed("old")]);
    const { registry } = await mounted({ s: await servedEntry(served) }, options);
    const turn = (): void => {
      for (const name of ["two", "old"]) served.unregister(name);
      served.register(listed("two", "Two."), listed("new"));
    };
    return { registry, turn };
  },
  "http in the newer revision": (options) => turning.http({ ...options, versionNegotiation: { pin: "2026-07-28" } }),
};

describe.each(turnings)("over %s, a server that says that its tools have changed", (wire) => {
  const open = async (options: MountMcpOptions) => {
    const changes: McpToolsChange[] = [];
    const { registry, turn } = await turning[wire]({ ...options, onToolsChanged: (change) => changes.push(change) });
    await turn();
    await expect.poll(() => changes.length, { timeout: 5000 }).toBeGreaterThan(0);
    return { registry, change: changes[0] as McpToolsChange };
  };

  test("brings new and changed tools after accept, and withdraws the others", async () => {
    const asked: unknown[] = [];
    const accept: MountMcpOptions["accept"] = ({ accepted, found }) =>
      asked.push([found.name, accepted?.description]) > 0;
    const { registry, change } = await open({ accept });
    expect(asked.sort()).toEqual([
      ["new", undefined],
      ["two", "One."],
    ]);
    expect(change).toMatchObject({ server: "s", withdrawn: ["mcp__s__old"], problems: [] });
    expect(change.tools.map((one) => [one.name, one.getSchema().function.description])).toEqual([
      ["mcp__s__two", "Two."],
      ["mcp__s__new", "One."],
    ]);
    expect(await registry.execute("mcp__s__old")).toContain("has withdrawn its tool old");
    for (const name of change.tools.map((one) => one.name)) registry.unregister(name);
    registry.register(...change.tools);
    expect(await registry.invoke("mcp__s__new", {})).toMatchObject({ ok: true });
  });

  test("brings none that is not accepted", async () => {
    const { registry, change } = await open({});
    expect(change).toMatchObject({ tools: [], withdrawn: ["mcp__s__old"] });
    expect(change.problems.map(({ code }) => code).sort()).toEqual(["tool_added", "tool_changed"]);
    expect(await registry.execute("mcp__s__two")).toMatch(/has changed since it was accepted/);
  });
});

test("what changes before all servers have started is in the mount", async () => {
  const { promise: changed, resolve: change } = Promise.withResolvers<void>();
  const origin = await serveLoopback(async (_request, response) => {
    await changed;
    response.writeHead(404).end();
  });
  const quick = scripted(`
    const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
    const tool = (name, description) => ({ name, description, inputSchema: { type: "object" } });
    const lists = [[tool("one", "One."), tool("old", "One.")]];
    let changed = 0;
    require("node:readline").createInterface(process.stdin).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const about = { capabilities: { tools: { listChanged: true } }, serverInfo: { name: "s", version: "1" } };
      if (method === "initialize") send({ id, result: { protocolVersion: "2025-06-18", ...about } });
      if (method !== "tools/list") return;
      send({ id, result: { tools: lists.pop() ?? [tool("one", "Two."), tool("new", "Two.")] } });
      if (lists.length === 0 && !changed++) send({ method: "notifications/tools/list_changed" });
    });`);
  const told: McpToolsChange[] = [];
  const accept = (): boolean => {
    change();
    return true;
  };
  const onToolsChanged = (one: McpToolsChange): void => void told.push(one);
  const { mount } = await mounted({ quick, slow: { url: origin } }, { accept, onToolsChanged });
  expect(mount.tools.map((one) => [one.name, one.getSchema().function.description])).toEqual([
    ["mcp__quick__one", "Two."],
    ["mcp__quick__new", "Two."],
  ]);
  expect(told).toEqual([]);
});

test("a tool that was not accepted is asked about in the next list, also of another run", async () => {
  const store = fileToolStore(await temporaryFile("tools.json"));
  const tools = [{ name: "turn", inputSchema: {} }];
  const entry = await plain("stdio", { tools, next: [...tools, { name: "new", inputSchema: {} }] });
  const { registry, mount } = await mounted({ s: entry }, { store });
  for (const _call of [1, 2]) await registry.execute("mcp__s__turn");
  expect(mount.tools.map(({ name }) => name)).toEqual(["mcp__s__turn"]);
  await mount.close();
  const known = await store.load("s");
  expect([known?.config, known?.tools.map(({ name }) => name)]).toEqual(["", ["turn"]]);
});
