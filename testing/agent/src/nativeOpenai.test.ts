import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, type AgentOptions } from "@toolcrib/agent";
import { OpenAIProvider } from "@toolcrib/agent/openai";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { answerWith, type WireReply } from "@toolcrib/testing/wireReplies";
import { createFsTools } from "@toolcrib/tools-fs";
import { beforeEach, describe, expect, test } from "vitest";

const server = await sharedWireServer();
const ran: unknown[] = [];
beforeEach(() => {
  ran.length = 0;
});

const answers: Record<string, string> = {
  fails: JSON.stringify({ stdout: "", stderr: "no such file\n", exit_code: 2 }),
  hangs: JSON.stringify({ stdout: "so far", stderr: "", exit_code: -1 }),
  odd: "not JSON",
};

function tools(): ToolRegistry {
  const text = { type: "string" } as const;
  return new ToolRegistry([
    defineTool({
      name: "run_bash",
      description: "Run a command.",
      parameters: { type: "object", properties: { command: text, timeout: { type: "number" } }, required: ["command"] },
      execute: (args) => {
        ran.push(args);
        if (args.command === "throws") throw new Error("no shell");
        return answers[args.command] ?? JSON.stringify({ stdout: `${args.command}\n`, stderr: "", exit_code: 0 });
      },
    }),
    defineTool({
      name: "apply_patch",
      description: "Apply a patch.",
      parameters: { type: "object", properties: { input: text }, required: ["input"], additionalProperties: false },
      execute: ({ input }) => {
        ran.push(input);
        if (input.includes("broken")) throw new Error("a line does not match");
        return "changed";
      },
    }),
    defineTool({ name: "look", description: "Look.", parameters: { type: "object" }, execute: () => "seen" }),
  ]);
}

function providerOf(nativeTools = true, stream = true): OpenAIProvider {
  return new OpenAIProvider({ apiKey: "sk-native-0123456789", baseURL: `${server.url}/v1`, nativeTools, stream });
}

function agentOf(replies: WireReply[], options: AgentOptions = {}, provider = providerOf()): Agent {
  server.script(...replies.map(answerWith));
  return new Agent(provider, { tools: tools(), attempts: 1, ...options });
}

const patch = (operation: object, call_id = "p1"): WireReply => ({
  items: [{ type: "apply_patch_call", call_id, status: "completed", operation }],
});
const shell = (action: object, call_id = "s1"): WireReply => ({
  items: [{ type: "shell_call", call_id, status: "completed", environment: null, action }],
});
const commands = (...list: string[]): WireReply => shell({ commands: list, timeout_ms: null, max_output_length: null });

type Item = Readonly<Record<string, unknown>>;
const itemsOf = (index: number): readonly Item[] => server.requests[index]?.body.input as readonly Item[];
const toolsOf = (index = 0): unknown => server.requests[index]?.body.tools;

describe("the tools of OpenAI's models", () => {
  test("stand for apply_patch and run_bash, each only where that is enabled", async () => {
    const agent = agentOf([{ text: "a" }, { text: "b" }]);
    await agent.chat("go", { toolChoice: { name: "run_bash" } });
    const look = expect.objectContaining({ type: "function", name: "look" });
    expect(toolsOf()).toEqual([{ type: "shell", environment: { type: "local" } }, { type: "apply_patch" }, look]);
    expect(server.requests[0]?.body.tool_choice).toEqual({ type: "shell" });
    agent.disableTool("run_bash");
    agent.removeTool("apply_patch");
    await agent.chat("go", { toolChoice: { name: "look" } });
    expect(toolsOf(1)).toEqual([look]);
    expect(server.requests[1]?.body.tool_choice).toEqual({ type: "function", name: "look" });
  });

  test("are off by default", async () => {
    await agentOf([{ text: "a" }], {}, providerOf(false)).chat("go");
    expect(toolsOf()).toEqual([
      expect.objectContaining({ name: "run_bash" }),
      expect.objectContaining({ name: "apply_patch" }),
      expect.objectContaining({ name: "look" }),
    ]);
  });
});

describe.each([true, false])("with stream: %j", (stream) => {
  test("an operation is run as a patch and goes back in its own form", async () => {
    const operation = { type: "update_file", path: "a.txt", diff: "@@\n-one\n+two\n" };
    const agent = agentOf([patch(operation), { text: "ok" }], {}, providerOf(true, stream));
    expect(await agent.chat("go")).toBe("ok");
    expect(ran).toEqual(["*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch"]);
    expect(itemsOf(1).slice(-2)).toMatchObject([
      { type: "apply_patch_call", call_id: "p1", status: "completed", operation },
      { type: "apply_patch_call_output", call_id: "p1", status: "completed", output: "changed" },
    ]);
    expect(agent.sessionContext[2]).toMatchObject({ role: "tool", name: "apply_patch", output: "changed" });
  });

  test("the commands of a shell call run one after another, and their outputs go back together", async () => {
    const action = { commands: ["ls", "fails", "hangs"], timeout_ms: 5000, max_output_length: 4 };
    const agent = agentOf([shell(action), { text: "ok" }], {}, providerOf(true, stream));
    expect(await agent.chat("go")).toBe("ok");
    expect(ran).toEqual(action.commands.map((command) => ({ command, timeout: 5000 })));
    expect(itemsOf(1).slice(-2)).toEqual([
      { id: expect.any(String), type: "shell_call", call_id: "s1", status: "completed", environment: null, action },
      {
        type: "shell_call_output",
        call_id: "s1",
        max_output_length: 4,
        output: [
          { stdout: "ls\n", stderr: "", outcome: { type: "exit", exit_code: 0 } },
          { stdout: "", stderr: "no s…", outcome: { type: "exit", exit_code: 2 } },
          { stdout: "so f…", stderr: "", outcome: { type: "timeout" } },
        ],
      },
    ]);
  });
});

test("operations on real files: created, changed, removed", async () => {
  const folder = temporaryFolder("native");
  const files = new ToolRegistry(createFsTools({ cwd: folder, root: folder }));
  const update = { type: "update_file", path: "a.txt", diff: "@@\n one\n-two\n+three\n" };
  const replies = [patch({ type: "create_file", path: "a.txt", diff: "+one\n+two\n" }, "p1"), patch(update, "p2")];
  await agentOf([...replies, { text: "ok" }], { tools: files }).chat("go");
  expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("one\nthree\n");
  await agentOf([patch({ type: "delete_file", path: "a.txt" }, "p3"), { text: "ok" }], { tools: files }).chat("go");
  expect(readdirSync(folder)).toEqual([]);
  const outside = { type: "create_file", path: "../out.txt", diff: "+x\n" };
  await agentOf([patch(outside, "p4"), { text: "ok" }], { tools: files }).chat("go");
  expect(itemsOf(server.requests.length - 1).at(-1)).toMatchObject({
    status: "failed",
    output: expect.stringContaining("Permission denied"),
  });
});

test.each<[object, string]>([
  [{ type: "create_file", path: "a", diff: "+one\n+two" }, "*** Add File: a\n+one\n+two\n"],
  [{ type: "delete_file", path: "a" }, "*** Delete File: a\n"],
])("%j becomes one part of a patch", async (operation, part) => {
  await agentOf([patch(operation), { text: "ok" }]).chat("go");
  expect(ran).toEqual([`*** Begin Patch\n${part}*** End Patch`]);
});

test.each<[string, WireReply, string]>([
  ["a line break in a path", patch({ type: "delete_file", path: "a\n*** Delete File: b" }), "path on one line"],
  ["an unknown operation", patch({ type: "copy_file", path: "a" }), "expected create_file"],
  ["no commands", shell({ commands: [], timeout_ms: null, max_output_length: null }), "commands: expected a list"],
])("%s is answered with an error and runs nothing", async (_, reply, message) => {
  const agent = agentOf([reply, { text: "ok" }]);
  await agent.chat("go");
  expect(ran).toEqual([]);
  expect(agent.sessionContext[2]).toMatchObject({ isError: true, output: expect.stringContaining(message) });
});

test("a call that fails says so in its own form", async () => {
  const replies = [
    patch({ type: "update_file", path: "a", diff: "broken" }),
    commands("throws", "odd"),
    { text: "ok" },
  ];
  await agentOf(replies).chat("go");
  expect(itemsOf(1).at(-1)).toMatchObject({
    status: "failed",
    output: "Error executing apply_patch: a line does not match",
  });
  expect(itemsOf(2).at(-1)).toMatchObject({
    output: [
      { stdout: "", stderr: "Error executing run_bash: no shell", outcome: { exit_code: 1 } },
      { stdout: "not JSON", outcome: { exit_code: 1 } },
    ],
  });
});

test("a call that the token limit cut off is not run", async () => {
  const items = [{ type: "shell_call", call_id: "s1", status: "incomplete", action: { commands: ["ls"] } }];
  const agent = agentOf([{ items, stop: "max_output_tokens" }]);
  await expect(agent.chat("go")).rejects.toMatchObject({ reason: "token-limit" });
  expect(ran).toEqual([]);
  expect(JSON.stringify(agent.sessionContext[1])).toContain('"malformed":"cut off"');
});

test("each command is a call of its own for guards, which may ask about one of them", async () => {
  const registry = tools().guard(({ args }) => (args.command === "two" ? { ask: "Two?" } : true));
  const agent = agentOf([commands("one", "two", "three"), { text: "ok" }], { tools: registry });
  await agent.chat("go").catch(() => undefined);
  expect(agent.pending).toMatchObject([{ args: { command: "two" } }]);
  const [{ callId = "" } = {}] = agent.pending;
  expect(await agent.approve({ [callId]: "not two" })).toBe("ok");
  expect(ran).toEqual([{ command: "one" }, { command: "three" }]);
  expect(itemsOf(1).at(-1)).toMatchObject({
    output: [{ stdout: "one\n" }, { stderr: expect.stringContaining("not two") }, { stdout: "three\n" }],
  });
});

test("another model gets calls of the registry's tools, and so does this one once a tool is disabled", async () => {
  const agent = agentOf([commands("one", "two"), { text: "ok" }, { text: "ok" }]);
  await agent.chat("go");
  agent.disableTool("run_bash");
  await agent.chat("on");
  const calls = itemsOf(2).filter((item) => item.type === "function_call");
  expect(calls.map((item) => [item.name, item.arguments])).toEqual([
    ["run_bash", '{"command":"one"}'],
    ["run_bash", '{"command":"two"}'],
  ]);
  agent.enableTool("run_bash");
  server.reset();
  server.script(answerWith({ text: "ok" }));
  const options = { apiKey: "sk-native-0123456789", baseURL: `${server.url}/v1`, nativeTools: true, model: "another" };
  const { sessionContext, toolRegistry } = agent;
  const signal = AbortSignal.timeout(100_000);
  const again = { systemPrompt: "", messages: sessionContext, tools: toolRegistry.getEnabledSchemas(), signal };
  for await (const _ of new OpenAIProvider(options).send(again));
  expect(itemsOf(0).filter((item) => item.type === "function_call")).toHaveLength(2);
  const other = new ScriptedProvider(["ok"]);
  const messages = JSON.parse(JSON.stringify(agent.sessionContext));
  const session = { format: "toolcrib-session", version: 1, savedAt: "", systemPrompt: "", messages } as const;
  await (await Agent.resume(other, session, { tools: tools() })).chat("on");
  expect(other.requests[0]?.messages[1]).toMatchObject({
    content: [{ type: "reasoning" }, { name: "run_bash" }, { name: "run_bash" }],
  });
});
