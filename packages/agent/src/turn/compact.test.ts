import { defineTool, ToolRegistry } from "@toolcrib/core";
import { expect, test } from "vitest";
import { Agent } from "../agent.ts";
import type { AgentEvent, Message } from "../messages.ts";
import { assertConversation, ScriptedProvider, type ScriptedReply } from "../testing.ts";

const outputLength = 1000;

function tools(): ToolRegistry {
  const registry = new ToolRegistry();
  registry.register(
    defineTool({
      name: "read",
      description: "read",
      parameters: { type: "object" },
      execute: () => "x".repeat(outputLength),
    }),
  );
  return registry;
}

/** A model that reports one token for each four characters it is sent, and calls `read` for the given number of steps. */
function sizedModel(steps: number, summary: ScriptedReply = "SUMMARY"): ScriptedProvider {
  let done = 0;
  const reply: ScriptedReply = (request) => {
    assertConversation(request.messages);
    if (request.toolChoice === "none") return summary;
    const usage = { inputTokens: Math.round(JSON.stringify(request.messages).length / 4) };
    done += 1;
    return done > steps
      ? { text: "end", usage }
      : { calls: [{ id: `c${done}`, name: "read" }], text: "y".repeat(100), usage };
  };
  return new ScriptedProvider(Array.from({ length: steps * 2 + 10 }, () => reply));
}

async function run(
  provider: ScriptedProvider,
  keepResults: number,
  contextWindow: number,
): Promise<{ events: AgentEvent[]; agent: Agent }> {
  const agent = new Agent(provider, { tools: tools(), compaction: { contextWindow, keepResults } });
  const events: AgentEvent[] = [];
  for await (const event of agent.streamChat("the goal")) events.push(event);
  assertConversation(agent.sessionContext);
  return { events, agent };
}

const sizes = (provider: ScriptedProvider): number[] =>
  provider.requests.map(({ messages }) => JSON.stringify(messages).length / 4);
const compactions = (events: AgentEvent[]) => events.filter((event) => event.type === "compaction");
const output = (message: Message | undefined): string => (message?.role === "tool" ? message.output : "");

test("the oldest tool results are cleared first, the newest are kept, and the context stays within its window", async () => {
  const provider = sizedModel(12);
  const { events, agent } = await run(provider, 2, 4000);
  expect(compactions(events)[0]).toMatchObject({ clearedResults: expect.any(Number), summarisedMessages: 0 });
  const results = agent.sessionContext.filter((message) => message.role === "tool");
  expect(output(results[0])).toBe("[cleared to save room: 1000 characters]");
  expect(output(results.at(-1))).toHaveLength(outputLength);
  expect(Math.max(...sizes(provider))).toBeLessThan(4000);
  expect(provider.requests.some((request) => request.toolChoice === "none")).toBe(false);
});

test("where clearing is not enough the older part becomes a summary, with the last request word for word", async () => {
  const provider = sizedModel(30);
  const { events, agent } = await run(provider, 4, 2500);
  expect(compactions(events).some((event) => event.summarisedMessages > 0)).toBe(true);
  const first = JSON.stringify(agent.sessionContext[0]);
  expect(first).toContain("SUMMARY");
  expect(first).toContain("the goal");
  expect(Math.max(...sizes(provider))).toBeLessThan(2500);
  expect(events.some((event) => event.type === "text-delta" && event.text.includes("SUMMARY"))).toBe(false);
});

test("after too little progress it waits until the context has grown", async () => {
  const provider = sizedModel(20, { text: "", stop: "context-limit" });
  const { events } = await run(provider, 100, 4000);
  expect(compactions(events)).toEqual([]);
  const asked = provider.requests.filter((request) => request.toolChoice === "none");
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.length).toBeLessThan(8);
});

test("nothing happens below the threshold, or without the option", async () => {
  expect(compactions((await run(sizedModel(5), 2, 100_000)).events)).toEqual([]);
  const agent = new Agent(sizedModel(5), { tools: tools() });
  expect(await agent.chat("go")).toBe("end");
});

test("agent.compact() shortens the conversation at once, refuses other turns meanwhile, and reports what it did", async () => {
  const provider = sizedModel(12);
  const agent = new Agent(provider, { tools: tools() });
  await agent.chat("the goal");
  const before = JSON.stringify(agent.sessionContext).length;
  const running = agent.compact();
  await expect(agent.chat("now")).rejects.toMatchObject({ code: "busy" });
  expect(await running).toMatchObject({ clearedResults: expect.any(Number), summarisedMessages: expect.any(Number) });
  expect(JSON.stringify(agent.sessionContext).length).toBeLessThan(before / 2);
  assertConversation(agent.sessionContext);
  expect(await agent.chat("on")).toBe("end");
  expect(await new Agent(provider).compact()).toBeUndefined();
});
