import type { Guard } from "@toolcrib/core";
import { beforeEach, describe, expect, test } from "vitest";
import * as turns from "../../testing/turns.ts";
import { askingTools, change, failureOf, look, outputs, read, waits } from "../../testing/turns.ts";
import type { AgentOptions } from "../options.ts";
import type { ScriptedReply } from "../testing.ts";

/** The actions of tools, in order. */
let ran: string[];
beforeEach(() => {
  ran = [];
});

const agentOf = (replies: ScriptedReply[], options: AgentOptions = {}) =>
  turns.agentOf(replies, { tools: askingTools(ran), ...options });
const registryOf = (guard?: Guard) => askingTools(ran, guard);

test("a question without approve ends the turn: read-only calls beside it finish, later groups do not start", async () => {
  const question = (text: string) => ({ text, data: [1] });
  const calls = [look("a"), look("b", "B?"), look("c", "C?"), look("d"), change("e"), look("f")];
  const pending = [
    { callId: "b", name: "look", args: { id: "b", ask: "B?" }, question: question("B?") },
    { callId: "c", name: "look", args: { id: "c", ask: "C?" }, question: question("C?") },
  ];
  const { agent, provider } = agentOf([{ text: "Let me look.", calls }]);
  const events = await read(agent.streamChat("go"));
  expect(ran).toEqual(["a", "d"]);
  expect(events.at(-1)).toEqual({ type: "end", reason: "approval", text: "Let me look.", pending });
  expect(events.flatMap((event) => (event.type === "tool-result" ? [event.id] : []))).toEqual(["a", "d"]);
  expect(agent.pending).toEqual(pending);
  expect(provider.requests).toHaveLength(1);
  expect(outputs(agent)).toEqual(["a done", waits("look"), waits("look"), "d done", waits("change"), waits("look")]);
  const failure = await failureOf(agentOf([{ text: "Let me look.", calls }]).agent.chat("go"));
  expect(failure).toMatchObject({ code: "ended", reason: "approval", text: "Let me look.", pending });
  expect(failure.message).toContain("agent.approve");
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

  test("a question of a later group waits in its turn, and steps are counted on", async () => {
    const calls = [change("a", "A?"), change("b", "B?"), change("c")];
    const { agent } = agentOf([{ calls: [look("x")] }, { calls }, { calls: [look("y")] }], { maxSteps: 3 });
    await failureOf(agent.chat("go"));
    expect(await failureOf(agent.approve({ a: true }))).toMatchObject({ pending: [{ callId: "b" }] });
    expect(ran).toEqual(["x", "a"]);
    const events = await read(agent.streamApprove({ b: true }));
    expect(events.filter((event) => event.type === "step-start")).toEqual([{ type: "step-start", step: 3 }]);
    expect(events.at(-1)).toMatchObject({ type: "end", reason: "step-limit" });
    expect(ran).toEqual(["x", "a", "b", "c"]);
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
    const now = { pending: [{ question: { data: { target: "/b" } } }] };
    expect(await failureOf(agent.approve({ a: true }))).toMatchObject(now);
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
