import { createToolSearch, defineTool, type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { answerWith, sharedWireServer, type WireReply } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { Agent } from "../../agent.ts";
import { OpenAIProvider, type OpenAIProviderOptions } from "./openai.ts";

const server = await sharedWireServer();
const parameters = { type: "object", properties: {}, additionalProperties: false };

function tool(name: string, more: { description?: string; deferred?: boolean } = {}): ExecutableTool {
  return defineTool({ name, description: `Does ${name}.`, parameters, execute: () => name, ...more });
}

function providerOf(options: OpenAIProviderOptions = {}): OpenAIProvider {
  return new OpenAIProvider({
    apiKey: "sk-changes-0123456789",
    baseURL: `${server.url}/v1`,
    fullApi: true,
    ...options,
  });
}

function agentOf(tools: readonly ExecutableTool[], options: OpenAIProviderOptions = {}): Agent {
  return new Agent(providerOf(options), { tools: new ToolRegistry(tools), systemPrompt: "Be brief.", attempts: 1 });
}

function script(...replies: WireReply[]): void {
  server.script(...replies.map(answerWith));
}

type Item = Readonly<Record<string, unknown>>;
const bodyOf = (index: number) => server.requests[index]?.body as Item & { readonly input: readonly Item[] };
const declared = (name: string) => expect.objectContaining({ type: "function", name });
const allowed = (...names: string[]) => ({
  type: "allowed_tools",
  mode: "auto",
  tools: names.map((name) => ({ type: "function", name })),
});

test("at the service, a changed prompt and tools are told where they changed, and what was sent stays", async () => {
  const agent = agentOf([tool("one"), tool("two")]);
  script({ text: "a" }, { text: "b" }, { text: "c" }, { text: "d" });
  await agent.chat("1");
  agent.setSystemPrompt("Be long.");
  agent.disableTool("two");
  await agent.chat("2");
  agent.addTool(tool("three"));
  await agent.chat("3");
  agent.enableTool("two");
  await agent.chat("4");
  for (const index of [1, 2, 3]) {
    expect([bodyOf(index).instructions, bodyOf(index).tools]).toEqual([bodyOf(0).instructions, bodyOf(0).tools]);
    const before = JSON.stringify(bodyOf(index - 1).input).slice(0, -1);
    expect(JSON.stringify(bodyOf(index).input).startsWith(before)).toBe(true);
  }
  expect(bodyOf(3).input.filter((item) => item.role === "developer")).toEqual([
    {
      type: "message",
      role: "developer",
      content: "From here on, these instructions replace those given before:\n\nBe long.",
    },
    { type: "additional_tools", role: "developer", tools: [declared("three")] },
  ]);
  expect([0, 1, 2, 3].map((index) => bodyOf(index).tool_choice)).toEqual([
    undefined,
    allowed("one"),
    allowed("one", "three"),
    undefined,
  ]);
});

test("a new schema goes where the tool was declared, and a turn without any tool may call none", async () => {
  const agent = agentOf([tool("one")]);
  script({ text: "a" }, { text: "b" }, { text: "c" });
  await agent.chat("1");
  agent.removeTool("one");
  await agent.chat("2");
  expect(bodyOf(1)).toMatchObject({ tools: [declared("one")], tool_choice: "none" });
  agent.addTool(tool("one", { description: "Does more." }));
  await agent.chat("3", { toolChoice: "required" });
  expect(bodyOf(2)).toMatchObject({ tools: [{ name: "one", description: "Does more." }], tool_choice: "required" });
});

test("deferred tools are outside the prompt; what a search finds is declared behind its result", async () => {
  const registry = new ToolRegistry([tool("mail", { deferred: true }), tool("issue", { deferred: true })]);
  registry.register(createToolSearch(registry));
  const agent = new Agent(providerOf(), { tools: registry, attempts: 1 });
  const search = { name: "search_tools", args: '{"query":"mail"}' };
  script({ calls: [search, search] }, { calls: [{ name: "mail", args: "{}" }] }, { text: "a" });
  await agent.chat("1");
  expect(server.requests.map(({ body }) => body.tools)).toEqual(Array(3).fill([declared("search_tools")]));
  expect(bodyOf(1).input.slice(-3)).toMatchObject([
    { type: "function_call_output", output: "mail: Does mail." },
    { type: "function_call_output" },
    { type: "additional_tools", role: "developer", tools: [declared("mail")] },
  ]);
  const before = JSON.stringify(bodyOf(1).input).slice(0, -1);
  expect(JSON.stringify(bodyOf(2).input).startsWith(before)).toBe(true);
});

test.each<[string, OpenAIProviderOptions]>([
  ["at another address", { fullApi: false }],
  ["of an older model", { model: "gpt-4.1" }],
])("%s, tools change at the beginning", async (_, options) => {
  const agent = agentOf([tool("one"), tool("two")], options);
  script({ text: "a" }, { text: "b" });
  await agent.chat("1");
  agent.disableTool("two");
  agent.addTool(tool("three"));
  await agent.chat("2");
  expect(bodyOf(1).tools).toEqual([declared("one"), declared("three")]);
  expect(bodyOf(1).tool_choice).toBeUndefined();
  expect(bodyOf(1).input.filter((item) => item.role === "developer")).toEqual([]);
});

test("so they do in a conversation that began without any", async () => {
  const agent = agentOf([]);
  script({ text: "a" }, { text: "b" });
  await agent.chat("1");
  agent.addTool(tool("one"));
  await agent.chat("2");
  expect(bodyOf(1).tools).toEqual([declared("one")]);
});
