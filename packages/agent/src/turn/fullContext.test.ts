import { toolOutput } from "@toolcrib/core";
import { drawPicture } from "@toolcrib/testing/pictures";
import { beforeEach, expect, test, vi } from "vitest";
import { agentOf, asksForSummary, failureOf, outputs, read, registryOf, userText } from "../../testing/turns.ts";
import { History } from "../conversation/history.ts";
import { AgentError } from "../errors.ts";
import type { AgentEvent, Message } from "../messages.ts";
import type { AgentOptions } from "../options.ts";
import type { ScriptedReply } from "../testing.ts";
import { shorten } from "./shorten.ts";
import { summarised } from "./summary.ts";
import { statedWindow } from "./window.ts";

/* A model whose window is 2,000 tokens of four characters of its messages, and that is refused, or shortened, by its length. */

let window = 2000;
const sizeOf = (messages: readonly Message[]): number => JSON.stringify(messages).length / 4;
let refused: number[] = [];
let taken: (readonly Message[])[] = [];
beforeEach(() => {
  window = 2000;
  refused = [];
  taken = [];
});

/** Says these things in turn, each in the first request that fits. */
function talk(replies: readonly ScriptedReply[], options: AgentOptions = {}, refusal: ScriptedReply = tooLong) {
  const later = [...replies];
  const reply: ScriptedReply = (request) => {
    if (sizeOf(request.messages) > window) {
      refused.push(sizeOf(request.messages));
      return typeof refusal === "function" ? refusal(request) : refusal;
    }
    taken.push(request.messages);
    const next = asksForSummary(request) ? "SUMMARY" : (later.shift() ?? "ok");
    return typeof next === "function" ? next(request) : next;
  };
  return agentOf(new Array(500).fill(reply), { attempts: 1, ...options });
}

const tooLong: ScriptedReply = {
  stop: "context-limit",
  detail: "This model's maximum context length is 2000 tokens.",
};
const call = { calls: [{ name: "look" }], text: "y".repeat(40) };
const tools = (...sizes: readonly number[]) => {
  const later = [...sizes];
  return registryOf({ look: () => "line of words\n".repeat(Math.ceil(((later.shift() ?? 10) * 4) / 14)) });
};
const compactions = (events: readonly AgentEvent[]) => events.filter(({ type }) => type === "compaction");
const endOf = (events: readonly AgentEvent[]) => events.at(-1);

test("a result that is too long is cut, says how to read the rest, and the turn goes on", async () => {
  const { agent } = talk([call, "seen"], { tools: tools(2400) });
  const events = await read(agent.streamChat("go"));
  expect(compactions(events)).toEqual([{ type: "compaction", summarisedMessages: 0, cutMessages: 1 }]);
  expect(endOf(events)).toMatchObject({ reason: "stop", text: "seen" });
  expect(refused).toHaveLength(1);
  expect(outputs(agent)[0]).toMatch(
    /\n\n\[truncated: shown \d{4} of 9604 bytes\]\n\[shortened to fit the model's context window: call look for a smaller part if you need the rest\]$/,
  );
  expect(agent.sessionContext.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
});

test("of many results the largest are cut, and all at most to the same size", async () => {
  const { agent } = talk([call, call, call, "seen"], { tools: tools(100, 900, 1500) });
  await agent.chat("go");
  const lengths = outputs(agent).map((output) => output.length);
  expect(lengths[0]).toBe(406);
  expect(Math.abs((lengths[1] ?? 0) - (lengths[2] ?? 0))).toBeLessThan(20);
  expect(JSON.stringify(agent.sessionContext).match(/shortened to fit/g)).toHaveLength(2);
});

test("words that are too long are left out from the oldest on, and the rest is summed up", async () => {
  const { agent } = talk(new Array(20).fill("y".repeat(1200)));
  const seen: AgentEvent[] = [];
  for (let turn = 0; turn < 12; turn += 1) seen.push(...(await read(agent.streamChat(`turn ${turn}`))));
  const [first] = compactions(seen);
  expect(first).toMatchObject({ summarisedMessages: expect.any(Number), leftOutMessages: expect.any(Number) });
  expect(
    taken
      .filter((messages) => asksForSummary({ messages }))
      .map(sizeOf)
      .every((size) => size < window / 2 + 100),
  ).toBe(true);
  expect(seen.filter(({ type }) => type === "end").every((event) => "reason" in event && event.reason === "stop")).toBe(
    true,
  );
  expect(JSON.stringify(agent.sessionContext)).toContain("SUMMARY");
});

test("without a summary what remains goes on, and says once how much is left out", async () => {
  const reply: ScriptedReply = (request) => {
    if (sizeOf(request.messages) > window) return tooLong;
    return asksForSummary(request) ? "" : "y".repeat(1200);
  };
  const { agent } = agentOf(new Array(100).fill(reply));
  for (let turn = 0; turn < 12; turn += 1) await agent.chat(`turn ${turn}`);
  const text = JSON.stringify(agent.sessionContext[0]);
  expect(text).toMatch(/\[\d+ earlier messages are left out: they do not fit in the model's context window\]/);
  expect(text.match(/left out/g)).toHaveLength(1);
  const kept = agent.sessionContext.length - 1;
  expect(text).toContain(`[${24 - kept} earlier messages`);
});

test("compact() shortens what its own request cannot hold, and says what it did", async () => {
  const { agent } = talk([...new Array(6).fill("y".repeat(1200)), call, "seen"], { tools: tools(2400) });
  window = 10_000;
  for (let turn = 0; turn < 7; turn += 1) await agent.chat(`turn ${turn}`);
  window = 2000;
  expect(await agent.compact()).toMatchObject({
    summarisedMessages: expect.any(Number),
    leftOutMessages: expect.any(Number),
  });
  expect(agent.sessionContext).toHaveLength(1);
  expect(JSON.stringify(agent.sessionContext)).toMatch(/SUMMARY.*turn 6/);
});

test("one long text is cut, so that the messages before it are summed up too", async () => {
  const { agent } = talk(["one", "two", "y".repeat(9000)]);
  window = 10_000;
  for (let turn = 0; turn < 3; turn += 1) await agent.chat(`turn ${turn}`);
  window = 2000;
  expect(await agent.compact()).toEqual({ type: "compaction", summarisedMessages: 6 });
});

test("a message that does not fit ends the turn and changes nothing before it, and the next message is answered", async () => {
  const { agent } = talk(["one", "two"]);
  await agent.chat("go");
  const before = agent.sessionContext;
  const failure = await failureOf(agent.chat("z".repeat(9000)));
  expect(failure).toMatchObject({ reason: "context-limit", detail: expect.stringContaining("2000 tokens") });
  expect(agent.sessionContext.slice(0, 2)).toEqual(before);
  expect(agent.sessionContext).toHaveLength(3);
  expect(await agent.chat("and now?")).toBe("two");
});

test("a reply that the window cuts off is asked for again, and counts in the usage", async () => {
  const usage = { inputTokens: 100 };
  const cut: ScriptedReply = { text: "half", stop: "context-limit", usage };
  const { agent } = talk([call, call, cut, { text: "whole", usage }], { tools: tools(300, 300) });
  const events = await read(agent.streamChat("go"));
  expect(events.find(({ type }) => type === "retry")).toMatchObject({ discardText: true });
  expect(endOf(events)).toMatchObject({ reason: "stop", text: "whole" });
  expect(agent.usage.inputTokens).toBe(200);
});

test("thinking behind the first change is left out whole, that before it stays", async () => {
  const thinking = { reasoning: "hm", ...call };
  const { agent } = talk([thinking, thinking, thinking, "seen"], { tools: tools(10, 1300, 600) });
  await agent.chat("go");
  const shown = agent.sessionContext.flatMap((message) =>
    message.role === "assistant" ? [message.content.map((block) => block.type === "reasoning" && block.text)] : [],
  );
  expect(shown).toEqual([["hm", false, false], ["hm", false, false], ["", false, false], [false]]);
});

test("pictures of results are left out where they are what is too long", async () => {
  const data = (await drawPicture(1400, 1400)).toString("base64");
  const image = { type: "image", data, mimeType: "image/png" } as const;
  const { agent } = talk([call, call, "seen"], {
    tools: registryOf({ look: () => toolOutput("A picture.", { content: [image] }) }),
  });
  expect(await agent.chat("go")).toBe("seen");
  expect(outputs(agent).join()).toContain("; pictures left out: call look");
});

test.each<[string, ScriptedReply, number, string]>([
  ["nearly full", refusal400(), 2600, "seen"],
  ["far from full", refusal400(), 1e6, "invalid_request"],
])("a bare 400 is tried once more with less where the window is %s", async (_, refusal, contextWindow, end) => {
  const { agent } = talk([call, "seen"], { tools: tools(2200), compaction: { contextWindow } }, refusal);
  const outcome = await agent.chat("go").catch((error: AgentError) => error.code);
  expect(outcome).toBe(end);
});

test("where that is refused too, the first error counts and the conversation stays as it was", async () => {
  let count = 0;
  const refuse: ScriptedReply = () => {
    count += 1;
    return new AgentError({ code: "invalid_request", message: `No. ${count}`, status: 400 });
  };
  const { agent } = talk([call, refuse, refuse, refuse], {
    tools: tools(1650),
    compaction: { contextWindow: window, startAt: 1 },
  });
  const failure = await failureOf(agent.chat("go"));
  expect(failure.message).toBe("No. 1");
  expect(count).toBe(2);
  expect(outputs(agent)[0]).toHaveLength(6608);
});

const down = new AgentError({ code: "server", message: "Down", status: 503 });
test.each<[string, ScriptedReply, object, AgentOptions?]>([
  ["refused", new AgentError({ code: "invalid_request", message: "No" }), { reason: "context-limit" }],
  ["down", down, { code: "server" }],
  ["stopped", new AgentError({ code: "aborted", message: "Stopped" }), { code: "aborted" }],
  ["down in a step that may be recorded", down, { code: "server" }, { steps: { run: (_, work) => work() } }],
])(
  "a shorter request that is %s changes nothing, and what was steered waits again",
  async (_, end, failure, options) => {
    const usage = { inputTokens: 100 };
    const later = ["one", "two"];
    const refuse: ScriptedReply = () => {
      agent.steer(later.shift() ?? "");
      return { stop: "context-limit", usage };
    };
    const { agent } = agentOf([call, refuse, refuse, end, "ok"], { tools: tools(2400), attempts: 1, ...options });
    expect(await failureOf(agent.chat("go"))).toMatchObject(failure);
    expect(outputs(agent)[0]).toHaveLength(9604);
    expect(agent.usage.inputTokens).toBe(200);
    const events = await read(agent.streamChat("go on"));
    expect(events.flatMap((event) => (event.type === "steering" ? [event.text] : []))).toEqual(["one", "two"]);
  },
);

function refusal400(): ScriptedReply {
  return new AgentError({ code: "invalid_request", message: "Bad Request", status: 400 });
}

test("a reply that is stopped while the service gives it keeps the shorter conversation, and says so", async () => {
  const stop = new AbortController();
  const stopped: ScriptedReply = async function* () {
    yield { type: "text-delta", text: "half" };
    stop.abort();
    yield { type: "text-delta", text: " more" };
  };
  const { agent } = talk([call, stopped], { tools: tools(2400) });
  const seen: AgentEvent[] = [];
  const reading = async () => {
    for await (const event of agent.streamChat("go", { signal: stop.signal })) seen.push(event);
  };
  expect(await failureOf(reading())).toMatchObject({ code: "aborted" });
  expect(compactions(seen)).toHaveLength(1);
  expect(agent.sessionContext.at(-1)).toMatchObject({ role: "assistant", content: [{ text: "half" }] });
});

test("a summary that does not fit beside the user's message is left out, with a note in its place", () => {
  const summary = summarised({ request: [{ type: "text", text: "go" }], isAnswered: false }, "s".repeat(8000));
  const messages = [summary, userText("z".repeat(12_000))];
  expect(shorten(messages, 2000)).toMatchObject({
    messages: [{ content: [{ text: expect.stringContaining("[1 earlier messages are left out") }] }, messages[1]],
    leftOut: 1,
  });
});

test("a long first message is measured once, however many messages are left out", () => {
  const first = userText("z".repeat(400_000));
  const steps = Array.from(
    { length: 1500 },
    (): Message => ({ role: "assistant", content: [{ type: "text", text: "y" }] }),
  );
  const stringify = vi.spyOn(JSON, "stringify");
  expect(shorten([first, ...steps], 2000).leftOut).toBe(1501);
  const long = stringify.mock.results.filter(({ value }) => typeof value === "string" && value.length > 400_000);
  stringify.mockRestore();
  expect(long.length).toBeLessThan(10);
});

test("a shorter conversation that is taken is compacted again as soon as it is too long", async () => {
  const history = new History();
  history.retryCompactionAbove = 5000;
  await history.draft([userText("go")]).take();
  expect(history.retryCompactionAbove).toBe(0);
});

// Read once for each of them they would take an hour.
test("a refusal with very many digits is read to its end", () => {
  expect(statedWindow("1".repeat(2_000_000))).toBeUndefined();
}, 120_000);

test.each([
  ["prompt is too long: 210000 tokens > 200000 maximum", 200_000],
  ["input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000", 200_000],
  ["This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", 8192],
  ["This model's maximum prompt length is 131072 but the request contains 140000", 131_072],
  ["The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576],
  ["request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096],
  ["Invalid request: Your request exceeded model token limit: 131,072", 131_072],
  ["Range of input length should be [1, 30720]", 30_720],
  ["Input validation error: `inputs` must have less than 4096 tokens. Given: 5000", 4096],
  ["`inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1900", 2048],
  ["Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768],
  ["prompt token count of 140000 exceeds the limit of 128000", 128_000],
  ["too many tokens: size limit exceeded by 11326 tokens", undefined],
  ["Request exceeds the maximum size of 33554432 bytes", undefined],
  ["Request exceeds the maximum size of 500 MB", undefined],
  ["Input is too long for requested model.", undefined],
])("the window in %j", (detail, tokens) => {
  expect(statedWindow(detail)).toBe(tokens);
});
