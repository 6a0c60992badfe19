import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createToolSearch, ToolRegistry, toolOutput } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { anyTool, read } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import type { AgentOptions } from "../options.ts";
import { createSaveSessionContextTool } from "../session/sessionContext.ts";
import { ScriptedProvider, type ScriptedReply } from "../testing.ts";

let folder: string;
let journal: string;
beforeEach(() => {
  folder = temporaryFolder("deferred");
  journal = join(folder, "one.jsonl");
});

function toolsOf(): ToolRegistry {
  const names = ["send_mail", "read_file", "post_issue", "close_issue", "list_dir"];
  const of = (name: string) =>
    anyTool(name, () => toolOutput(`${name} done`, { data: { secretly: name } }), {
      deferred: !["read_file", "list_dir"].includes(name),
    });
  const registry = new ToolRegistry(names.map(of));
  registry.register(createToolSearch(registry));
  return registry;
}

const search = (query: string): ScriptedReply => ({ calls: [{ name: "search_tools", args: { query } }] });
const call = (name: string): ScriptedReply => ({ calls: [{ id: name, name }] });
const offered = (provider: ScriptedProvider): string[] =>
  provider.requests.map(({ tools }) => tools.map((tool) => tool.function.name).join());
const first = "read_file,list_dir,search_tools";

function agentOf(replies: ScriptedReply[], options: AgentOptions = {}) {
  const provider = new ScriptedProvider(replies);
  return { provider, agent: new Agent(provider, { tools: toolsOf(), ...options }) };
}

test("a tool for programs alone is in no request, and a model that names it does not run it", async () => {
  const tools = new ToolRegistry([
    anyTool("read_file", () => "", { callers: ["model", "programs"] }),
    anyTool("post_issue", () => "posted", { callers: ["programs"] }),
  ]);
  const { agent, provider } = agentOf([call("post_issue"), "ok"], { tools });
  await agent.chat("go");
  expect(offered(provider)).toEqual(["read_file", "read_file"]);
  expect(JSON.stringify(agent.sessionContext)).toContain("Tool not available: post_issue: only programs can call it");
  expect(JSON.stringify(agent.sessionContext)).not.toContain("posted");
});

describe("deferred tools", () => {
  test("are left out of requests until they are found, then come last in the order found, and stay", async () => {
    const replies = [search("issue"), call("close_issue"), search("mail"), "ok", search("issue"), "ok"];
    const { agent, provider } = agentOf(replies);
    await agent.chat("go");
    await agent.chat("on");
    const both = `${first},post_issue,close_issue`;
    expect(offered(provider)).toEqual([
      ...[first, both, both],
      ...[`${both},send_mail`, `${both},send_mail`, `${both},send_mail`],
    ]);
    const all = ["send_mail", "post_issue", "close_issue"];
    expect(provider.requests[0]?.deferredTools?.map((tool) => tool.function.name)).toEqual(all);
    expect(agent.getTools()).toHaveLength(6);
  });

  test("can be called without having been found", async () => {
    const { agent } = agentOf([call("send_mail"), "ok"]);
    await agent.chat("go");
    expect(JSON.stringify(agent.sessionContext)).toContain("send_mail done");
  });

  test("that are disabled are left out, and take their place again", async () => {
    const { agent, provider } = agentOf([search("issue"), "ok", "ok", "ok"]);
    await agent.chat("go");
    agent.disableTool("post_issue");
    await agent.chat("go");
    agent.enableTool("post_issue");
    await agent.chat("go");
    expect(offered(provider).slice(2)).toEqual([`${first},close_issue`, `${first},post_issue,close_issue`]);
  });

  test("stay found after a compaction, and in a journal and a saved session", async () => {
    const file = join(folder, "session.json");
    const options: AgentOptions = {
      journal,
      sessionContextFilePath: file,
      tools: (context) => {
        const tools = toolsOf();
        tools.register(createSaveSessionContextTool(context));
        return tools;
      },
    };
    const { agent, provider } = agentOf([search("mail"), "ok", "ok", "The summary.", "ok"], options);
    await agent.chat("x".repeat(2000));
    await agent.chat("on");
    expect(await agent.compact()).toMatchObject({ summarisedMessages: expect.any(Number) });
    expect(JSON.stringify(agent.sessionContext)).not.toContain("search_tools");
    await agent.saveContext("later");
    const expected = `${first},save_session_context,send_mail`;
    await agent.chat("on");
    expect(offered(provider).slice(1)).toEqual([expected, expected, expected, expected]);
    for (const from of [journal, file]) {
      const next = new ScriptedProvider(["ok"]);
      await (await Agent.resume(next, from, { tools: options.tools as never })).chat("on");
      expect(offered(next)).toEqual([expected]);
    }
  });

  test("are forgotten with the conversation", async () => {
    const { agent, provider } = agentOf([search("mail"), "ok", "ok"], { journal });
    await agent.chat("go");
    agent.clearContext();
    await agent.chat("on");
    expect(offered(provider).at(-1)).toBe(first);
    const next = new ScriptedProvider(["ok"]);
    await (await Agent.resume(next, journal, { tools: toolsOf() })).chat("on");
    expect(offered(next)).toEqual([first]);
  });

  test.each([[{}], [[1]], ["send_mail"]])("a session whose foundTools are %j is refused", async (foundTools) => {
    const session = { format: "toolcrib-session", version: 1, savedAt: "", systemPrompt: "", messages: [], foundTools };
    await expect(Agent.resume(new ScriptedProvider([]), session as never)).rejects.toThrow("foundTools is not a list");
  });
});

test("the data of a result is in its event and in the journal, and never goes to a model", async () => {
  const { agent, provider } = agentOf([call("read_file"), "ok"], { journal });
  const events = await read(agent.streamChat("go"));
  const data = { secretly: "read_file" };
  const { output, isError } = { output: "read_file done", isError: false };
  expect(events).toContainEqual({ type: "tool-result", id: "read_file", name: "read_file", output, isError, data });
  const lines = readFileSync(journal, "utf8").split("\n").slice(0, -1);
  expect(lines.map((line) => JSON.parse(line).data).filter(Boolean)).toEqual([data]);
  expect(JSON.stringify(provider.requests)).not.toContain("secretly");
  const resumed = await Agent.resume(provider, journal);
  expect(resumed.sessionContext).toEqual(agent.sessionContext);
});

test("an outcome without data has none in its event", async () => {
  const { agent } = agentOf([call("absent"), "ok"]);
  for await (const event of agent.streamChat("go"))
    if (event.type === "tool-result") expect(event).not.toHaveProperty("data");
});

test("half a character in a definition is replaced, since services refuse the whole request for it", async () => {
  const half = "\ud83d";
  const parameters = { type: "object", properties: { [half]: { description: half, enum: [half] } } };
  const tools = new ToolRegistry([anyTool("look", () => "", { description: half, parameters }), anyTool("plain")]);
  const { agent, provider } = agentOf(["Done."], { tools });
  await agent.chat("Go.");
  expect(JSON.stringify(provider.requests[0]?.tools)).not.toMatch(/\\ud[89a-f]/);
  expect(JSON.stringify(provider.requests[0]?.tools)).toContain("\ufffd");
});
