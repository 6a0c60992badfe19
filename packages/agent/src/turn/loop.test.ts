import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import * as turns from "../../testing/turns.ts";
import { anyTool, failureOf, outputs, read, registryOf } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { AgentError } from "../errors.ts";
import type { AgentEvent, StopReason } from "../messages.ts";
import type { AgentOptions } from "../options.ts";
import { ScriptedProvider, type ScriptedReply } from "../testing.ts";
import { anyOf, calledTool, usedTokens } from "./stopConditions.ts";

const echo = registryOf({ echo: (args) => JSON.stringify(args) });
const agentOf = (replies: ScriptedReply[], options: AgentOptions = {}) =>
  turns.agentOf(replies, { tools: echo, ...options });
const eventsOf = (agent: Agent): Promise<AgentEvent[]> => read(agent.streamChat("go"));
const lastResult = (agent: Agent): string => outputs(agent).at(-1) ?? "";

test("chat returns the final text; streamChat yields every event in order", async () => {
  const script = [{ text: "Look: ", calls: [{ id: "a", name: "echo", args: { x: 1 } }] }, "All done"];
  expect(await agentOf(script).agent.chat("go")).toBe("All done");
  expect(await eventsOf(agentOf(script).agent)).toEqual([
    { type: "step-start", step: 1 },
    { type: "text-delta", text: "Look: " },
    { type: "tool-call", id: "a", name: "echo", args: { x: 1 } },
    { type: "tool-result", id: "a", name: "echo", output: '{"x":1}', isError: false },
    { type: "step-start", step: 2 },
    { type: "text-delta", text: "All " },
    { type: "text-delta", text: "done" },
    { type: "end", reason: "stop", text: "All done" },
  ]);
});

test("reasoning is streamed, kept in history and sent back", async () => {
  const { agent, provider } = agentOf([{ reasoning: "hm", calls: [{ name: "echo" }] }, "ok"]);
  expect((await eventsOf(agent))[1]).toEqual({ type: "reasoning-delta", text: "hm" });
  expect(JSON.stringify(provider.requests[1]?.messages)).toContain('{"type":"reasoning","text":"hm"}');
});

test("pictures in a user's message reach the provider", async () => {
  const { agent, provider } = agentOf(["a cat"]);
  const picture = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
  await agent.chat([{ type: "text", text: "what is it" }, picture]);
  expect(provider.requests[0]?.messages[0]?.content?.[1]).toEqual(picture);
});

describe("mistakes of a model are answered, and history stays valid", () => {
  test("a tool name that the wire forbids", async () => {
    const { agent } = agentOf([{ calls: [{ name: "functions.echo" }, { name: "no such tool!" }, { name: "" }] }, "ok"]);
    await agent.chat("go");
    const [first, second, third] = outputs(agent);
    expect(first).toBe("{}");
    expect(second).toContain("Tool not found: no_such_tool_");
    expect(third).toContain("Tool not found: unnamed");
  });

  test("lone surrogates, wherever they come from", async () => {
    const bad = "a\ud800b";
    const tools = registryOf({ echo: () => bad });
    const { agent } = agentOf([{ text: bad, calls: [{ name: "echo", args: { [bad]: [bad] } }] }, bad], { tools });
    expect(await agent.chat(bad)).toBe("a\ufffdb");
    expect(JSON.stringify(agent.sessionContext)).not.toContain("ud800");
  });

  test("arguments nested too deep, or in a cycle", async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const { agent } = agentOf([{ calls: [{ name: "echo", args: cycle }] }, "ok"]);
    await agent.chat("go");
    expect(lastResult(agent)).toContain("Invalid arguments: nested deeper than 200 levels");
  });

  test("an empty reply is an empty answer and is not kept", async () => {
    const { agent } = agentOf([{ text: "" }, "ok"]);
    expect(await agent.chat("go")).toBe("");
    expect(agent.sessionContext).toHaveLength(1);
    expect(await agent.chat("again")).toBe("ok");
  });
});

test("arguments that a tool changes while it runs are not changed in history", async () => {
  const tools = registryOf({
    spoil: (args) => {
      (args.list as unknown[]).push("spoilt");
      args.list = "spoilt";
      return "done";
    },
  });
  const { agent } = agentOf([{ calls: [{ id: "a", name: "spoil", args: { list: [1] } }] }, "ok"], { tools });
  await agent.chat("go");
  expect(lastResult(agent)).toBe("done");
  expect(JSON.stringify(agent.sessionContext)).toContain('"args":{"list":[1]}');
});

test("__proto__ in arguments is data", async () => {
  const args = JSON.parse('{"__proto__":{"polluted":1}}') as Record<string, unknown>;
  const { agent } = agentOf([{ calls: [{ name: "echo", args }] }, "ok"]);
  await agent.chat("go");
  expect(JSON.stringify(agent.sessionContext)).toContain('{"__proto__":{"polluted":1}}');
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test.each<StopReason>(["token-limit", "context-limit", "refusal", "content-filter"])(
  "a reply that ends with %s ends the turn: its calls do not run, chat rejects with reason and text",
  async (stop) => {
    const { agent } = agentOf([
      { text: "so far", calls: [{ name: "echo" }], stop },
      { text: "so far", stop },
      { stop, detail: "It was too much." },
      { stop, detail: "It was too much." },
    ]);
    const events = await eventsOf(agent);
    const output = "Error executing echo: Not run: cut off";
    expect(events.at(-2)).toMatchObject({ type: "tool-result", output, isError: true });
    expect(events.at(-1)).toEqual({ type: "end", reason: stop, text: "so far" });
    // With nothing before it, a message cannot be shortened.
    agent.clearContext();
    expect(await failureOf(agent.chat("go"))).toMatchObject({ code: "ended", reason: stop, text: "so far" });
    const detail = "It was too much.";
    agent.clearContext();
    expect((await eventsOf(agent)).at(-1)).toEqual({ type: "end", reason: stop, text: "", detail });
    agent.clearContext();
    const failure = await failureOf(agent.chat("go"));
    expect(failure).toMatchObject({ code: "ended", reason: stop, text: "", detail });
    expect(failure.message).toMatch(/The service said: It was too much\.$/);
  },
);

test("after a pause the conversation is sent again, and the text is joined", async () => {
  const { agent, provider } = agentOf([{ text: "one ", stop: "pause" }, "two"]);
  expect(await agent.chat("go")).toBe("one two");
  expect(provider.requests[1]?.messages).toHaveLength(2);
});

test("at the step limit the calls of the last reply are answered as not run, and the agent goes on", async () => {
  const call = { calls: [{ name: "echo" }] };
  const { agent, provider } = agentOf([call, call, call, "ok"], { maxSteps: 2 });
  expect(await failureOf(agent.chat("go"))).toMatchObject({ code: "ended", reason: "step-limit" });
  expect(provider.requests).toHaveLength(2);
  expect(lastResult(agent)).toBe("Error executing echo: Not run: step limit");
  expect(await agent.chat("go")).toBe("ok");
});

test("maxSteps is 50 unless said otherwise", async () => {
  const { agent, provider } = agentOf(Array(60).fill({ calls: [{ name: "echo" }] }));
  await failureOf(agent.chat("go"));
  expect(provider.requests).toHaveLength(50);
});

describe("busy", () => {
  test("a second turn and clearContext are refused while one runs, and work afterwards", async () => {
    const { agent } = agentOf([() => sleep(20).then(() => "one"), "two"]);
    const first = agent.chat("go");
    expect((await failureOf(agent.chat("again"))).code).toBe("busy");
    expect(() => agent.clearContext()).toThrow(expect.objectContaining({ code: "busy" }));
    expect(await first).toBe("one");
    expect(await agent.chat("again")).toBe("two");
    agent.clearContext();
    expect(agent.sessionContext).toEqual([]);
  });

  test("a stream that nobody reads does not make the agent busy", async () => {
    const { agent } = agentOf(["ok"]);
    agent.streamChat("never read");
    expect(await agent.chat("go")).toBe("ok");
  });
});

describe("tool choice, stop conditions and steering", () => {
  test("a tool choice is sent with the first request of the turn only", async () => {
    const { agent, provider } = agentOf([{ calls: [{ name: "echo" }] }, "ok", "ok"]);
    await agent.chat("go", { toolChoice: "required" });
    await agent.chat("go");
    expect(provider.requests.map((request) => request.toolChoice)).toEqual(["required", undefined, undefined]);
  });

  test("a stop condition ends the turn with stop after the calls have run", async () => {
    const call = { text: "t", calls: [{ name: "echo" }], usage: { inputTokens: 60 } };
    const { agent, provider } = agentOf([call, call, call, "never"]);
    expect(await agent.chat("go", { stopWhen: anyOf(calledTool("other"), usedTokens(100)) })).toBe("t");
    expect(provider.requests).toHaveLength(2);
    expect(await agent.chat("go", { stopWhen: calledTool("echo") })).toBe("t");
    expect(lastResult(agent)).toBe("{}");
  });

  test("a message added while the turn runs is delivered at the next step, also after an answer", async () => {
    const { agent, provider } = agentOf([
      () => {
        agent.steer("and be quick");
        return { calls: [{ name: "echo" }] };
      },
      () => {
        agent.steer("one more thing");
        return "an answer";
      },
      "the answer",
    ]);
    const events = await eventsOf(agent);
    expect(events.filter((event) => event.type === "steering").map((event) => event.text)).toEqual([
      "and be quick",
      "one more thing",
    ]);
    expect(events.at(-1)).toEqual({ type: "end", reason: "stop", text: "the answer" });
    expect(provider.requests[1]?.messages.at(-1)).toEqual({
      role: "user",
      content: [{ type: "text", text: "and be quick" }],
    });
  });
});

test("usage is summed over the session; the cost is unknown if that of one reply is", async () => {
  const { agent } = agentOf([
    { text: "a", usage: { inputTokens: 10, outputTokens: 2, cost: 0.5 } },
    { text: "b", usage: { inputTokens: 20, outputTokens: 3, cost: 0.25 } },
    { text: "c", usage: { inputTokens: 1 } },
  ]);
  expect(agent.usage.cost).toBe(0);
  await agent.chat("a");
  await agent.chat("b");
  expect(agent.usage).toMatchObject({ inputTokens: 30, outputTokens: 5, cost: 0.75 });
  expect((await eventsOf(agent)).find((event) => event.type === "usage")).toMatchObject({ total: { inputTokens: 31 } });
  expect(agent.usage.cost).toBeUndefined();
});

test("a message that the service refuses as invalid is removed: every later request with it would be refused", async () => {
  const refused = new AgentError({ code: "invalid_request", message: "bad image" });
  const { agent } = agentOf([refused, "ok"]);
  expect((await failureOf(agent.chat("go"))).code).toBe("invalid_request");
  expect(agent.sessionContext).toEqual([]);
  expect(await agent.chat("go")).toBe("ok");
});

test("a tool always reads the current state of the agent", async () => {
  let seen: unknown[] = [];
  const provider = new ScriptedProvider([{ calls: [{ name: "look" }] }, "ok", { calls: [{ name: "look" }] }, "ok"]);
  const agent = new Agent(provider, {
    systemPrompt: "one",
    sessionContextFilePath: "/tmp/x.json",
    tools: (context) =>
      registryOf({
        look: () => {
          seen = [context.systemPrompt, context.sessionContext.length, context.sessionContextFilePath];
          return "";
        },
      }),
  });
  await agent.chat("go");
  expect(seen).toEqual(["one", 2, "/tmp/x.json"]);
  agent.setSystemPrompt("two");
  agent.clearContext();
  await agent.chat("go");
  expect(seen).toEqual(["two", 2, "/tmp/x.json"]);
  expect(provider.requests.map((request) => request.systemPrompt)).toEqual(["one", "one", "two", "two"]);
});

test("tools added, removed, enabled and disabled take effect on the next request", async () => {
  const { agent, provider } = agentOf(["1", "2", "3", "4", "5"], { tools: registryOf({ echo: () => "" }) });
  const steps = [
    () => {},
    () => agent.addTool(anyTool("extra")),
    () => agent.disableTool("echo"),
    () => agent.enableTool("echo"),
    () => agent.removeTool("echo"),
  ];
  for (const step of steps) {
    step();
    await agent.chat("go");
  }
  const offered = provider.requests.map((request) => request.tools.map((tool) => tool.function.name).join());
  expect(offered).toEqual(["echo", "echo,extra", "extra", "echo,extra", "extra"]);
  expect(agent.getTools()).toBe(agent.toolRegistry.getEnabledSchemas());
});

test("labels reach every tool call of the turn", async () => {
  const seen: unknown[] = [];
  const tools = registryOf({ look: (_, call) => String(seen.push([call.labels, call.callId])) });
  const { agent } = agentOf([{ calls: [{ id: "a", name: "look" }] }, "ok"], { tools });
  await agent.chat("go", { labels: { channel: "mail" } });
  expect(seen).toEqual([[{ channel: "mail" }, "a"]]);
});
