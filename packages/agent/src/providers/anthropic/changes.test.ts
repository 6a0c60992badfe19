import { createToolSearch, type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { answerWith, jsonOf, sharedWireServer, type WireReply } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { anyTool, read } from "../../../testing/turns.ts";
import { Agent } from "../../agent.ts";
import { AnthropicProvider, type AnthropicProviderOptions } from "./anthropic.ts";

const server = await sharedWireServer();

/** Returns options by which the provider takes the server for the service itself. */
const service = (): AnthropicProviderOptions => ({ baseURL: server.url, fullApi: true });
const elsewhere: AnthropicProviderOptions = { fullApi: false };
const apiKey = "sk-changes-0123456789";

function tool(name: string, more: { description?: string; deferred?: boolean } = {}): ExecutableTool {
  return anyTool(name, () => name, { description: `Does ${name}.`, ...more });
}

function agentOf(tools: readonly ExecutableTool[], options: AnthropicProviderOptions = {}): Agent {
  const provider = new AnthropicProvider({ apiKey, ...service(), ...options });
  return new Agent(provider, { tools: new ToolRegistry(tools), systemPrompt: "Be brief.", attempts: 1 });
}

function script(...replies: WireReply[]): void {
  server.script(...replies.map(answerWith));
}

interface Message {
  readonly role: string;
  readonly content: readonly unknown[];
}
const bodyOf = (index: number) =>
  server.requests[index]?.body as { system?: unknown; tools?: unknown; messages: readonly Message[] } & Record<
    string,
    unknown
  >;
const updates = "thinking-display-updates-2026-08-18";
const betasOf = (index: number) =>
  String(server.requests[index]?.headers["anthropic-beta"])
    .split(",")
    .filter((name) => name !== updates);
const toolChanges = "mid-conversation-tool-changes-2026-07-01";
const inlineTools = "inline-tools-2026-09-15";
const binding = "thinking-binding-controls-2026-08-01";
const reference = (type: string, name: string) => ({ type, tool: { type: "tool_reference", name } });

test("at the service, a changed prompt and tools are told where they changed, and what was sent stays", async () => {
  const agent = agentOf([tool("one"), tool("two")]);
  script({ text: "a" }, { text: "b" }, { text: "c" }, { text: "d" });
  await agent.chat("1");
  agent.setSystemPrompt("Be long.");
  agent.disableTool("two");
  await agent.chat("2");
  agent.enableTool("two");
  await agent.chat("3");
  agent.addTool(tool("three"));
  await agent.chat("4");
  const [first, last] = [bodyOf(0), bodyOf(3)];
  const definition = { name: "three", description: "Does three.", input_schema: { type: "object", properties: {} } };
  expect([last.system, last.tools]).toEqual([first.system, first.tools]);
  expect(last.messages.filter(({ role }) => role === "system").map(({ content }) => content)).toEqual([
    [
      { type: "text", text: "From here on, these instructions replace those given before:\n\nBe long." },
      reference("tool_removal", "two"),
    ],
    [reference("tool_addition", "two")],
    [{ type: "tool_addition", tool: { type: "tool_definition", definition } }],
  ]);
  const roles = last.messages.map(({ role }) => role);
  expect(roles.slice(0, 5)).toEqual(["user", "assistant", "user", "system", "assistant"]);
  expect([betasOf(0), betasOf(1), betasOf(3)]).toEqual([[binding], [toolChanges, binding], [inlineTools, binding]]);
  for (const index of [1, 2, 3]) {
    const before = JSON.stringify(bodyOf(index - 1).messages).slice(0, -1);
    expect(JSON.stringify(bodyOf(index).messages).startsWith(before)).toBe(true);
  }
});

test("a tool with another schema is told anew; one that comes and goes before a reply is not told of", async () => {
  const agent = agentOf([tool("one")]);
  script({ text: "a" }, { text: "b" }, { text: "c" });
  await agent.chat("1");
  agent.disableTool("one");
  agent.enableTool("one");
  await agent.chat("2");
  expect(bodyOf(1).messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  agent.removeTool("one");
  agent.addTool(tool("one", { description: "Does more." }));
  await agent.chat("3");
  expect(bodyOf(2).messages.at(-1)?.content).toMatchObject([
    { type: "tool_addition", tool: { type: "tool_definition" } },
  ]);
});

test("deferred tools are outside the prompt, and results of search_tools refer to them", async () => {
  const registry = new ToolRegistry([tool("mail", { deferred: true }), tool("issue", { deferred: true })]);
  registry.register(createToolSearch(registry));
  const agent = new Agent(new AnthropicProvider({ apiKey, ...service() }), { tools: registry });
  const search = (query: string): WireReply => ({
    calls: [{ name: "search_tools", args: JSON.stringify({ query }) }],
  });
  script(search("mail"), { calls: [{ name: "mail", args: "{}" }] }, { text: "a" }, { text: "b" });
  await agent.chat("1");
  agent.disableTool("mail");
  agent.disableTool("issue");
  await agent.chat("2");
  expect(new Set(server.requests.map(({ body }) => JSON.stringify(body.tools))).size).toBe(1);
  expect(bodyOf(0).tools).toMatchObject([
    { name: "search_tools" },
    { name: "mail", defer_loading: true },
    { name: "issue", defer_loading: true },
  ]);
  expect(bodyOf(1).messages[2]?.content).toMatchObject([
    { type: "tool_result", content: [{ type: "tool_reference", tool_name: "mail" }] },
  ]);
  // What was never shown need not be withdrawn.
  expect(bodyOf(3).messages.at(-1)?.content).toEqual([reference("tool_removal", "mail")]);
});

/** The same conversation in another process, where its beginning is another: nothing tells what it was. */
function resumedElsewhere(
  agent: Agent,
  options: AnthropicProviderOptions,
  systemPrompt: string,
  tools: ExecutableTool[] = [],
): Promise<Agent> {
  const saved = { format: "toolcrib-session", version: 1, savedAt: "", systemPrompt: "" } as const;
  const session = { ...saved, messages: agent.sessionContext };
  const provider = new AnthropicProvider({ apiKey, ...service(), ...options });
  return Agent.resume(provider, session, { systemPrompt, tools: new ToolRegistry(tools), attempts: 1 });
}

const drops = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };

test("the service is asked to go on without thinking that no longer fits, and says what it left out", async () => {
  const agent = agentOf([]);
  script({ text: "a" }, { text: "b" });
  await agent.chat("1");
  expect(bodyOf(0).thinking).toMatchObject(drops);
  const events = await read((await resumedElsewhere(agent, {}, "Be another.")).streamChat("2"));
  expect(events.filter(({ type }) => type === "thinking-dropped")).toEqual([
    { type: "thinking-dropped", blocks: 1, reason: "prefix_binding_mismatch" },
  ]);
  expect(server.takeProblems()).toHaveLength(1);
});

test("elsewhere the thinking before a change is left out, and nothing is refused", async () => {
  const agent = agentOf([tool("one")], elsewhere);
  script({ text: "a" }, { text: "b" }, { text: "c" });
  await agent.chat("1");
  agent.setSystemPrompt("Be another.");
  await agent.chat("2");
  await agent.chat("3");
  expect(bodyOf(2).messages.map(({ content }) => content.filter(isThinking).length)).toEqual([0, 0, 0, 1, 0]);
  expect(server.requests.flatMap(({ problems }) => problems)).toEqual([]);
  expect(server.takeProblems()).toHaveLength(2);
});

/** Creates an agent whose saved session began with another prompt. */
const editedElsewhere = async (): Promise<Agent> => {
  const agent = agentOf([], elsewhere);
  script({ text: "a" });
  await agent.chat("1");
  return resumedElsewhere(agent, elsewhere, "Be another.");
};

test("elsewhere a request that was refused for that is sent once more with the choice, which the conversation keeps", async () => {
  const agent = await editedElsewhere();
  script({ text: "b" }, { text: "c" });
  await agent.chat("2");
  expect(server.requests).toHaveLength(3);
  expect(bodyOf(1).thinking).toBeUndefined();
  expect([bodyOf(2).thinking, betasOf(2)]).toEqual([drops, [binding]]);
  await (await resumedElsewhere(agent, elsewhere, "Be another.")).chat("3");
  expect(server.requests).toHaveLength(4);
  expect(bodyOf(3).thinking).toEqual(drops);
  // The mark is no part of what is sent.
  expect(JSON.stringify(bodyOf(3).messages)).not.toContain("dropChanged");
  server.takeProblems();
});

test("a model that is told to think only between calls goes on without earlier thinking, as it has no such choice", async () => {
  const none = { reasoning: "none" } as const;
  const agent = agentOf([tool("look")], none);
  script({ calls: [{ name: "look", args: "{}" }] }, { text: "a" }, { text: "b" }, { text: "c" });
  await agent.chat("1");
  const sent = server.requests.length;
  const thoughts = (index: number): number =>
    bodyOf(index)
      .messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(isThinking).length;
  expect(thoughts(sent - 1)).toBe(1);
  const resumed = await resumedElsewhere(agent, none, "Be another.", [tool("look")]);
  expect(await resumed.chat("2")).toBe("b");
  expect([thoughts(sent), thoughts(sent + 1)]).toEqual([1, 0]);
  expect(await resumed.chat("3")).toBe("c");
  expect(server.requests).toHaveLength(sent + 3);
  expect(server.takeProblems().join()).toMatch(/differs/);
});

test("where the address refuses the choice too it goes on without thinking, which the conversation keeps", async () => {
  const agent = await editedElsewhere();
  server.account.takesBetas = false;
  script({ text: "b" }, { text: "c" });
  expect(await agent.chat("2")).toBe("b");
  expect(server.requests).toHaveLength(4);
  expect(await agent.chat("3")).toBe("c");
  expect(server.requests).toHaveLength(5);
  expect(JSON.stringify(bodyOf(4).messages)).not.toContain("thinking");
  server.takeProblems();
});

test("a request that is refused for anything else is not sent again", async () => {
  const message = "messages.1.content.0: Invalid `signature` in `thinking` block.";
  server.script(jsonOf({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 }));
  await expect(agentOf([], elsewhere).chat("1")).rejects.toMatchObject({ code: "invalid_request" });
  expect(server.requests).toHaveLength(1);
  server.takeProblems();
});

function isThinking(block: unknown): boolean {
  return (block as { type: unknown }).type === "thinking";
}
