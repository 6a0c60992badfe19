// @toolcrib/mcp with programs of others, installed at pinned versions when needed.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Agent } from "@toolcrib/agent";
import { OfflineProvider } from "@toolcrib/agent/offline";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { type McpMount, type McpServerConfig, mountMcp } from "@toolcrib/mcp";
import { sharedFolder } from "@toolcrib/testing";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { installTools } from "../../../scripts/mcpTools.ts";

const toolcrib = fileURLToPath(new URL("../../../packages/cli/dist/bin.js", import.meta.url));
let modules = "";
const folder = sharedFolder("peers");
let mount: McpMount | undefined;

beforeAll(() => {
  modules = installTools();
  writeFileSync(join(folder, "a.txt"), "hello\n");
});
afterEach(async () => {
  await mount?.close();
  mount = undefined;
});

async function mounted(server: McpServerConfig): Promise<ToolRegistry> {
  mount = await mountMcp({ mcpServers: { peer: server } });
  // Tools that run only as a task are not supported.
  const problems = mount.problems.filter(({ message }) => !message.includes("it runs only as a task"));
  expect(problems).toEqual([]);
  const registry = new ToolRegistry();
  for (const tool of mount.tools) registry.register(tool);
  return registry;
}

const peer = (name: string, ...args: string[]): McpServerConfig => ({
  command: process.execPath,
  args: [join(modules, `@modelcontextprotocol/${name}/dist/index.js`), ...args],
});

describe("the MCP inspector's command line", () => {
  /** A valid call of each tool of `toolcrib mcp serve`, in an order in which each finds what it needs. */
  const calls: readonly [tool: string, args: Record<string, string>, says: RegExp][] = [
    ["read_file", { path: "a.txt" }, /hello/],
    ["write_file", { path: "b.txt", content: "one" }, /b\.txt/],
    ["edit_file", { path: "b.txt", edits: '[{"old_text":"one","new_text":"two"}]' }, /\+two/],
    ["list_dir", { path: "." }, /a\.txt/],
    ["mkdir", { path: "sub" }, /sub/],
    ["move", { source: "b.txt", destination: "sub/b.txt" }, /sub\/b\.txt/],
    ["search_text", { query: "two", paths: '["."]' }, /sub\/b\.txt:1:two/],
    ["search_files", { pattern: "**/*.txt" }, /a\.txt/],
    ["run_bash", { command: "echo $((40+2))" }, /42/],
    ["save_session_context", { reason: "done" }, /session/],
    ["remove", { path: "sub" }, /sub/],
  ];

  async function inspect(...args: string[]): Promise<Record<string, unknown>> {
    const inspector = join(modules, "@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    const server = [process.execPath, toolcrib, "mcp", "serve"];
    const all = ["--enable", "remove,run_bash,save_session_context"];
    const { stdout } = await promisify(execFile)(process.execPath, [inspector, "--cli", ...server, ...all, ...args], {
      cwd: folder,
    });
    return JSON.parse(stdout);
  }

  test("lists each of our tools", async () => {
    const { tools } = (await inspect("--method", "tools/list")) as { tools: { name: string }[] };
    expect(tools.map((tool) => tool.name).sort()).toEqual(calls.map(([name]) => name).sort());
  });

  /** Each call starts the inspector and a server: without TOOLCRIB_ROUNDS those are made whose arguments are of another kind. */
  const kinds = ["read_file", "write_file", "edit_file", "run_bash"];
  const made = process.env.TOOLCRIB_ROUNDS === undefined ? calls.filter(([name]) => kinds.includes(name)) : calls;

  test.each(made)("calls %s", async (name, args, says) => {
    const given = Object.entries(args).flatMap(([key, value]) => ["--tool-arg", `${key}=${value}`]);
    const result = await inspect("--method", "tools/call", "--tool-name", name, ...given);
    expect(result.isError).toBe(false);
    expect(JSON.stringify(result.content)).toMatch(says);
  });
});

describe("server-filesystem, mounted", () => {
  test("is driven by our agent over several steps: one call fails, one writes, one reads it back", async () => {
    const tools = await mounted(peer("server-filesystem", folder));
    const path = join(folder, "written.txt");
    const provider = new ScriptedProvider([
      { calls: [{ name: "mcp__peer__read_text_file", args: { path: "/etc/passwd" } }] },
      { calls: [{ name: "mcp__peer__write_file", args: { path, content: "by an agent" } }] },
      { calls: [{ name: "mcp__peer__read_text_file", args: { path } }] },
      "done",
    ]);
    const results: [string, boolean][] = [];
    for await (const event of new Agent(provider, { tools }).streamChat("go")) {
      if (event.type === "tool-result") results.push([event.output, event.isError]);
    }
    expect(results.map(([, isError]) => isError)).toEqual([true, false, false]);
    expect(results[0]?.[0]).toMatch(/^Error executing mcp__peer__read_text_file: Access denied/);
    expect(results[2]?.[0]).toBe("by an agent");
    expect(readFileSync(path, "utf8")).toBe("by an agent");
  });

  test("answers the offline stand-in, which knows its tools by our names", async () => {
    const peers = await mounted(peer("server-filesystem", folder));
    const tools = new ToolRegistry();
    tools.register(renamed(peers.get("mcp__peer__read_file") as ExecutableTool, "read_file"));
    const answer = await new Agent(new OfflineProvider(), { tools }).chat(`read ${join(folder, "a.txt")}`);
    expect(answer).toContain("hello");
  });
});

describe("server-everything, mounted", () => {
  test("every tool is mounted, and text, images, structured results and progress come through", async () => {
    const tools = await mounted(peer("server-everything"));
    expect(tools.getToolNames().length).toBeGreaterThan(8);
    expect(await tools.execute("mcp__peer__echo", { message: "hi" })).toBe("Echo: hi");
    expect(await tools.execute("mcp__peer__get-sum", { a: 2, b: 3 })).toContain("5");
    const image = await tools.invoke("mcp__peer__get-tiny-image", {});
    expect(image).toMatchObject({ ok: true, content: [{ type: "image", mimeType: "image/png" }] });
    const structured = await tools.execute("mcp__peer__get-structured-content", { location: "New York" });
    expect(JSON.parse(structured)).toHaveProperty("temperature");
    const seen: (number | undefined)[] = [];
    const args = { duration: 2, steps: 4 };
    const onProgress = ({ progress }: { progress?: number }): number => seen.push(progress);
    await tools.execute("mcp__peer__trigger-long-running-operation", args, { onProgress });
    // The SDK drops progress that arrives together with the result.
    expect(seen.slice(0, 3)).toEqual([1, 2, 3]);
  });

  test("is driven by our agent", async () => {
    const tools = await mounted(peer("server-everything"));
    const calls = [
      { name: "mcp__peer__echo", args: { message: "one" } },
      { name: "mcp__peer__get-sum", args: { a: "2", b: 3 } },
    ];
    const provider = new ScriptedProvider([{ calls }, "done"]);
    expect(await new Agent(provider, { tools }).chat("go")).toBe("done");
    const results = provider.requests[1]?.messages.filter((message) => message.role === "tool");
    expect(results?.map((result) => result.output)).toEqual(["Echo: one", expect.stringContaining("5")]);
  });
});

function renamed(tool: ExecutableTool, name: string): ExecutableTool {
  const { description, parameters } = tool.getSchema().function;
  return {
    name,
    getSchema: () => ({ type: "function", function: { name, description, parameters } }),
    execute: (args, call) => tool.execute(args, call),
  };
}
