// node main.ts [FILE]: serves the tools over MCP on standard input and output; print nothing else there.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { serveMcp } from "@toolcrib/mcp";
import { createTaskTools } from "./tasks.ts";

const registry = new ToolRegistry(createTaskTools(resolve(process.argv[2] ?? join(homedir(), "tasks.json"))));
// The client puts the question to its user; one that cannot ask gets a refusal.
registry.guard(({ tool, args }) => (tool.destructive ? { ask: `Delete task ${args.id} for good?` } : true));

const serving = await serveMcp(registry, {
  name: "tasks",
  version: "1.0.0",
  instructions: "The user's list of tasks. List them before you change one.",
});
await serving.closed;
