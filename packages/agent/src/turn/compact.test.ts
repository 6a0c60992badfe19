import { expect, test } from "vitest";
import { asksForSummary, read, registryOf } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { AgentError } from "../errors.ts";
import type { AgentEvent, Message } from "../messages.ts";
import { assertConversation, ScriptedProvider, type ScriptedReply } from "../testing.ts";

const tools = () => registryOf({ read: () => "x".repeat(1000) });

/** A model that reports one token for each four characters it is sent, and calls `read` for the given number of steps. */
function sizedModel(steps: number, summary: ScriptedReply = "SUMMARY"): ScriptedProvider {
  let done = 0;
  const reply: ScriptedReply = (request) => {
    assertConversation(request.messages);
    if (asksForSummary(request)) return summary;
    const usage = { inputTokens: Math.round(JSON.stringify(request.messages).length / 4) };
    done += 1;
    return done > steps
      ? { text: "end", usage }
      : { calls: [{ id: `c${done}`, name: "read" }], text: "y".repeat(100), usage };
  };
  return new ScriptedProvider(Array.from({ length: steps * 2 + 10 }, () => reply));
}

async function run(provider: ScriptedProvider, contextWindow: number): Promise<{ events: AgentEvent[]; agent: Agent }> {
  const agent = new Agent(provider, { tools: tools(), compaction: { contextWindow } });
  const events = await read(agent.streamChat("the goal"));
  assertConversation(agent.sessionContext);
  return { events, agent };
}

const sizes = (provider: ScriptedProvider): number[] =>
  provider.requests.map(({ messages }) => JSON.stringify(messages).length / 4);
const compactions = (events: AgentEvent[]) => events.filter((event) => event.type === "compaction");
const textsOf = (message: Message | undefined) =>
  message?.role === "user" ? message.content.map((block) => (block.type === "text" ? block.text : block.type)) : [];

test("a conversation near its limit begins anew with one message: the summary, and the last request word for word", async () => {
  const provider = sizedModel(30);
  const { events } = await run(provider, 2500);
  expect(compactions(events).length).toBeGreaterThan(1);
  expect(Math.max(...sizes(provider))).toBeLessThan(2500);
  expect(events.some((event) => event.type === "text-delta" && event.text.includes("SUMMARY"))).toBe(false);
  const after = provider.requests.filter((_, index) =>
    asksForSummary(provider.requests[index - 1] ?? { messages: [] }),
  );
  expect(after).toHaveLength(compactions(events).length);
  for (const { messages } of after) {
    expect(messages).toHaveLength(1);
    // The second time too: the first summary is not part of the request.
    expect(textsOf(messages[0])).toEqual([
      "Summary of the conversation so far:\n\nSUMMARY",
      "My last message was:",
      "the goal",
    ]);
  }
});

test("a message that has just come is not part of the summary, and goes on with its pictures", async () => {
  const provider = new ScriptedProvider([{ text: "y".repeat(4000), usage: { inputTokens: 900 } }, "SUMMARY", "ok"]);
  const agent = new Agent(provider, { compaction: { contextWindow: 1000 } });
  await agent.chat("the goal");
  const image = { type: "image", data: "aGk=", mimeType: "image/png" } as const;
  await agent.chat([{ type: "text", text: "and this?" }, image]);
  const [asked, next] = provider.requests.slice(-2);
  expect(asked && asksForSummary(asked)).toBe(true);
  expect(JSON.stringify(asked?.messages)).not.toContain("and this?");
  expect(textsOf(next?.messages[0])).toEqual([
    "Summary of the conversation so far:\n\nSUMMARY",
    "My last message was:",
    "and this?",
    "image",
  ]);
});

test("after too little progress it waits until the context has grown", async () => {
  const provider = sizedModel(49, { text: "", stop: "context-limit" });
  const { events } = await run(provider, 17_000);
  expect(compactions(events)).toEqual([]);
  const asked = provider.requests.filter(asksForSummary);
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.length).toBeLessThan(4);
});

test("a summary that is hardly shorter than what it stands for is not taken", async () => {
  const provider = sizedModel(8, "z".repeat(20_000));
  const { events } = await run(provider, 2900);
  expect(compactions(events)).toEqual([]);
  expect(provider.requests.some(asksForSummary)).toBe(true);
});

test("nothing happens below the threshold, or without the option", async () => {
  expect(compactions((await run(sizedModel(5), 100_000)).events)).toEqual([]);
  const agent = new Agent(sizedModel(5), { tools: tools() });
  expect(await agent.chat("go")).toBe("end");
});

test("agent.compact() shortens the conversation at once, refuses other turns meanwhile, and reports what it did", async () => {
  const provider = sizedModel(12);
  const agent = new Agent(provider, { tools: tools() });
  await agent.chat("the goal");
  const { length } = agent.sessionContext;
  const running = agent.compact();
  await expect(agent.chat("now")).rejects.toMatchObject({ code: "busy" });
  expect(await running).toEqual({ type: "compaction", summarisedMessages: length });
  expect(agent.sessionContext.map(textsOf)).toEqual([
    ["Summary of the conversation so far:\n\nSUMMARY", "My last message, which you have answered, was:", "the goal"],
  ]);
  expect(await agent.chat("on")).toBe("end");
  expect(await new Agent(provider).compact()).toBeUndefined();
});

test("a request that the service refuses after a summary leaves the summary", async () => {
  const refusal = new AgentError({ code: "invalid_request", message: "too large" });
  const usage = { inputTokens: 2400 };
  const provider = new ScriptedProvider([{ text: "y".repeat(4000), usage }, "SUMMARY", refusal, "answer"]);
  const agent = new Agent(provider, { compaction: { contextWindow: 2500 } });
  await agent.chat("the goal");
  await expect(agent.chat("a picture, say")).rejects.toMatchObject({ code: "invalid_request" });
  expect(agent.sessionContext.map(textsOf)).toEqual([["Summary of the conversation so far:\n\nSUMMARY"]]);
  expect(await agent.chat("go on")).toBe("answer");
  expect(provider.requests.at(-1)?.messages).toHaveLength(2);
});

test("the request for a summary tells of changes that were not told yet", async () => {
  const provider = new ScriptedProvider(["y".repeat(4000), "SUMMARY"]);
  const agent = new Agent(provider, { systemPrompt: "old" });
  await agent.chat("the goal");
  agent.setSystemPrompt("new");
  await agent.compact();
  expect(provider.requests.at(-1)).toMatchObject({
    opening: { systemPrompt: "old" },
    changes: [{ position: 3, systemPrompt: "new" }],
    messages: { length: 3 },
  });
});

test("the summary is asked for without another choice of tools, which would cost the cache, unless the model calls one", async () => {
  const usage = { inputTokens: 10, outputTokens: 1 };
  const call = { calls: [{ id: "c", name: "read" }], usage };
  const provider = new ScriptedProvider(["y".repeat(4000), call, { text: "SUMMARY", usage }]);
  const agent = new Agent(provider, { tools: tools() });
  await agent.chat("the goal");
  expect(await agent.compact()).toBeDefined();
  expect(provider.requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, undefined, "none"]);
  expect(provider.requests[2]?.messages).toEqual(provider.requests[1]?.messages);
  expect(agent.usage).toMatchObject({ inputTokens: 20, outputTokens: 2 });
});
