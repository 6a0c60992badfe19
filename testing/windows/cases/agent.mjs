// The agent over a server on loopback, its session and journal, the policy, and MCP over stdio and HTTP.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent } from "@toolcrib/agent";
import { OfflineProvider } from "@toolcrib/agent/offline";
import { OpenAICompatibleProvider } from "@toolcrib/agent/openai-compatible";
import { ToolRegistry } from "@toolcrib/core";
import { createDefaultToolRegistry } from "@toolcrib/defaults";
import { mountMcp, serveMcp } from "@toolcrib/mcp";
import { createPolicy } from "@toolcrib/policy";
import { createFsTools } from "@toolcrib/tools-fs";
import { newFolder, runTests, test } from "../harness.mjs";

/** A server of chat completions that calls `read_file` once and then answers. */
async function modelServer() {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const isAnswered = JSON.parse(body).messages.some(({ role }) => role === "tool");
    const call = {
      index: 0,
      id: "c1",
      type: "function",
      function: { name: "read_file", arguments: '{"path":"a.txt"}' },
    };
    const delta = isAnswered ? { content: "It says hello." } : { tool_calls: [call] };
    const finish_reason = isAnswered ? "stop" : "tool_calls";
    response.setHeader("content-type", "text/event-stream");
    response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\ndata: [DONE]\n\n`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, baseURL: `http://127.0.0.1:${server.address().port}/v1` };
}

test("a turn with a tool over loopback, its journal, and a resume", async () => {
  const root = newFolder();
  writeFileSync(join(root, "a.txt"), "hello\n");
  const { server, baseURL } = await modelServer();
  try {
    const provider = new OpenAICompatibleProvider({ model: "m", baseURL });
    const tools = () => createDefaultToolRegistry(undefined, { root });
    const journal = join(root, "journal.jsonl");
    const agent = new Agent(provider, { tools: tools(), journal });
    assert.equal(await agent.chat("What does a.txt say?"), "It says hello.");
    await agent.close?.();
    const resumed = await Agent.resume(provider, journal, { tools: tools() });
    assert.deepEqual(resumed.sessionContext, agent.sessionContext);
    assert.ok(readFileSync(journal, "utf8").includes("hello"));
  } finally {
    server.close();
  }
});

test("the stand-in lists, reads and writes", async () => {
  const root = newFolder();
  writeFileSync(join(root, "a.txt"), "hello\n");
  const agent = new Agent(new OfflineProvider(), { tools: createDefaultToolRegistry(undefined, { root }) });
  assert.match(await agent.chat("list ."), /a\.txt/);
  assert.match(await agent.chat("read a.txt"), /hello/);
});

test("a session is saved and loaded", async () => {
  const file = join(newFolder(), "deep", "session.json");
  const agent = new Agent(new OfflineProvider(), { tools: createDefaultToolRegistry(), sessionContextFilePath: file });
  await agent.chat("help");
  const saver = new Agent(new OfflineProvider(), { sessionContextFilePath: file });
  await saver.chat("help");
  assert.match(await saver.saveContext("kept"), /session\.json/);
  const resumed = await Agent.resume(new OfflineProvider(), file);
  assert.equal(resumed.sessionContext.length, saver.sessionContext.length);
});

test("rules and protected paths hold in any letter case and with both slashes", async () => {
  const root = newFolder();
  mkdirSync(join(root, ".git", "hooks"), { recursive: true });
  const registry = new ToolRegistry(createFsTools({ root, cwd: root }));
  const policy = createPolicy({
    mode: "accept-edits",
    roots: [root],
    deny: ["effect:read(secret/)", "effect:write(locked.txt)"],
  });
  registry.guard(policy.guard);
  const codeOf = async (name, args) => {
    const outcome = await registry.invoke(name, args);
    return outcome.ok ? "ran" : outcome.error.code;
  };
  assert.equal(await codeOf("write_file", { path: "free.txt", content: "x" }), "ran");
  for (const path of [".git/hooks/x", ".GIT\\hooks\\x", "src\\..\\.git\\config", ".Git/HOOKS/pre-commit"]) {
    assert.equal(await codeOf("write_file", { path, content: "x" }), "approval_required", path);
  }
  for (const path of ["locked.txt", "LOCKED.TXT", ".\\Locked.txt"]) {
    assert.equal(await codeOf("write_file", { path, content: "x" }), "permission_denied", path);
  }
  for (const path of ["secret/a", "SECRET\\a"])
    assert.equal(await codeOf("read_file", { path }), "permission_denied", path);
});

/** The tools of a server, as this program's own. */
async function withServer(entry, work) {
  const mount = await mountMcp({ mcpServers: { files: entry } });
  try {
    assert.deepEqual(mount.problems, []);
    await work(new ToolRegistry(mount.tools));
  } finally {
    await mount.close();
  }
}

test("our server is mounted over stdio, with its tools under their names", async () => {
  const root = newFolder();
  writeFileSync(join(root, "a.txt"), "hello\n");
  const bin = fileURLToPath(new URL("../../node_modules/@toolcrib/cli/dist/bin.js", import.meta.url));
  await withServer({ command: process.execPath, args: [bin, "mcp", "serve"], cwd: root }, async (registry) => {
    assert.match(await registry.execute("mcp__files__read_file", { path: "a.txt" }), /hello/);
  });
});

test("our server is mounted over HTTP", async () => {
  const root = newFolder();
  writeFileSync(join(root, "a.txt"), "hello\n");
  const serving = await serveMcp(new ToolRegistry(createFsTools({ root, cwd: root })), { http: { auth: false } });
  try {
    await withServer({ url: String(serving.url) }, async (registry) => {
      assert.match(await registry.execute("mcp__files__read_file", { path: "a.txt" }), /hello/);
    });
  } finally {
    await serving.close();
  }
});

await runTests();
