import { defineTool, type Guard, ToolRegistry } from "@toolcrib/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Agent } from "../agent.ts";
import { isAgentError } from "../errors.ts";
import type { AgentEvent } from "../messages.ts";
import type { AgentOptions } from "../options.ts";
import { assertConversation, ScriptedProvider, type ScriptedReply } from "../testing.ts";

/** What tools did, in order. */
let ran: string[];
let agents: Agent[];
beforeEach(() => {
  ran = [];
  agents = [];
});
// Whatever a test did to it: the conversation is valid, and nothing that was sent held a placeholder.
afterEach(() => {
  for (const agent of agents) assertConversation(agent.sessionContext);
});

/** `look` is read-only, `change` is not; calls whose `ask` is given are asked about with that text. */
function registryOf(guard: Guard = asking): ToolRegistry {
  const registry = new ToolRegistry();
  for (const name of ["look", "change"]) registry.register(tool(name));
  return registry.guard(guard);
}

const asking: Guard = ({ args }) => (typeof args.ask === "string" ? { ask: { text: args.ask, data: [1] } } : true);

function tool(name: string, extra: object = {}) {
  return defineTool({
    name,
    description: name,
    readOnly: name === "look",
    parameters: { type: "object", properties: { id: { type: "string" }, ask: { type: "string" }, ...extra } },
    execute: ({ id }) => {
      ran.push(String(id));
      return `${id} done`;
    },
  });
}

function agentOf(replies: ScriptedReply[], options: AgentOptions = {}) {
  const provider = new ScriptedProvider(replies);
  const agent = new Agent(provider, { tools: registryOf(), ...options });
  agents.push(agent);
  return { agent, provider };
}

const look = (id: string, ask?: string) => ({ id, name: "look", args: { id, ...(ask && { ask }) } });
const change = (id: string, ask?: string) => ({ ...look(id, ask), name: "change" });
const waits = (name: string): string => `Error executing ${name}: Not run: waiting for approval`;
const outputs = (agent: Agent): string[] =>
  agent.sessionContext.flatMap((message) => (message.role === "tool" ? [message.output] : []));

async function read(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

async function failureOf(running: Promise<unknown>) {
  const error: unknown = await running.then(
    () => "it did not fail",
    (thrown) => thrown,
  );
  if (isAgentError(error)) return error;
  throw error;
}

const question = (text: string) => ({ text, data: [1] });

describe("a question without approve", () => {
  const calls = [look("a"), look("b", "B?"), look("c", "C?"), look("d"), change("e"), look("f")];
  const pending = [
    { callId: "b", name: "look", args: { id: "b", ask: "B?" }, question: question("B?") },
    { callId: "c", name: "look", args: { id: "c", ask: "C?" }, question: question("C?") },
  ];

  test("ends the turn with approval: read-only calls beside it finish, later groups do not start", async () => {
    const { agent, provider } = agentOf([{ text: "Let me look.", calls }]);
    const events = await read(agent.streamChat("go"));
    expect(ran).toEqual(["a", "d"]);
    expect(events.at(-1)).toEqual({ type: "end", reason: "approval", text: "Let me look.", pending });
    expect(events.flatMap((event) => (event.type === "tool-result" ? [event.id] : []))).toEqual(["a", "d"]);
    expect(agent.pending).toEqual(pending);
    expect(provider.requests).toHaveLength(1);
  });

  test("is an error of chat that lists the calls", async () => {
    const { agent } = agentOf([{ text: "Let me look.", calls }]);
    const failure = await failureOf(agent.chat("go"));
    expect(failure).toMatchObject({ code: "ended", reason: "approval", text: "Let me look.", pending });
    expect(failure.message).toContain("agent.approve");
  });

  test("leaves a valid conversation in which these and later calls wait", async () => {
    const { agent } = agentOf([{ calls }]);
    await read(agent.streamChat("go"));
    expect(outputs(agent)).toEqual(["a done", waits("look"), waits("look"), "d done", waits("change"), waits("look")]);
  });
});

describe("approve", () => {
  test("runs what was allowed and the calls after it, in order, and goes on with the model", async () => {
    const calls = [look("a", "A?"), look("b"), change("c"), look("d")];
    const { agent, provider } = agentOf([{ calls }, "All done"]);
    await read(agent.streamChat("go"));
    const events = await read(agent.streamApprove({ a: true }));
    expect(ran).toEqual(["b", "a", "c", "d"]);
    expect(outputs(agent)).toEqual(["a done", "b done", "c done", "d done"]);
    expect(events.map((event) => ("id" in event ? `${event.type} ${event.id}` : event.type))).toEqual([
      ...["tool-call a", "tool-result a", "tool-call c", "tool-result c", "tool-call d", "tool-result d"],
      ...["step-start", "text-delta", "text-delta", "end"],
    ]);
    expect(events.at(-1)).toEqual({ type: "end", reason: "stop", text: "All done" });
    expect(provider.requests[1]?.messages).toEqual(agent.sessionContext.slice(0, -1));
    expect(agent.pending).toEqual([]);
  });

  test("begins its request with the one before, byte for byte", async () => {
    const { agent, provider } = agentOf([{ calls: [look("a")] }, { calls: [change("b", "B?"), change("c")] }, "ok"]);
    await failureOf(agent.chat("go"));
    await agent.approve({ b: "no" });
    const bodies = provider.requests.map(({ messages, tools }) => JSON.stringify([tools, messages]).slice(0, -2));
    for (const [index, body] of bodies.entries()) expect(body.startsWith(bodies[index - 1] ?? "")).toBe(true);
    expect(bodies).toHaveLength(3);
  });

  test("resolves to the final text, as chat does", async () => {
    const { agent } = agentOf([{ calls: [change("a", "A?")] }, "All done"]);
    await failureOf(agent.chat("go"));
    expect(await agent.approve({ a: true })).toBe("All done");
  });

  test.each([
    [false, "this call was not approved"],
    ["", "this call was not approved"],
    ["not on Sunday", "not on Sunday"],
  ])("with %j denies, and the calls after it run", async (answer, reason) => {
    const { agent } = agentOf([{ calls: [change("a", "A?"), change("b")] }, "ok"]);
    await failureOf(agent.chat("go"));
    expect(await agent.approve({ a: answer })).toBe("ok");
    expect(outputs(agent)).toEqual([`Error executing change: Permission denied: ${reason}`, "b done"]);
    expect(ran).toEqual(["b"]);
  });

  test("leaves what is unanswered pending, and what comes after it", async () => {
    const { agent, provider } = agentOf([{ calls: [look("a", "A?"), look("b", "B?"), change("c")] }, "ok"]);
    await failureOf(agent.chat("go"));
    expect(await failureOf(agent.approve({ b: true }))).toMatchObject({
      reason: "approval",
      pending: [{ callId: "a" }],
    });
    expect(outputs(agent)).toEqual([waits("look"), "b done", waits("change")]);
    expect(await failureOf(agent.approve({}))).toMatchObject({ reason: "approval", pending: [{ callId: "a" }] });
    expect(ran).toEqual(["b"]);
    expect(provider.requests).toHaveLength(1);
    expect(await agent.approve({ a: true })).toBe("ok");
    expect(ran).toEqual(["b", "a", "c"]);
  });

  test("a question of a later group waits in its turn", async () => {
    const { agent } = agentOf([{ calls: [change("a", "A?"), change("b", "B?"), change("c")] }, "ok"]);
    await failureOf(agent.chat("go"));
    expect(await failureOf(agent.approve({ a: true }))).toMatchObject({ pending: [{ callId: "b" }] });
    expect(ran).toEqual(["a"]);
    expect(await agent.approve({ b: true })).toBe("ok");
    expect(ran).toEqual(["a", "b", "c"]);
  });

  test("counts steps on", async () => {
    const { agent } = agentOf([{ calls: [look("a")] }, { calls: [change("b", "B?")] }, { calls: [look("c")] }], {
      maxSteps: 3,
    });
    await failureOf(agent.chat("go"));
    const events = await read(agent.streamApprove({ b: true }));
    expect(events.filter((event) => event.type === "step-start")).toEqual([{ type: "step-start", step: 3 }]);
    expect(events.at(-1)).toMatchObject({ type: "end", reason: "step-limit" });
    expect(ran).toEqual(["a", "b"]);
  });

  test("keeps to the options of a turn: signal, labels, tools, stopWhen", async () => {
    const seen: unknown[] = [];
    const tools = registryOf(({ labels }) => {
      seen.push(labels);
      return seen.length === 1 ? { ask: "A?" } : true;
    });
    const { agent } = agentOf([{ text: "t", calls: [change("a")] }, "never"]);
    await failureOf(agent.chat("go", { tools }));
    await expect(agent.approve({ a: true }, { toolChoice: "none" } as object)).rejects.toThrow("toolChoice");
    expect(await agent.approve({ a: true }, { tools, labels: { chat: 1 }, stopWhen: () => true })).toBe("t");
    expect(seen).toEqual([undefined, { chat: 1 }]);
  });

  test.each<[string, unknown, string]>([
    ["an unknown id", { x: true }, 'No call with the id "x" waits'],
    ["a call that only waits for another", { c: true }, 'No call with the id "c" waits'],
    ["a value that is no answer", { a: 1 }, "The answer for a must be true, false, a reason, { args } or { output }"],
    ["a list", [true], "approve needs an object"],
    ["nothing", undefined, "approve needs an object"],
  ])("refuses %s before anything is recorded", async (_, answers, message) => {
    const { agent } = agentOf([{ calls: [change("a", "A?"), change("c")] }]);
    await failureOf(agent.chat("go"));
    const failure = await failureOf(agent.approve(answers as Record<string, boolean>));
    expect(failure).toMatchObject({ code: "invalid_option", message: expect.stringContaining(message) });
    expect(agent.pending).toMatchObject([{ callId: "a" }]);
    expect(ran).toEqual([]);
  });

  test("is refused where nothing waits, and while a turn runs", async () => {
    const { agent } = agentOf(["ok"]);
    expect((await failureOf(agent.approve({}))).code).toBe("invalid_option");
    const running = agent.chat("go");
    expect((await failureOf(agent.approve({}))).code).toBe("busy");
    await running;
  });
});

describe("guards decide again", () => {
  test("a denial wins over a yes", async () => {
    let isAllowed = true;
    const tools = registryOf(() => (isAllowed ? { ask: "A?" } : "closed meanwhile"));
    const { agent } = agentOf([{ calls: [change("a")] }, "ok"], { tools });
    await failureOf(agent.chat("go"));
    isAllowed = false;
    await agent.approve({ a: true });
    expect(outputs(agent)).toEqual(["Error executing change: Permission denied: closed meanwhile"]);
  });

  test("a no holds where no guard asks any more", async () => {
    let isAsked = true;
    const { agent } = agentOf([{ calls: [change("a")] }, "ok"], { tools: registryOf(() => !isAsked || { ask: "A?" }) });
    await failureOf(agent.chat("go"));
    isAsked = false;
    await agent.approve({ a: false });
    expect(ran).toEqual([]);
  });

  test("a yes does not hold for another tool of that name: it is asked anew", async () => {
    const { agent } = agentOf([{ calls: [change("a", "A?")] }, "ok"]);
    await failureOf(agent.chat("go"));
    agent.removeTool("change");
    agent.addTool(tool("change", { more: { type: "string" } }));
    expect(await failureOf(agent.approve({ a: true }))).toMatchObject({
      reason: "approval",
      pending: [{ callId: "a" }],
    });
    expect(ran).toEqual([]);
    expect(agent.pending[0]).not.toHaveProperty("answer");
    expect(await agent.approve({ a: true })).toBe("ok");
    expect(ran).toEqual(["a"]);
  });

  test("a yes does not hold for arguments that a middleware makes anew", async () => {
    let to = "Ann";
    const tools = registryOf().use((call, next) => next({ ...call, args: { ...call.args, id: to } }));
    const { agent } = agentOf([{ calls: [change("a", "A?")] }, "ok"], { tools });
    await failureOf(agent.chat("go"));
    to = "Bob";
    expect((await failureOf(agent.approve({ a: true }))).reason).toBe("approval");
    expect(ran).toEqual([]);
    expect(await agent.approve({ a: true })).toBe("ok");
    expect(ran).toEqual(["Bob"]);
  });

  test("a yes does not hold where the call would now do something else", async () => {
    let target = "/a";
    const tools = registryOf(() => ({ ask: { text: "Change two files?", data: { target } } }));
    const { agent } = agentOf([{ calls: [change("a")] }, "ok"], { tools });
    await failureOf(agent.chat("go"));
    target = "/b";
    expect(await failureOf(agent.approve({ a: true }))).toMatchObject({
      pending: [{ question: { data: { target: "/b" } } }],
    });
    expect(ran).toEqual([]);
    expect(await agent.approve({ a: true })).toBe("ok");
  });

  test("a yes answers its own question: a second guard's is asked next, and neither twice", async () => {
    const tools = registryOf(() => ({ ask: "First?" })).guard(() => ({ ask: "Second?" }));
    const { agent } = agentOf([{ calls: [change("a")] }, "ok"], { tools });
    expect(await failureOf(agent.chat("go"))).toMatchObject({ pending: [{ question: { text: "First?" } }] });
    expect(await failureOf(agent.approve({ a: true }))).toMatchObject({ pending: [{ question: { text: "Second?" } }] });
    expect(await agent.approve({ a: true })).toBe("ok");
    expect(ran).toEqual(["a"]);
  });
});
