import { join } from "node:path";
import { type AgentOptions, createAskUserTool } from "@toolcrib/agent";
import { ScriptedProvider, type ScriptedReply } from "@toolcrib/agent/testing";
import { defineTool, type Guard, ToolRegistry, toolOutput } from "@toolcrib/core";
import { temporaryFolder, temporaryServer } from "@toolcrib/testing";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import { expect, test, vi } from "vitest";
import { serve } from "../../testing/serve.ts";
import { createAgUiHandler } from "../agUi.ts";
import { PageAgent } from "../agUiClient.ts";
import { openAgent, PageSessions } from "../index.ts";

const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const asks: Guard = ({ name, args }) =>
  (name !== "write" && args.ask !== true) || { ask: { text: `May it ${name}?`, data: { remember: { text: name } } } };

interface Served {
  readonly url: string;
  readonly provider: ScriptedProvider;
  /** The arguments of all calls of `write`. */
  readonly written: unknown[];
  readonly remembered: unknown[];
}

async function start(
  replies: readonly ScriptedReply[],
  {
    pageTools,
    journal = join(temporaryFolder("page"), "session.jsonl"),
    ...options
  }: AgentOptions & { pageTools?: readonly string[] } = {},
): Promise<Served> {
  const provider = new ScriptedProvider(replies);
  const written: unknown[] = [];
  const remembered: unknown[] = [];
  const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
  const tools = new ToolRegistry([
    defineTool({
      name: "write",
      description: "writes",
      parameters: schema,
      execute: (args) => [written.push(args), "written"][1],
    }),
    defineTool({
      name: "draw",
      description: "draws",
      readOnly: true,
      parameters: { type: "object" },
      execute: () => toolOutput("drawn", { content: [{ type: "image", data, mimeType: "image/png" }] }),
    }),
    createAskUserTool(),
  ]);
  tools.guard(asks);
  const policy = { remember: async (call: object) => void remembered.push(call) };
  const sessions = new PageSessions({
    open: () => ({ journal, agent: () => openAgent(provider, journal, { tools, baseDelayMs: 1, ...options }), policy }),
  });
  return { url: await serve(createAgUiHandler(sessions, { pageTools })), provider, written, remembered };
}

const clientOf = ({ url }: Pick<Served, "url">): PageAgent => new PageAgent({ url: `${url}/chat`, threadId: "thread" });

async function send(client: PageAgent | HttpAgent0, content: string, parameters: object = {}) {
  client.addMessage({ id: crypto.randomUUID(), role: "user", content });
  return await client.runAgent(parameters);
}

const asked = { name: "write", args: { text: "a" } };
const answer = (client: PageAgent, payload: unknown) =>
  client.runAgent({
    resume: client.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload })),
  });
const lastText = (client: { messages: PageAgent["messages"] }): unknown => client.messages.at(-1)?.content;

test("a run tells text, reasoning, calls and results, pictures as parts, and what it has used", async () => {
  const served = await start([
    { reasoning: "hm", text: "I draw.", calls: [{ name: "draw" }], usage: { inputTokens: 3, outputTokens: 2 } },
    { text: "Drawn.", usage: { inputTokens: 5, outputTokens: 1 } },
  ]);
  const client = clientOf(served);
  const usage: unknown[] = [];
  client.subscribe({ onRunFinishedEvent: ({ event }) => void usage.push(event.usage) });
  const { result } = await send(client, "draw");
  expect(result).toEqual({ reason: "stop" });
  expect(usage).toMatchObject([[{ inputTokens: 8, outputTokens: 3, totalTokens: 11 }]]);
  expect(client.messages.slice(1)).toMatchObject([
    { role: "reasoning", content: "hm" },
    { role: "assistant", content: "I draw.", toolCalls: [{ function: { name: "draw", arguments: "{}" } }] },
    { role: "tool", content: [{ text: "drawn" }, { type: "image", source: { type: "data", value: data } }] },
    { role: "assistant", content: "Drawn." },
  ]);
});

test.each([
  ["yes", { approved: true }, [{ text: "a" }], /^written$/],
  ["a plain true", true, [{ text: "a" }], /^written$/],
  ["other arguments", { approved: true, editedArgs: { text: "b" } }, [{ text: "b" }], /written$/],
  ["a no with a reason", { approved: false, reason: "not today" }, [], /not today/],
  ["always", { approved: true, always: true }, [{ text: "a" }], /^written$/],
])("a question is answered by %s", async (_form, payload, written, output) => {
  const served = await start([{ calls: [asked] }, "Done."]);
  const client = clientOf(served);
  await send(client, "write");
  expect(client.pendingInterrupts).toMatchObject([
    { reason: "tool_call", message: "May it write?", metadata: { name: "write", args: { text: "a" } } },
  ]);
  expect(served.written).toEqual([]);
  await answer(client, payload);
  expect(served.written).toEqual(written);
  expect(client.messages.find(({ role }) => role === "tool")?.content).toMatch(output);
  expect(client.messages.filter(({ role }) => role === "assistant")).toHaveLength(2);
  expect([lastText(client), client.pendingInterrupts]).toEqual(["Done.", []]);
  expect(served.remembered).toHaveLength(JSON.stringify(payload).includes("always") ? 1 : 0);
});

test("a page may answer under the id of the run that asked, and with its own word for the result", async () => {
  const served = await start([{ text: "I write.", calls: [{ ...asked, id: "w" }] }, { text: "Done." }]);
  const client = new HttpAgent0({ url: `${served.url}/chat`, threadId: "thread" });
  const interrupts: string[] = [];
  client.subscribe({
    onRunFinishedEvent: ({ event }) => {
      for (const [, id = ""] of JSON.stringify(event).matchAll(/"id":"([^"]+)"/g)) interrupts.push(id);
    },
  });
  await send(client, "write", { runId: "run" });
  client.addMessage({ id: "theirs", role: "tool", toolCallId: "w", content: '{"approved":true}' });
  const resume = interrupts.map(
    (interruptId) => ({ interruptId, status: "resolved", payload: { approved: true } }) as const,
  );
  await client.runAgent({ runId: "run", resume });
  expect(client.messages.slice(1)).toMatchObject([
    { role: "assistant", content: "I write.", toolCalls: [{ id: "w" }] },
    { role: "tool", toolCallId: "w", content: "written" },
    { role: "assistant", content: "Done." },
  ]);
});

test("a question that is dismissed is a no, and one of the model takes words", async () => {
  const served = await start([
    { calls: [asked] },
    { calls: [{ name: "ask_user", args: { question: "Which?", choices: ["this", "that"] } }] },
    "Done.",
  ]);
  const client = clientOf(served);
  await send(client, "write");
  const [{ id = "" } = {}] = client.pendingInterrupts;
  await client.runAgent({ resume: [{ interruptId: id, status: "cancelled" }] });
  expect(client.messages.find(({ role }) => role === "tool")?.content).toMatch(/the user dismissed the question/);
  expect(client.pendingInterrupts).toMatchObject([
    { reason: "input_required", responseSchema: { properties: { output: { enum: ["this", "that"] } } } },
  ]);
  await answer(client, { output: "that" });
  expect(client.messages.filter(({ role }) => role === "tool").at(-1)?.content).toBe("that");
});

test.each(["is loaded again", "finds its server started again"])(
  "a page that %s has the session and its question, and goes on with the answer",
  async (what) => {
    const journal = join(temporaryFolder("page"), "session.jsonl");
    const before = await start([{ text: "I write.", calls: [asked] }, "Done."], { journal });
    const first = clientOf(before);
    await send(first, "write");
    const served = what === "is loaded again" ? before : await start(["Done."], { journal });
    // An agent whose connection was cut connects again, too: what it knew of questions does not count.
    const client = Object.assign(clientOf(served), { pendingInterrupts: first.pendingInterrupts });
    client.abortController.abort();
    await client.connectAgent();
    expect(client.messages).toMatchObject([
      { role: "user", content: "write" },
      { role: "assistant", content: "I write.", toolCalls: [{ function: { name: "write" } }] },
    ]);
    await answer(client, { approved: true });
    expect([served.written, lastText(client)]).toEqual([[{ text: "a" }], "Done."]);
  },
);

test("a page that is loaded in the middle of a turn reads it from its beginning, and a stop ends it for all readers", async () => {
  const wait = Promise.withResolvers<void>();
  const served = await start([
    () =>
      (async function* () {
        yield { type: "text-delta", text: "Half" } as const;
        wait.resolve();
        await new Promise(() => {});
      })(),
  ]);
  const [first, second] = [clientOf(served), clientOf(served)];
  const ends: unknown[] = [];
  for (const client of [first, second])
    client.subscribe({ onRunFinishedEvent: ({ event }) => void ends.push(event.outcome?.type) });
  const running = send(first, "go");
  await wait.promise;
  const reading = second.connectAgent();
  await vi.waitUntil(() => lastText(second) === "Half");
  second.abortRun();
  await Promise.all([running, reading]);
  expect(ends).toEqual(["cancelled", "cancelled"]);
  expect([lastText(first), first.messages.length, second.messages.length]).toEqual(["Half", 2, 2]);
});

test("a client of 0.0.59 is told nothing that it does not know, also when it is stopped", async () => {
  const wait = Promise.withResolvers<void>();
  const hang = async function* () {
    yield { type: "text-delta", text: "Half" } as const;
    wait.resolve();
    await new Promise(() => {});
  };
  const served = await start([{ calls: [{ name: "draw" }] }, "Drawn.", () => hang()]);
  const client = new HttpAgent0({ url: `${served.url}/chat`, threadId: "thread" });
  await send(client, "draw");
  expect(client.messages.find(({ role }) => role === "tool")?.content).toBe("drawn");
  const errors: unknown[] = [];
  client.subscribe({ onRunErrorEvent: ({ event }) => void errors.push(event) });
  const running = send(client, "again");
  await wait.promise;
  await fetch(`${served.url}/chat/thread/stop`, { method: "POST" });
  await running;
  expect(errors).toMatchObject([{ code: "abort", message: "The run was stopped." }]);
});

test("the page runs its own tools: their calls are pending, and their results are messages of the next run", async () => {
  const served = await start([{ calls: [{ name: "pick", args: { from: "a" } }] }, "Picked."], { pageTools: ["pick"] });
  const tools = [
    { name: "pick", description: "picks", parameters: { type: "object", properties: { from: { type: "string" } } } },
  ];
  const client = clientOf(served);
  const pending: string[] = [];
  client.subscribe({
    onRunFinishedEvent: (end) => void (end.outcome === "success" && pending.push(...end.pendingToolCallIds)),
  });
  await send(client, "pick", { tools });
  expect(pending).toHaveLength(1);
  client.addMessage({ id: "result", role: "tool", toolCallId: pending[0] ?? "", content: "b" });
  const { messages } = client;
  await client.runAgent({ tools });
  client.setMessages(messages.slice(0, messages.findIndex(({ id }) => id === "result") + 1));
  const fail = vi.spyOn(console, "error").mockImplementation(() => undefined);
  await expect(client.runAgent({ tools })).rejects.toMatchObject({
    status: 409,
    payload: expect.stringContaining(`"${pending[0]}" has its result`),
  });
  fail.mockRestore();
  await client.connectAgent();
  expect(served.provider.requests.at(-1)?.messages.at(-1)).toMatchObject({ role: "tool", output: "b", isError: false });
  expect(lastText(client)).toBe("Picked.");
});

test("no expression in the schema of a page's tool is run, while types and required names are checked", async () => {
  const args = { from: "aa!", "aa!": 1 };
  const call = (given: Readonly<Record<string, unknown>>) => ({ calls: [{ name: "pick", args: given }] });
  const served = await start([call({ from: 1 }), call({}), call(args), "Picked."], { pageTools: ["pick"] });
  // Takes seconds for 25 letters and a sign; for these few a call would be refused.
  const pattern = "^(a+)+$";
  const unions = { anyOf: [{ type: "number" }, { type: "string", pattern }] };
  const from = {
    type: "string",
    pattern,
    allOf: [{ $ref: "#/$defs/slow" }],
    oneOf: [unions],
    not: { pattern: `${pattern}b` },
  };
  const parameters = {
    ...{ type: "object", properties: { from }, required: ["from"], $defs: { slow: { pattern } } },
    ...{ patternProperties: { [pattern]: {} }, propertyNames: { anyOf: [{ pattern }, { const: "from" }] } },
  };
  const client = clientOf(served);
  await send(client, "pick", { tools: [{ name: "pick", description: "picks", parameters }] });
  const results = client.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  expect(results).toEqual([expect.stringContaining("from"), expect.stringContaining("from")]);
  expect(client.messages.at(-1)).toMatchObject({ toolCalls: [{ function: { arguments: JSON.stringify(args) } }] });
});

test("text that a retried request takes back disappears, and a failure is told in words", async () => {
  const fail = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const served = await start([[{ type: "text-delta", text: "Half" }], "Whole."]);
  const client = clientOf(served);
  const errors: unknown[] = [];
  client.subscribe({ onRunErrorEvent: ({ event }) => void errors.push(event.message) });
  await send(client, "go");
  expect(client.messages.map(({ content }) => content)).toEqual(["go", "Whole."]);
  await send(client, "again");
  expect(errors).toEqual([expect.stringContaining("The script has no reply")]);
  fail.mockRestore();
});

const message = { id: "m", role: "user", content: "hi" };
const input = { threadId: "thread", runId: "r", messages: [message], tools: [], context: [] };
const tool = { name: "write", description: "" };

test.each([
  ["no object", [], 400, /not a JSON object/],
  ["no thread", { ...input, threadId: 1 }, 400, /threadId must be a string/],
  ["a strange id of a session", { ...input, threadId: "../x" }, 400, /letters, digits/],
  ["no messages", { ...input, messages: "hi" }, 400, /messages must be a list/],
  ["an empty list", { ...input, messages: [] }, 400, /last message must be a new one of the user: there is none/],
  [
    "a message of the assistant",
    { ...input, messages: [message, { ...message, role: "assistant" }] },
    400,
    /role assistant/,
  ],
  [
    "a result that was not asked for",
    { ...input, messages: [{ id: "t", role: "tool", toolCallId: "x", content: "" }] },
    400,
    /role tool/,
  ],
  [
    "a picture by its address",
    { ...input, messages: [{ ...message, content: [{ type: "image", source: { type: "url", value: "http://a" } }] }] },
    400,
    /with its bytes/,
  ],
  ["an empty message", { ...input, messages: [{ ...message, content: " " }] }, 400, /message is empty/],
  [
    "an answer to nothing",
    { ...input, resume: [{ interruptId: "x", status: "resolved", payload: true }] },
    409,
    /No question has the id "x"/,
  ],
  ["a tool that the server does not name", { ...input, tools: [tool] }, 400, /does not name it in pageTools/],
])("%s is refused in words, and nothing runs", async (_what, body, status, words) => {
  const served = await start(["never"]);
  const headers = { "Content-Type": "application/json" };
  const reply = await fetch(`${served.url}/chat`, { method: "POST", headers, body: JSON.stringify(body) });
  expect([reply.status, await reply.text()]).toEqual([status, expect.stringMatching(words)]);
  expect(served.provider.requests).toEqual([]);
});

test("a tool of the page with the name of one of the agent, or without a valid schema, is refused", async () => {
  const served = await start(["never"], { pageTools: ["write", "pick"] });
  const post = async (tools: unknown) => {
    const headers = { "Content-Type": "application/json" };
    const reply = await fetch(`${served.url}/chat`, {
      method: "POST",
      headers,
      body: JSON.stringify({ ...input, tools }),
    });
    return [reply.status, await reply.text()];
  };
  expect(await post([tool])).toEqual([400, expect.stringContaining("the agent has one of that name")]);
  expect(await post([{ name: "pick", description: "", parameters: { type: "string" } }])).toEqual([
    400,
    expect.stringContaining("cannot be used"),
  ]);
  expect(
    await post([
      { name: "pick", description: "" },
      { name: "pick", description: "" },
    ]),
  ).toEqual([400, expect.stringContaining("cannot be used")]);
});

test("while a question waits, a message, an answer to another or to some only, or one in another form is refused", async () => {
  const drawing = { name: "draw", args: { ask: true } };
  const served = await start([{ calls: [drawing, drawing, asked] }, "Done."]);
  const client = clientOf(served);
  await send(client, "draw");
  const [id = "", other = ""] = client.pendingInterrupts.map((one) => one.id);
  const post = async (body: object) => {
    const headers = { "Content-Type": "application/json" };
    const reply = await fetch(`${served.url}/chat`, {
      method: "POST",
      headers,
      body: JSON.stringify({ ...input, ...body }),
    });
    return [reply.status, await reply.text()];
  };
  const resolved = (payload: unknown, interruptId = id) => ({ resume: [{ interruptId, status: "resolved", payload }] });
  expect(await post({})).toEqual([409, expect.stringContaining("first, by resume")]);
  const twice = [...resolved(true).resume, ...resolved(false).resume];
  expect(await post({ resume: twice })).toEqual([400, expect.stringContaining(`answers "${id}" twice`)]);
  expect(await post(resolved(true))).toEqual([409, expect.stringContaining(`missing: "${other}"`)]);
  expect(await post(resolved(true, "other"))).toEqual([409, expect.stringContaining('No question has the id "other"')]);
  for (const payload of [
    undefined,
    "yes",
    { approve: true },
    { approved: true, editedArg: {} },
    { approved: true, output: "x" },
    { approved: "true" },
    { approved: true, always: "yes" },
    { approved: false, reason: 1 },
    { approved: false, editedArgs: {} },
    { approved: true, editedArgs: {}, always: true },
  ])
    expect(await post(resolved(payload))).toEqual([400, expect.stringContaining(`The payload for "${id}" must be`)]);
  await client.runAgent({
    resume: [id, other].map((interruptId) => ({ interruptId, status: "resolved", payload: true })),
  });
  expect(client.pendingInterrupts).toMatchObject([{ message: "May it write?" }]);
  const unfit = { approved: true, editedArgs: { text: 1 } };
  expect(await post(resolved(unfit, client.pendingInterrupts[0]?.id))).toEqual([
    400,
    expect.stringContaining("does not fit write"),
  ]);
  expect(served.written).toEqual([]);
});

test("a connection that is cut at any byte is seen as cut", async () => {
  const served = await start(["One two."]);
  const headers = { "Content-Type": "application/json" };
  const reply = await fetch(`${served.url}/chat`, { method: "POST", headers, body: JSON.stringify(input) });
  const whole = Buffer.from(await reply.arrayBuffer());
  let length = 0;
  const url = await temporaryServer((_request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end(whole.subarray(0, length));
  });
  const fail = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const outcomes = new Set<string>();
  for (length = 0; length < whole.length - 2; length += 1) {
    const told = await send(clientOf({ url }), "hi").then(
      () => "whole",
      () => "cut",
    );
    outcomes.add(told);
  }
  expect([...outcomes]).toEqual(["cut"]);
  expect(await send(clientOf({ url }), "hi").then(() => "whole")).toBe("whole");
  fail.mockRestore();
});
