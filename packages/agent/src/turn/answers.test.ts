import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, type Guard, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import * as turns from "../../testing/turns.ts";
import { anyTool, assertFits, outputs } from "../../testing/turns.ts";
import type { Agent } from "../agent.ts";
import type { AgentOptions } from "../options.ts";

const asks: Guard = ({ name, args }) => (name === "pay" ? { ask: `Pay ${String(args.to)}?` } : true);
const isAsk = { ask: ({ text }: Readonly<Record<string, unknown>>) => ({ text: String(text), data: ["a", "b"] }) };

function toolsOf(ran: string[], ...guards: Guard[]): ToolRegistry {
  const pay = defineTool({
    name: "pay",
    description: "x",
    parameters: {
      type: "object",
      properties: { to: { type: "string" }, amount: { type: "number" } },
      required: ["to"],
      additionalProperties: false,
    },
    execute: (args) => {
      ran.push(JSON.stringify(args));
      return "paid";
    },
  });
  const ask = defineTool({
    name: "ask",
    description: "x",
    readOnly: true,
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    execute: () => "it ran",
  });
  const registry = new ToolRegistry([pay, { ...ask, ...isAsk }]);
  for (const guard of guards.length > 0 ? guards : [asks]) registry.guard(guard);
  return registry;
}

function agentOf(options: AgentOptions = {}, guards: Guard[] = [], calls = [pay]) {
  const ran: string[] = [];
  return { ...turns.agentOf([{ calls }, "done"], { tools: toolsOf(ran, ...guards), ...options }), ran };
}

const pay = { id: "a", name: "pay", args: { to: "me" } as Record<string, unknown> };
const ask = { id: "q", name: "ask", args: { text: "Which?" } as Record<string, unknown> };
const note = '[the user changed the arguments to {"to":"you"}]';
const you = { args: { to: "you" } };
const waiting = (agent: Agent): Promise<string> => agent.chat("go").catch((error) => String(error.reason));

async function reopened(journal: string, ...guards: Guard[]) {
  const ran: string[] = [];
  return { ...(await turns.resumedFrom(journal, ["done"], { tools: toolsOf(ran, ...guards) })), ran };
}

function assertJournal(journal: string): void {
  for (const text of readFileSync(journal, "utf8").trim().split("\n")) assertFits(JSON.parse(text), "journalLine");
}

describe("other arguments", () => {
  test("run in place of the model's, which is told of them; the call itself stays as it was sent", async () => {
    const { agent, ran } = agentOf();
    expect(await waiting(agent)).toBe("approval");
    expect(await agent.approve({ a: { args: { to: "you", amount: "5" } } })).toBe("done");
    expect(ran).toEqual(['{"to":"you","amount":5}']);
    expect(outputs(agent)[0]).toMatch(/^\[the user changed the arguments to {"to":"you".*\n\npaid$/);
    expect(JSON.stringify(agent.sessionContext[1])).toContain('"to":"me"');
  });

  test("that do not fit throw invalid_option, and the question stays", async () => {
    const { agent, ran } = agentOf();
    await waiting(agent);
    const refused = agent.approve({ a: { args: { to: "you", when: "now" } } });
    await expect(refused).rejects.toMatchObject({ code: "invalid_option", message: expect.stringContaining("when") });
    expect(agent.pending).toMatchObject([{ callId: "a", args: { to: "me" } }]);
    expect(agent.pending[0]).not.toHaveProperty("answer");
    expect(ran).toEqual([]);
    expect(await agent.approve({ a: you })).toBe("done");
  });

  test("are denied by a guard that denies them, and the model is told which they were", async () => {
    const { agent, ran } = agentOf({}, [asks, ({ args }) => (args.to === "you" ? "never you" : true)]);
    await waiting(agent);
    await agent.approve({ a: you });
    expect(outputs(agent)).toEqual([`Error executing pay: Permission denied: never you\n\n${note}`]);
    expect(ran).toEqual([]);
  });

  test("are the yes to the guard that was answered alone: another one asks about them, and its yes runs them", async () => {
    const large: Guard = ({ args }) => (args.to === "you" ? { ask: "Really you?" } : true);
    const journal = join(temporaryFolder("answers"), "two.jsonl");
    const { agent } = agentOf({ journal }, [asks, large]);
    await waiting(agent);
    await expect(agent.approve({ a: you })).rejects.toMatchObject({ reason: "approval" });
    const asked = { args: { to: "you" }, question: { text: "Really you?", guard: 1 } };
    expect(agent.pending).toMatchObject([asked]);
    // Answers outlive the process.
    const later = await reopened(journal, asks, large);
    expect(later.agent.pending).toMatchObject([asked]);
    expect(await later.agent.approve({ a: true })).toBe("done");
    expect([later.ran, outputs(later.agent)]).toEqual([['{"to":"you"}'], [`${note}\n\npaid`]]);
    assertJournal(journal);
  });

  test("given to a second guard are no yes to the first one, which asks about them", async () => {
    const journal = join(temporaryFolder("answers"), "second.jsonl");
    const guards: Guard[] = [asks, () => ({ ask: "Really?" })];
    const { agent } = agentOf({ journal }, guards);
    await waiting(agent);
    await expect(agent.approve({ a: true })).rejects.toMatchObject({ reason: "approval" });
    expect(agent.pending).toMatchObject([{ question: { text: "Really?" } }]);
    await expect(agent.approve({ a: you })).rejects.toMatchObject({ reason: "approval" });
    const later = await reopened(journal, ...guards);
    expect(later.agent.pending).toMatchObject([{ args: { to: "you" }, question: { text: "Pay you?" } }]);
    expect(await later.agent.approve({ a: true })).toBe("done");
    expect(later.ran).toEqual(['{"to":"you"}']);
    assertJournal(journal);
  });

  test("run as given, also where the guards no longer ask about the model's own", async () => {
    let isAsking = true;
    const { agent, ran } = agentOf({}, [() => (isAsking ? { ask: "Pay?" } : true)]);
    await waiting(agent);
    isAsking = false;
    await agent.approve({ a: you });
    expect(ran).toEqual(['{"to":"you"}']);
  });

  test("are asked about anew once a middleware has changed them, and then run", async () => {
    const { agent, ran } = agentOf();
    await waiting(agent);
    agent.toolRegistry.use((call, next) => next({ ...call, args: { ...call.args, amount: 1 } }));
    await expect(agent.approve({ a: you })).rejects.toMatchObject({ reason: "approval" });
    expect([ran, agent.pending]).toMatchObject([[], [{ args: { to: "you", amount: 1 } }]]);
    expect(await agent.approve({ a: true })).toBe("done");
    expect(ran).toEqual(['{"to":"you","amount":1}']);
    expect(outputs(agent)).toEqual([`${note}\n\npaid`]);
  });

  test("are no yes to a tool that was replaced meanwhile", async () => {
    const { agent, ran } = agentOf();
    await waiting(agent);
    agent.removeTool("pay");
    agent.addTool(anyTool("pay"));
    await expect(agent.approve({ a: you })).rejects.toMatchObject({ reason: "approval" });
    expect([ran, agent.pending]).toMatchObject([[], [{ args: { to: "you" } }]]);
  });

  test("cannot be changed by who gave them, and must be JSON of bounded depth", async () => {
    const { agent, ran } = agentOf();
    await waiting(agent);
    const cycle: Record<string, unknown> = {};
    cycle.to = cycle;
    await expect(agent.approve({ a: { args: cycle } })).rejects.toMatchObject({ code: "invalid_option" });
    const given = { a: { args: { to: "you" } } };
    const running = agent.approve(given);
    given.a.args.to = "them";
    await running;
    expect(ran).toEqual(['{"to":"you"}']);
  });

  test("given in place, by approve of chat, are told to the model once", async () => {
    const { agent, ran } = agentOf();
    expect(await agent.chat("go", { approve: () => you })).toBe("done");
    expect([ran, outputs(agent)]).toEqual([['{"to":"you"}'], [`${note}\n\npaid`]]);
  });

  test("that never fit, given in place, leave the question: the turn ends with approval", async () => {
    const { agent, ran } = agentOf();
    const approve = () => ({ args: {} });
    await expect(agent.chat("go", { approve })).rejects.toMatchObject({ reason: "approval" });
    expect([ran, agent.pending]).toMatchObject([[], [{ callId: "a", question: { text: "Pay me?" } }]]);
    expect(await agent.approve({ a: true })).toBe("done");
  });
});

describe("an output", () => {
  test("is the result in the tool's place: nothing runs, also where nobody would ask any more", async () => {
    let isAsking = true;
    const { agent, ran } = agentOf({ maxToolResultBytes: 60 }, [() => (isAsking ? { ask: "Pay?" } : true)]);
    await waiting(agent);
    isAsking = false;
    expect(await agent.approve({ a: { output: `paid in cash ${"x".repeat(100)}` } })).toBe("done");
    expect(ran).toEqual([]);
    expect(outputs(agent)[0]).toMatch(/^paid in cash x+\n\n\[truncated: /);
    expect(agent.sessionContext).toContainEqual(expect.objectContaining({ callId: "a", isError: false }));
  });
});

describe("a tool that is a question", () => {
  test("waits beside other read-only calls, and takes an output alone for an answer", async () => {
    const { agent } = agentOf({}, [], [ask, { ...ask, id: "r" }]);
    expect(await waiting(agent)).toBe("approval");
    const question = { text: "Which?", data: ["a", "b"], needs: "output" };
    expect(agent.pending.map((call) => call.question)).toEqual([question, question]);
    for (const answer of [true, { args: { text: "Other?" } }])
      await expect(agent.approve({ q: answer })).rejects.toMatchObject({ code: "invalid_option" });
    await agent.approve({ q: { output: "blue" }, r: "not now" });
    expect(outputs(agent)).toEqual(["blue", "Error executing ask: Permission denied: not now"]);
  });

  test("is answered in place, too; a yes alone leaves the question", async () => {
    const { agent } = agentOf({}, [], [ask]);
    expect(await agent.chat("go", { approve: () => ({ output: "blue" }) })).toBe("done");
    expect(outputs(agent)).toEqual(["blue"]);
    const other = agentOf({}, [], [ask]).agent;
    await expect(other.chat("go", { approve: () => true })).rejects.toMatchObject({ reason: "approval" });
    expect(await other.approve({ q: { output: "blue" } })).toBe("done");
  });
});

test.each([[{}], [{ args: {}, output: "" }], [{ output: 5 }], [{ args: [] }], [null], [7]])(
  "the answer %j throws invalid_option, and the question stays",
  async (answer) => {
    const { agent } = agentOf();
    await waiting(agent);
    await expect(agent.approve({ a: answer as never })).rejects.toMatchObject({ code: "invalid_option" });
    expect(agent.pending).toHaveLength(1);
  },
);

describe("after Agent.resume in another process", () => {
  async function journaled(calls = [pay]): Promise<string> {
    const journal = join(temporaryFolder("answers"), "one.jsonl");
    await waiting(agentOf({ journal }, [], calls).agent);
    return journal;
  }

  test("answers hold as in the first, and the journal fits its schema", async () => {
    const journal = await journaled([pay, ask]);
    const { agent, ran } = await reopened(journal);
    await expect(agent.approve({ a: you })).rejects.toMatchObject({ reason: "approval" });
    expect(ran).toEqual(['{"to":"you"}']);
    const later = await reopened(journal);
    expect(later.agent.pending).toMatchObject([{ callId: "q", question: { needs: "output" } }]);
    await expect(later.agent.approve({ q: true })).rejects.toMatchObject({ code: "invalid_option" });
    expect(await later.agent.approve({ q: { output: "blue" } })).toBe("done");
    expect(outputs(later.agent)).toEqual([`${note}\n\npaid`, "blue"]);
    assertJournal(journal);
  });

  test("answers that were recorded before a crash hold: other arguments run, an output does not", async () => {
    const journal = await journaled([pay, { ...pay, id: "b" }]);
    const answers = { a: you };
    writeFileSync(journal, `${readFileSync(journal, "utf8")}${JSON.stringify({ type: "answers", answers })}\n`);
    const { agent, ran } = await reopened(journal);
    expect(agent.pending[0]).toMatchObject({ callId: "a", answer: you });
    await expect(agent.approve({})).rejects.toMatchObject({ reason: "approval" });
    expect(ran).toEqual(['{"to":"you"}']);
    expect(await agent.approve({ b: { output: "cash" } })).toBe("done");
    expect(outputs(agent)).toEqual([`${note}\n\npaid`, "cash"]);
    expect(ran).toHaveLength(1);
  });
});
