import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, type AgentOptions, isAgentError } from "@toolcrib/agent";
import { AnthropicProvider } from "@toolcrib/agent/anthropic";
import { assertConversation } from "@toolcrib/agent/testing";
import { createToolSearch, defineTool, ToolRegistry } from "@toolcrib/core";
import { sharedWireServer, temporaryFolder } from "@toolcrib/testing";
import { answerWith, type WireReply } from "@toolcrib/testing/wireReplies";
import { createFsTools } from "@toolcrib/tools-fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const server = await sharedWireServer();
let folder: string;
beforeEach(() => {
  folder = temporaryFolder("native");
});

const path = (name: string): string => join(folder, name);
const write = (name: string, text: string): void => writeFileSync(path(name), text);
const read = (name: string): string => readFileSync(path(name), "utf8");

const runBash = defineTool({
  name: "run_bash",
  description: "Run a command.",
  parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  execute: ({ command }) => JSON.stringify({ stdout: `ran ${command}\n`, stderr: "", exit_code: 0 }),
});

function tools(): ToolRegistry {
  const names = ["read_file", "write_file", "edit_file", "list_dir"];
  const files = createFsTools({ cwd: folder, root: folder }).filter((tool) => names.includes(tool.name));
  return new ToolRegistry([...files, runBash]);
}

function agentOf(replies: WireReply[], options: AgentOptions = {}, native = true): Agent {
  server.script(...replies.map(answerWith));
  const provider = new AnthropicProvider({ apiKey: "sk-native-0123456789", baseURL: server.url, nativeTools: native });
  return new Agent(provider, { tools: tools(), attempts: 1, ...options });
}

const edit = (input: object, id?: string): WireReply => ({
  calls: [{ id, name: "str_replace_based_edit_tool", args: JSON.stringify(input) }],
});

interface WireBlock {
  readonly type: string;
  readonly tool_use_id?: string;
  readonly content?: readonly { readonly text?: string; readonly tool_name?: string }[];
  readonly is_error?: boolean;
  readonly name?: string;
  readonly input?: unknown;
}

const messagesOf = (index: number) =>
  server.requests[index]?.body.messages as readonly { readonly role: string; readonly content: readonly WireBlock[] }[];
const lastResult = (): WireBlock | undefined => messagesOf(server.requests.length - 1).at(-1)?.content[0];
const lastText = (): string => lastResult()?.content?.[0]?.text ?? "";
const toolNames = (index = 0): unknown[] =>
  (server.requests[index]?.body.tools as readonly { name: string }[] | undefined)?.map((tool) => tool.name) ?? [];

afterEach(() => expect(server.problems()).toEqual([]));

describe("the text editor of Anthropic's models", () => {
  test("stands for the three file tools, and bash for run_bash, only where all behind them are enabled", async () => {
    const agent = agentOf([{ text: "a" }, { text: "b" }, { text: "c" }]);
    await agent.chat("go");
    expect(toolNames()).toEqual(["str_replace_based_edit_tool", "list_dir", "bash"]);
    agent.disableTool("edit_file");
    agent.disableTool("run_bash");
    await agent.chat("go");
    expect(toolNames(1)).toEqual(["read_file", "write_file", "list_dir"]);
    agent.enableTool("edit_file");
    const taken = { name: "str_replace_based_edit_tool", description: "x", parameters: { type: "object" } } as const;
    agent.addTool(defineTool({ ...taken, execute: () => "" }));
    await agent.chat("go");
    expect(toolNames(2)).toEqual(expect.arrayContaining(["read_file", "edit_file", "str_replace_based_edit_tool"]));
    expect(server.takeProblems().join("\n")).toContain("thinking before messages.1.content.0 is left out");
  });

  test("is off by default", async () => {
    await agentOf([{ text: "a" }], {}, false).chat("go");
    expect(toolNames()).toContain("edit_file");
    expect(toolNames()).not.toContain("bash");
  });

  test("is not taken for a tool of that name with other arguments", async () => {
    const registry = tools();
    registry.unregister("read_file");
    registry.register(
      defineTool({ name: "read_file", description: "x", parameters: { type: "object" }, execute: () => "" }),
    );
    await agentOf([{ text: "a" }], { tools: registry }).chat("go");
    expect(toolNames()).not.toContain("str_replace_based_edit_tool");
  });

  test("views a file, or lines of it, with their numbers", async () => {
    write("a.txt", "one\ntwo\nthree\nfour\n");
    const view = (view_range?: number[]) => edit({ command: "view", path: "a.txt", view_range });
    const agent = agentOf([view(), view([2, 3]), view([3, -1]), { text: "ok" }]);
    await agent.chat("go");
    const shown = [1, 2, 3].map((index) => messagesOf(index).at(-1)?.content[0]?.content?.[0]?.text);
    expect(shown[0]).toBe("1: one\n2: two\n3: three\n4: four\n");
    expect(shown[1]).toMatch(/^2: two\n3: three\n\n\[truncated: /);
    expect(shown[2]).toBe("3: three\n4: four\n");
    expect(agent.sessionContext[2]).toMatchObject({ name: "read_file", output: "one\ntwo\nthree\nfour\n" });
  });

  test("creates and replaces; the calls go back in the form in which the model made them", async () => {
    const create = { command: "create", path: "b.txt", file_text: "hello\nworld\n" };
    const replace = { command: "str_replace", path: "b.txt", old_str: "world", new_str: "there" };
    const remove = { command: "str_replace", path: "b.txt", old_str: "hello\n" };
    const agent = agentOf([edit(create, "c1"), edit(replace, "c2"), edit(remove, "c3"), { text: "ok" }]);
    await agent.chat("go");
    expect(read("b.txt")).toBe("there\n");
    const uses = messagesOf(3).flatMap(({ content }) => content.filter((block) => block.type === "tool_use"));
    expect(uses.map(({ name, input }) => [name, input])).toEqual(
      [create, replace, remove].map((input) => ["str_replace_based_edit_tool", input]),
    );
    const calls = agent.sessionContext.flatMap((message) => (message.role === "tool" ? [message.name] : []));
    expect(calls).toEqual(["write_file", "edit_file", "edit_file"]);
  });

  test.each<[string, object, string]>([
    ["an unknown command", { command: "undo_edit", path: "a.txt" }, "expected view, create, str_replace or insert"],
    ["no command", {}, "received nothing"],
    ["a missing argument", { command: "create", path: "a.txt" }, "content"],
    [
      "text that is not there",
      { command: "str_replace", path: "a.txt", old_str: "nine", new_str: "" },
      "was not found",
    ],
    ["a file outside the roots", { command: "view", path: "/etc/passwd" }, "Permission denied"],
  ])("answers %s with an error", async (_, input, message) => {
    write("a.txt", "one\n");
    const agent = agentOf([edit(input), { text: "ok" }]);
    await agent.chat("go");
    expect(lastResult()).toMatchObject({ is_error: true });
    expect(lastText()).toMatch(/^Error executing (read|write|edit)_file: /);
    expect(lastText().toLowerCase()).toContain(message.toLowerCase());
    expect(read("a.txt")).toBe("one\n");
  });
});

describe("insert", () => {
  const insert = (insert_line: unknown, insert_text: unknown = "NEW", file = "a.txt") =>
    edit({ command: "insert", path: file, insert_line, insert_text }, "ins");

  test.each<[string, number, string, string]>([
    ["one\ntwo\n", 0, "NEW", "NEW\none\ntwo\n"],
    ["one\ntwo\n", 1, "NEW", "one\nNEW\ntwo\n"],
    ["one\ntwo\n", 1, "NEW\n", "one\nNEW\ntwo\n"],
    ["one\ntwo\n", 2, "NEW", "one\ntwo\nNEW\n"],
    ["one\ntwo", 2, "NEW", "one\ntwo\nNEW"],
    ["x\nx\nx\nx\n", 2, "NEW", "x\nx\nNEW\nx\nx\n"],
    ["a\nx\nx\nb\nx\nx\nc\n", 5, "NEW", "a\nx\nx\nb\nx\nNEW\nx\nc\n"],
    ["", 0, "NEW\n", "NEW\n"],
    ["a\r\nb\r\n", 1, "NEW", "a\r\nNEW\r\nb\r\n"],
  ])("into %j after line %i puts %j there by a read and an edit", async (before, line, text, after) => {
    write("a.txt", before);
    const agent = agentOf([insert(line, text), { text: "ok" }]);
    expect(await agent.chat("go")).toBe("ok");
    expect(read("a.txt")).toBe(after);
    // One call for the model, two for the registry.
    expect(server.requests).toHaveLength(2);
    expect(messagesOf(1).map(({ role, content }) => [role, content.map(({ type }) => type)])).toEqual([
      ["user", ["text"]],
      ["assistant", ["thinking", "tool_use"]],
      ["user", ["tool_result"]],
    ]);
    expect(lastResult()).toMatchObject({ tool_use_id: "ins" });
    expect(lastResult()).not.toHaveProperty("is_error");
    const names = agent.sessionContext.flatMap((message) => (message.role === "tool" ? [message.name] : []));
    expect(names).toEqual(["read_file", before === "" ? "write_file" : "edit_file"]);
  });

  test.each<[unknown, unknown, string]>([
    [9, "x", "insert_line: the file has 2 lines"],
    [-1, "x", "insert_line: expected a whole number"],
    ["1", "x", "insert_line: expected a whole number"],
    [1, 5, "insert_text: expected a string"],
  ])("after line %j of %j is refused in words", async (line, text, message) => {
    write("a.txt", "one\ntwo\n");
    await agentOf([insert(line, text), { text: "ok" }]).chat("go");
    expect(lastResult()).toMatchObject({ is_error: true });
    expect(lastText()).toContain(`Not inserted: ${message}`);
    expect(read("a.txt")).toBe("one\ntwo\n");
  });

  test("into a file that cannot be read tells why", async () => {
    const agent = agentOf([insert(1, "x", "absent.txt"), { text: "ok" }]);
    await agent.chat("go");
    expect(agent.sessionContext.filter((message) => message.role === "tool")).toHaveLength(1);
    expect(lastResult()).toMatchObject({ is_error: true });
    expect(lastText()).toContain("absent.txt");
  });

  test("whose edit is denied tells why", async () => {
    write("a.txt", "one\n");
    const registry = tools().guard(({ name }) => (name === "edit_file" ? "not this file" : true));
    await agentOf([insert(1), { text: "ok" }], { tools: registry }).chat("go");
    expect(lastResult()).toMatchObject({ is_error: true });
    expect(lastText()).toContain("not this file");
  });

  test("of another model is left alone", async () => {
    write("a.txt", "one\n");
    const agent = agentOf([insert(1)]);
    for await (const event of agent.streamChat("go")) if (event.type === "tool-result") break;
    server.script(answerWith({ text: "ok" }));
    const options = { apiKey: "sk-native-0123456789", baseURL: server.url, nativeTools: true };
    const other = new AnthropicProvider({ ...options, model: "another" });
    const messages = agent.sessionContext;
    for await (const _ of other.send({ systemPrompt: "", messages, tools: [], signal: AbortSignal.timeout(100_000) }));
    expect(server.requests).toHaveLength(2);
  });

  test("beyond what one reading shows is refused in words", async () => {
    write("a.txt", `${"line\n".repeat(2000)}last\n`);
    const registry = new ToolRegistry(createFsTools({ cwd: folder, root: folder, maxBytes: 1000 }));
    await agentOf([insert(1900), { text: "ok" }], { tools: registry }).chat("go");
    expect(lastText()).toMatch(/Not inserted: insert_line: only \d+ lines could be read at once; use str_replace/);
    expect(read("a.txt")).not.toContain("NEW");
  });

  test("is asked about as the edit that it is, and goes on after the answer in another process", async () => {
    write("a.txt", "one\n");
    const journal = path("session.jsonl");
    const registry = tools().guard(({ name }) => (name === "edit_file" ? { ask: "Edit?" } : true));
    const first = agentOf([insert(1)], { tools: registry, journal });
    const failure = await first.chat("go").catch((error: unknown) => error);
    expect(isAgentError(failure) && failure.pending).toMatchObject([{ name: "edit_file" }]);
    server.script(answerWith({ text: "ok" }));
    const provider = new AnthropicProvider({ apiKey: "sk-native-0123456789", baseURL: server.url, nativeTools: true });
    const second = await Agent.resume(provider, journal, { tools: registry });
    expect(await second.approve(Object.fromEntries(second.pending.map(({ callId }) => [callId, true])))).toBe("ok");
    expect(read("a.txt")).toBe("one\nNEW\n");
    assertConversation(second.sessionContext);
  });

  test("that was read and never edited tells so, and a later message does not edit", async () => {
    write("a.txt", "one\n");
    const agent = agentOf([insert(1), { text: "ok" }]);
    for await (const event of agent.streamChat("go")) if (event.type === "tool-result") break;
    expect(await agent.chat("never mind")).toBe("ok");
    expect(read("a.txt")).toBe("one\n");
    const result = messagesOf(1).flatMap(({ content }) => content.filter((block) => block.type === "tool_result"))[0];
    expect(result).toMatchObject({ is_error: true });
    expect(result?.content?.[0]?.text).toContain("Not inserted");
  });

  test("beside other calls keeps each result with its call", async () => {
    write("a.txt", "one\n");
    write("b.txt", "two\n");
    const call = (id: string, input: object) => ({ ...edit(input, id).calls?.[0] }) as never;
    const both: WireReply = {
      calls: [
        call("i", { command: "insert", path: "a.txt", insert_line: 0, insert_text: "NEW" }),
        call("v", { command: "view", path: "b.txt" }),
      ],
    };
    await agentOf([both, { text: "ok" }]).chat("go");
    const results = messagesOf(1).at(-1)?.content ?? [];
    expect(results.map((block) => [block.tool_use_id, block.content?.[0]?.text?.slice(0, 6)])).toEqual([
      ["i", expect.not.stringContaining("1: ")],
      ["v", "1: two"],
    ]);
    expect(read("a.txt")).toBe("NEW\none\n");
  });
});

test("bash runs a command, and says that each has a new shell; there is nothing to restart", async () => {
  const bash = (input: object): WireReply => ({ calls: [{ name: "bash", args: JSON.stringify(input) }] });
  await agentOf([bash({ command: "ls" }), bash({ restart: true }), { text: "ok" }]).chat("go");
  const [first, second] = [1, 2].map((index) => messagesOf(index).at(-1)?.content[0]?.content?.[0]?.text);
  expect(first).toBe(
    '{"stdout":"ran ls\\n","stderr":"","exit_code":0}\n[each command runs in a new shell: directory and variables are not kept]',
  );
  expect(second).toContain("there is nothing to restart");
});

test.each([
  ["bash", "run_bash"],
  ["str_replace_based_edit_tool", "read_file"],
])("%s whose arguments are cut off is answered with an error", async (native, name) => {
  const agent = agentOf([{ calls: [{ name: native, args: '{"command":"rm' }] }, { text: "ok" }]);
  await agent.chat("go");
  expect(agent.sessionContext[2]).toMatchObject({ name, isError: true });
  expect(lastText()).toContain("expected a JSON object");
});

test("a tool of one's own called bash stays what it is", async () => {
  const registry = tools();
  registry.register(
    defineTool({ name: "bash", description: "Mine.", parameters: { type: "object" }, execute: () => "mine" }),
  );
  await agentOf([{ calls: [{ name: "bash", args: "{}" }] }, { text: "ok" }], { tools: registry }).chat("go");
  expect(toolNames()).toEqual(["str_replace_based_edit_tool", "list_dir", "run_bash", "bash"]);
  expect(lastText()).toBe("mine");
});

test("a tool that is deferred has no native form", async () => {
  const registry = tools();
  registry.unregister("run_bash");
  registry.register({ ...runBash, deferred: true });
  registry.register(createToolSearch(registry));
  const search: WireReply = { calls: [{ name: "search_tools", args: '{"query":"command"}' }] };
  const run: WireReply = { calls: [{ name: "run_bash", args: '{"command":"ls"}' }] };
  await agentOf([search, run, { text: "ok" }], { tools: registry }).chat("go");
  for (const index of [0, 1, 2]) expect(toolNames(index)).toContain("run_bash");
  expect(toolNames(1)).not.toContain("bash");
});

test("another model gets the calls in the registry's form, and so does this one with native tools off", async () => {
  write("a.txt", "one\n");
  const journal = path("session.jsonl");
  await agentOf([edit({ command: "insert", path: "a.txt", insert_line: 0, insert_text: "NEW" }), { text: "ok" }], {
    journal,
  }).chat("go");
  server.reset();
  server.account.isEnforced = false;
  server.script(answerWith({ text: "ok" }));
  const plain = new AnthropicProvider({ apiKey: "sk-native-0123456789", baseURL: server.url });
  await (await Agent.resume(plain, journal, { tools: tools() })).chat("on");
  const uses = messagesOf(0).flatMap(({ content }) => content.filter((block) => block.type === "tool_use"));
  expect(uses.map((block) => block.name)).toEqual(["read_file", "edit_file"]);
  expect(server.takeProblems().join("\n")).toContain("The `tools` list differs");
});

test("so does this one once a tool behind the form is disabled", async () => {
  write("a.txt", "one\n");
  const agent = agentOf([
    edit({ command: "insert", path: "a.txt", insert_line: 0, insert_text: "NEW" }),
    ...[{ text: "ok" }, { text: "ok" }],
  ]);
  await agent.chat("go");
  agent.disableTool("write_file");
  await agent.chat("on");
  const uses = messagesOf(2).flatMap(({ content }) => content.filter((block) => block.type === "tool_use"));
  expect(uses.map((block) => block.name)).toEqual(["read_file", "edit_file"]);
  expect(server.takeProblems().join("\n")).toContain("thinking before messages.1.content.0 is left out");
});

test("half characters and arguments that are nested too deep stay out of the conversation", async () => {
  const deep = `${'{"a":'.repeat(300)}1${"}".repeat(300)}`;
  const raw = (args: string): WireReply => ({ calls: [{ name: "str_replace_based_edit_tool", args }] });
  const half = '{"command":"create","path":"a.txt","file_text":"\\ud800"}';
  const agent = agentOf([raw(half), raw(`{"command":"view","path":${deep}}`), { text: "ok" }]);
  await agent.chat("go");
  assertConversation(agent.sessionContext);
  expect(read("a.txt")).toBe("\ufffd");
  expect(lastText()).toContain("nested deeper than 200 levels");
  expect(server.takeProblems()).toEqual(["request 3: messages.3.content.1 is not the reply's tool_use as it came"]);
});

test("a deferred tool that was found before a compaction is sent as any other", async () => {
  const registry = tools();
  registry.register(
    defineTool({ name: "mail", description: "x", deferred: true, parameters: { type: "object" }, execute: () => "" }),
  );
  server.script(answerWith({ text: "ok" }));
  const session = { format: "toolcrib-session", version: 1, savedAt: "", systemPrompt: "", messages: [] } as const;
  const provider = new AnthropicProvider({ apiKey: "sk-native-0123456789", baseURL: server.url, nativeTools: true });
  await (await Agent.resume(provider, { ...session, foundTools: ["mail"] }, { tools: registry })).chat("on");
  const listed = server.requests[0]?.body.tools as readonly object[];
  expect(listed.at(-1)).toEqual({ name: "mail", description: "x", input_schema: { type: "object", properties: {} } });
});
