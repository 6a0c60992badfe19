import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { ToolRegistry } from "@toolcrib/core";
import { mountMcp } from "@toolcrib/mcp";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTaskTools } from "./tasks.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tasks-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("an agent uses the running server, and what is destructive waits for a yes of the client's user", async () => {
  const file = join(folder, "tasks.json");
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  await using mount = await mountMcp({ mcpServers: { tasks: { command: process.execPath, args: [main, file] } } });
  expect(mount.problems).toEqual([]);
  const model = new ScriptedProvider([
    { calls: [{ name: "mcp__tasks__add_task", args: { title: "Water the plants" } }] },
    { calls: [{ name: "mcp__tasks__finish_task", args: { id: 1 } }] },
    { calls: [{ name: "mcp__tasks__delete_task", args: { id: 1 } }] },
    { calls: [{ name: "mcp__tasks__list_tasks" }] },
    "Done.",
  ]);
  const agent = new Agent(model, { tools: new ToolRegistry(mount.tools) });
  await agent.chat("Add a task, finish it, delete it");
  expect(agent.sessionContext.flatMap((message) => (message.role === "tool" ? [message.output] : []))).toEqual([
    "Added task 1.",
    "Task 1 is done.",
    expect.stringContaining("Approval required: Delete task 1 for good?"),
    "1 [x] Water the plants",
  ]);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual([{ id: 1, title: "Water the plants", done: true }]);
});

test("many changes at the same time are all kept, and an id that is not there is an error that says what to do", async () => {
  const registry = new ToolRegistry(createTaskTools(join(folder, "tasks.json")));
  const titles = Array.from({ length: 10 }, (_, at) => `task ${at}`);
  await Promise.all(titles.map((title) => registry.execute("add_task", { title })));
  const { data } = (await registry.invoke("list_tasks")) as { data?: { tasks: { id: number; title: string }[] } };
  expect(data?.tasks.map(({ title }) => title).sort()).toEqual(titles);
  expect(new Set(data?.tasks.map(({ id }) => id)).size).toBe(10);
  expect(await registry.execute("delete_task", { id: 99 })).toBe(
    "Error executing delete_task: There is no task 99; list_tasks shows which there are.",
  );
});
