import { defineTool, type Guard, ToolRegistry } from "@toolcrib/core";
import { answerWith, jsonOf, sharedWireServer, sse, streamOf } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { read } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { assertConversation } from "../testing.ts";
import { OpenAICompatibleProvider } from "./chat/openaiCompatible.ts";
import { OpenRouterProvider } from "./chat/openrouter.ts";
import { writesTextCalls } from "./models/openModels.ts";

const server = await sharedWireServer();
const call =
  "<tool_call>\n<function=look>\n<parameter=path>\n12\n</parameter>\n<parameter=depth>\n3\n</parameter>\n</function>\n</tool_call>";
const content = `<think>\nHm.\n</think>\n\nI look.\n${call}`;

test.each([
  ["qwen4:8b", true],
  ["Qwen/Qwen3-Coder-480B", true],
  ["meta-llama/Llama-4-Scout", true],
  ["NousResearch/Hermes-4-70B", true],
  ["codestral", true],
  ["gpt-6-luna", false],
  ["ollama-model", false],
  ["openai/gpt-oss-120b", false],
])("whether %s is marked: %s", (model, expected) => expect(writesTextCalls(model)).toBe(expected));

describe.each([true, false])("over chat completions (streamed: %s)", (stream) => {
  const script = (text = content, finish_reason = "stop"): void => {
    const events = [...text.matchAll(/[\s\S]{1,3}/g)].map(([piece]) => ({
      data: { id: "c", choices: [{ index: 0, delta: { content: piece }, finish_reason: null }] },
    }));
    const end = { data: { id: "c", choices: [{ index: 0, delta: {}, finish_reason }] } };
    const message = { role: "assistant", content: text };
    const whole = { id: "c", choices: [{ index: 0, message, finish_reason }] };
    server.script(stream ? streamOf(sse([...events, end])) : jsonOf(whole), answerWith({ text: "Seen." }));
  };
  const ran: unknown[] = [];
  const properties = { path: { type: "string" }, depth: { type: "integer" } };
  const look = defineTool({
    ...{ name: "look", description: "Looks.", parameters: { type: "object", properties } },
    execute: (args) => `saw ${ran.push(args)}`,
  });
  const agentOf = (model = "m", compat = {}, guard?: Guard): Agent => {
    ran.length = 0;
    const tools = new ToolRegistry([look]);
    if (guard) tools.guard(guard);
    const provider = new OpenAICompatibleProvider({ baseURL: `${server.url}/v1`, model, stream, compat });
    return new Agent(provider, { tools, attempts: 1 });
  };

  test.each([
    ["a model of the table", "qwen4:8b", {}],
    ["the option", "m", { textCalls: true }],
  ])("marked by %s, a call as text runs and goes back as a call", async (_, model, compat) => {
    script();
    const agent = agentOf(model, compat);
    const events = await read(agent.streamChat("Look."));
    const shown = (type: string): string =>
      events.map((event) => (event.type === type && "text" in event ? event.text : "")).join("");
    expect([shown("reasoning-delta"), shown("text-delta")]).toEqual(["Hm.", "I look.Seen."]);
    expect(ran).toEqual([{ path: "12", depth: 3 }]);
    expect(events.filter(({ type }) => type === "unread-call")).toEqual([]);
    const [, reply, result] = (server.requests.at(-1)?.body.messages ?? []) as Record<string, unknown>[];
    const sent = { name: "look", arguments: '{"path":"12","depth":3}' };
    expect(reply).toEqual({
      role: "assistant",
      content: "<think>\nHm.\n</think>\n\nI look.",
      tool_calls: [{ id: "call_1", type: "function", function: sent }],
    });
    expect(result).toMatchObject({ role: "tool", tool_call_id: "call_1", content: "saw 1" });
    assertConversation(agent.sessionContext);
  });

  test("a model that is not marked is told of, and nothing runs", async () => {
    for (const [model, compat] of [
      ["m", {}],
      ["qwen4:8b", { textCalls: false }],
    ] as const) {
      script();
      const events = await read(agentOf(model, compat).streamChat("Look."));
      expect(ran).toEqual([]);
      expect(events.find(({ type }) => type === "unread-call")).toMatchObject({ name: "look", problem: "not-enabled" });
      expect(events.at(-1)).toMatchObject({ type: "end", reason: "stop", text: content });
      server.reset();
    }
  });

  test("a guard decides on such a call, and one that is cut off does not run", async () => {
    script();
    const refused = await read(agentOf("qwen4", {}, () => "not now").streamChat("Look."));
    expect(refused.find(({ type }) => type === "tool-result")).toMatchObject({
      isError: true,
      output: expect.stringContaining("not now"),
    });
    script(content, "length");
    const cut = await read(agentOf("qwen4").streamChat("Look."));
    expect(cut.at(-1)).toMatchObject({ type: "end", reason: "token-limit" });
    expect(ran).toEqual([]);
    server.reset();
  });

  test("with a tool choice of none nothing is a call", async () => {
    script();
    const events = await read(agentOf("qwen4").streamChat("Look.", { toolChoice: "none" }));
    expect(ran).toEqual([]);
    expect(events.map(({ type }) => type)).toContain("unread-call");
    server.reset();
  });

  test("a word that promises calls is kept by one as text", async () => {
    script(content, "tool_calls");
    expect(await agentOf("qwen4").chat("Look.")).toBe("Seen.");
    expect(ran).toHaveLength(1);
  });
});

test("OpenRouter's names are looked up too", async () => {
  const message = { role: "assistant", content };
  server.script(jsonOf({ id: "c", choices: [{ index: 0, message, finish_reason: "stop" }] }));
  const provider = new OpenRouterProvider({
    apiKey: "k",
    baseURL: `${server.url}/v1`,
    model: "qwen/qwen3-coder",
    stream: false,
  });
  const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "" });
  const events = await read(new Agent(provider, { tools: new ToolRegistry([look]), maxSteps: 1 }).streamChat("Look."));
  expect(events.map(({ type }) => type)).toContain("tool-call");
});
