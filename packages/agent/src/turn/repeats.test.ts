import { join } from "node:path";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { outputs } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import type { AgentOptions } from "../options.ts";
import { assertConversation, ScriptedProvider, type ScriptedReply } from "../testing.ts";

interface Runs {
  readonly ran: string[];
  readonly tools: ToolRegistry;
}

/** Tools that answer the same each time, but for `clock`; `read_output` and `poll` wait. */
function runs(): Runs {
  const ran: string[] = [];
  const parameters = { type: "object", properties: { a: {}, b: {} }, additionalProperties: false } as const;
  const tool = (name: string, answer: () => string = () => `${name} done`, more: object = {}) =>
    defineTool({
      name,
      description: name,
      parameters,
      execute: () => {
        ran.push(name);
        return answer();
      },
      ...more,
    });
  const poll = { ...tool("poll"), waits: true };
  const clock = tool("clock", () => `${ran.length}`, { readOnly: true });
  const peek = tool("peek", undefined, { readOnly: true });
  return { ran, tools: new ToolRegistry([tool("look"), tool("count"), peek, clock, tool("read_output"), poll]) };
}

const call = (name: string, args: object = {}): ScriptedReply => ({ calls: [{ name, args: { ...args } }] });
const times = (count: number, ...replies: ScriptedReply[]): ScriptedReply[] => Array(count).fill(replies).flat();

async function turn(replies: ScriptedReply[], { tools }: Runs, options: AgentOptions = {}): Promise<Agent> {
  const agent = new Agent(new ScriptedProvider(replies), { tools, stopRepeats: {}, ...options });
  await agent.chat("go");
  assertConversation(agent.sessionContext);
  return agent;
}

const noted = (agent: Agent): number[] =>
  outputs(agent).flatMap((output, at) => (output.includes("[repeated: ") ? [at] : []));

test("the third same result says so, and the fourth call is refused without running", async () => {
  const used = runs();
  const agent = await turn([...times(4, call("look", { a: 1, b: 2 })), "done"], used);
  expect(used.ran).toEqual(["look", "look", "look"]);
  expect(noted(agent)).toEqual([2]);
  expect(outputs(agent)[3]).toBe("Error executing look: Not run: repeated");
});

test("the order of arguments makes no other call", async () => {
  const used = runs();
  await turn([call("look", { a: 1, b: 2 }), ...times(3, call("look", { b: 2, a: 1 })), "done"], used);
  expect(used.ran).toHaveLength(3);
});

test("a circle of up to three calls is found, and each of its calls is refused", async () => {
  const used = runs();
  const circle = [call("look"), call("count"), call("look", { a: 1 })];
  const agent = await turn([...times(3, ...circle), call("count"), call("look"), call("look", { a: 2 }), "done"], used);
  expect(used.ran).toHaveLength(10);
  expect(noted(agent)).toEqual([8]);
});

test.each([
  ["another result", times(9, call("clock"))],
  ["other arguments", [...times(2, call("look")), call("look", { a: 1 }), ...times(2, call("look"))]],
  ["a tool that waits", [...times(5, call("read_output")), ...times(5, call("poll"))]],
])("%s is no row", async (_what, replies) => {
  const used = runs();
  const agent = await turn([...replies, "done"], used);
  expect(used.ran).toHaveLength(replies.length);
  expect(noted(agent)).toEqual([]);
});

test("what is unknown, invalid or denied counts as well", async () => {
  for (const repeated of [call("absent"), call("look", { c: 1 }), call("count")]) {
    const used = runs();
    used.tools.guard(({ name }) => name !== "count");
    const agent = await turn([...times(4, repeated), "done"], used);
    expect(noted(agent)).toEqual([2]);
    expect(outputs(agent)[3]).toContain("Not run: repeated");
  }
});

test("a message of the user begins anew", async () => {
  const used = runs();
  const provider = new ScriptedProvider([...times(3, call("look")), "done", call("look"), "done"]);
  const agent = new Agent(provider, { tools: used.tools, stopRepeats: {} });
  await agent.chat("go");
  await agent.chat("again");
  expect(used.ran).toHaveLength(4);
});

test("after six refusals in a row the turn ends as stuck, and the agent goes on", async () => {
  const used = runs();
  const provider = new ScriptedProvider([...times(9, call("look")), "done"]);
  const agent = new Agent(provider, { tools: used.tools, stopRepeats: {} });
  await expect(agent.chat("go")).rejects.toMatchObject({ code: "ended", reason: "stuck" });
  expect(used.ran).toHaveLength(3);
  expect(await agent.chat("do something else")).toBe("done");
});

test("another call in between lets the first one run again, and ends the row of refusals", async () => {
  const used = runs();
  const replies = [...times(4, call("look")), call("count"), call("look"), "done"];
  await turn(replies, used, { stopRepeats: { same: 3, limit: 2 } });
  expect(used.ran).toEqual(["look", "look", "look", "count", "look"]);
});

test("a turn that waited for an answer goes on with the count, also in another process", async () => {
  const used = runs();
  used.tools.guard(({ name }) => (name === "count" ? { ask: "Count?" } : true));
  const journal = join(temporaryFolder("repeats"), "session.jsonl");
  const options = { tools: used.tools, stopRepeats: { same: 2 } };
  const asked = { calls: [{ name: "look" }, { name: "look" }, { name: "count" }] };
  const first = new Agent(new ScriptedProvider([asked]), { ...options, journal });
  await expect(first.chat("go")).rejects.toMatchObject({ reason: "approval" });
  const provider = new ScriptedProvider([...times(2, call("count")), "done"]);
  const agent = await Agent.resume(provider, journal, options);
  const [pending] = agent.pending;
  await agent.approve({ [String(pending?.callId)]: true }, { approve: async () => true });
  expect(used.ran).toEqual(["look", "look", "count", "count"]);
  expect(outputs(agent).at(-1)).toContain("Not run: repeated");
});

const beside = (...calls: ScriptedReply[]): ScriptedReply => ({
  calls: calls.flatMap((one) => (one as { calls: { name: string; args: object }[] }).calls as never[]),
});
const peek = (n: number): ScriptedReply => call("peek", { a: n });
const [one, two, three, four] = [peek(1), peek(2), peek(3), peek(4)] as const;

test.each([
  ["two different calls", [beside(one, two)]],
  ["two equal calls", [beside(one, one)]],
  ["more calls than a circle has", [beside(one, two, three, four)]],
  ["the same calls in another order", [beside(one, two), beside(two, one)]],
  ["pairs in turn", [beside(one, two), beside(three, four)]],
  ["a pair and a call in turn", [beside(one, two), three]],
])("%s side by side that come again and again are told, then refused, and end the turn as stuck", async (_, circle) => {
  const used = runs();
  const provider = new ScriptedProvider([...times(50, ...circle), "done"]);
  const agent = new Agent(provider, { tools: used.tools, stopRepeats: {}, maxSteps: 60 });
  await expect(agent.chat("go")).rejects.toMatchObject({ code: "ended", reason: "stuck" });
  expect(provider.requests.length).toBeLessThan(16);
  expect(noted(agent).length).toBeGreaterThan(0);
  expect(outputs(agent).slice(-6)).toEqual(Array(6).fill("Error executing peek: Not run: repeated"));
  assertConversation(agent.sessionContext);
});

test.each([
  ["one of which has another argument each time", (n: number) => beside(one, call("peek", { a: n, b: n }))],
  ["one of which has another result each time", () => beside(one, call("clock"))],
  ["of which there are more each time", (n: number) => beside(...Array.from({ length: n + 2 }, (_, at) => peek(at)))],
  ["beside one that waits", () => beside(call("read_output"), call("poll"))],
])("calls side by side, %s, are no circle", async (_, reply) => {
  const used = runs();
  const agent = await turn([...Array.from({ length: 12 }, (_one, n) => reply(n)), "done"], used);
  expect(outputs(agent).join()).not.toContain("repeated");
});

test("without the option nothing is refused", async () => {
  const used = runs();
  await turn([...times(8, call("look")), "done"], used, { stopRepeats: undefined });
  expect(used.ran).toHaveLength(8);
});
