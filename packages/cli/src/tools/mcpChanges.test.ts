import { defineTool, type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import type { McpToolsChange } from "@toolcrib/mcp";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, onTestFinished, test } from "vitest";
import { tool as listed, plainServer } from "../../fixtures/servers.ts";
import type { Program } from "../program.ts";
import { findFolders } from "../state/folders.ts";
import { applyToolsChange, ToolsChanges } from "./mcpChanges.ts";
import { mount } from "./mcpMount.ts";

const tool = (name: string, description: string): ExecutableTool =>
  defineTool({ name, description, parameters: { type: "object" }, execute: () => "" });

test("tools that a server gets or changes come into a conversation, off where the user has named others", () => {
  const registry = new ToolRegistry([tool("a", "One."), tool("b", "One."), tool("gone", "One.")]);
  registry.disable("b");
  const tools = [tool("a", "Two."), tool("b", "Two."), tool("new", "One."), tool("other", "One.")];
  const notes: string[] = [];
  const change = { server: "s", tools, withdrawn: ["gone"], problems: [] };
  applyToolsChange(
    registry,
    change,
    (name) => name === "other",
    (line) => notes.push(line),
  );
  const shown = registry.listTools().map(({ name, description, enabled }) => [name, description, enabled]);
  expect(shown).toEqual([
    ["gone", "One.", true],
    ["a", "Two.", true],
    ["b", "Two.", false],
    ["new", "One.", true],
    ["other", "One.", false],
  ]);
  expect(notes).toContain("The MCP server s has a new tool: new");
});

test("a tool that cannot be registered costs that tool alone, and is told; what was there before stays", () => {
  const registry = new ToolRegistry([tool("a", "One.")]);
  const register = registry.register.bind(registry);
  registry.register = (...tools) => {
    if (tools.some((one) => one.getSchema().function.description === "Bad.")) throw new Error("it is bad");
    register(...tools);
  };
  const notes: string[] = [];
  const change = {
    server: "s",
    tools: [tool("a", "Bad."), tool("b", "Bad."), tool("c", "Good.")],
    withdrawn: [],
    problems: [],
  };
  applyToolsChange(
    registry,
    change,
    () => false,
    (line) => notes.push(line),
  );
  expect(registry.listTools().map(({ name, description }) => [name, description])).toEqual([
    ["a", "One."],
    ["c", "Good."],
  ]);
  expect(notes).toEqual([
    "The MCP server s has a tool that cannot be used: it is bad",
    "The MCP server s has a tool that cannot be used: it is bad",
    "The MCP server s has a new tool: c",
  ]);
});

const change = (server: string): McpToolsChange => ({ server, tools: [], withdrawn: [], problems: [] });

test("changes wait for a listener, also while another conversation begins, and go on to the old one if it does not", async () => {
  const changes = new ToolsChanges();
  const told: string[] = [];
  const listenerOf = (name: string) => () => (one: McpToolsChange) => told.push(`${name} ${one.server}`);
  changes.send(change("early"));
  const begin = (name: string, build: () => Promise<void>): Promise<void> => changes.during(build, listenerOf(name));
  await begin("first", async () => changes.send(change("during")));
  changes.send(change("late"));
  await begin("second", async () => changes.send(change("between")));
  const failing = begin("third", async () => {
    changes.send(change("lost?"));
    throw new Error("no such session");
  });
  await expect(failing).rejects.toThrow("no such session");
  changes.send(change("last"));
  expect(told).toEqual(["first early", "first during", "first late", "second between", "second lost?", "second last"]);
});

test("of a server that changes its tools without end while nobody listens, one change waits: the tools as they are last", async () => {
  const changes = new ToolsChanges();
  const send = (server: string, tools: ExecutableTool[], withdrawn: string[] = []): void =>
    changes.send({ server, tools, withdrawn, problems: [] });
  send("other", [tool("mine", "One.")]);
  send("s", [tool("stays", "One."), tool("turns", "One."), tool("goes", "One.")], ["back"]);
  send("s", [tool("turns", "Two."), tool("back", "One.")], ["goes"]);
  for (let round = 0; round < 5000; round += 1)
    send("s", [tool(`new${round}`, "One.")], round > 0 ? [`new${round - 1}`] : []);
  const told: McpToolsChange[] = [];
  const build = async (): Promise<void> => undefined;
  await changes.during(build, () => (one) => void told.push(one));
  expect(told.map(({ server }) => server)).toEqual(["other", "s"]);
  const last = told[1]?.tools.map((one) => [one.name, one.getSchema().function.description]);
  expect(last).toEqual([
    ["stays", "One."],
    ["turns", "Two."],
    ["back", "One."],
    ["new4999", "One."],
  ]);
  await changes.during(build, () => (one) => void told.push(one));
  expect(told).toHaveLength(2);
});

test("what a server changes after it was mounted, and before a conversation listens, is told to it", async () => {
  const [command = "", ...args] = plainServer({ tools: [listed("turn")], next: [listed("turn"), listed("new")] });
  const place = {
    terminal: { aside: () => undefined } as unknown as Program["terminal"],
    env: {},
    folders: findFolders({ XDG_STATE_HOME: temporaryFolder("state") }),
    cwd: temporaryFolder("changes"),
  };
  const mounted = await mount({ mcpServers: { s: { command, args } } }, place, {});
  onTestFinished(() => mounted.close());
  await new ToolRegistry(mounted.tools).execute("mcp__s__turn", {});
  await expect.poll(() => mounted.tools.map(({ name }) => name), { timeout: 10_000 }).toContain("mcp__s__new");
  const notes: string[] = [];
  const build = async (): Promise<ToolRegistry> => new ToolRegistry(mounted.tools);
  await mounted.changes.during(
    build,
    (registry) => (one) =>
      applyToolsChange(
        registry,
        one,
        () => false,
        (line) => notes.push(line),
      ),
  );
  expect(notes).toEqual(["The MCP server s has added or changed its tool: mcp__s__new"]);
});
