import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ToolRegistry, toolFingerprint } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import * as turns from "../../testing/turns.ts";
import { agentOf, askingTools, assertFits, change, failureOf, look, outputs, waits } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import type { Message } from "../messages.ts";
import type { AgentOptions } from "../options.ts";
import { assertConversation, ScriptedProvider, type ScriptedReply } from "../testing.ts";
import type { Session } from "./session.ts";
import { createSaveSessionContextTool } from "./sessionContext.ts";

let folder: string;
let journal: string;
/** The calls that ran, in order. */
let ran: string[];
beforeEach(() => {
  folder = temporaryFolder("pending");
  journal = join(folder, "one.jsonl");
  ran = [];
});

const lines = (file = journal): Record<string, unknown>[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const tools = (extra: object = {}): ToolRegistry => askingTools(ran, turns.asking, extra);
const script: ScriptedReply[] = [{ calls: [look("a", "A?"), look("b"), look("c", "C?"), change("d")] }];

async function asked(options: AgentOptions = { journal }): Promise<Agent> {
  const { agent } = agentOf(script, { tools: tools(), ...options });
  expect(await failureOf(agent.chat("go"))).toMatchObject({ reason: "approval" });
  assertConversation(agent.sessionContext);
  return agent;
}

const resumed = (replies: ScriptedReply[] = ["ok"], from: string | Session = journal, extra: object = {}) =>
  turns.resumedFrom(from, replies, { tools: tools(extra) });

describe("a journal", () => {
  test("holds what waits, with fingerprints, before end; other readers see results that say so", async () => {
    const agent = new Agent(new ScriptedProvider(script), { tools: tools(), journal });
    let atEnd: Record<string, unknown>[] = [];
    for await (const event of agent.streamChat("go")) if (event.type === "end") atEnd = lines();
    const [a, c, d] = atEnd.slice(-3);
    const tool = toolFingerprint(tools().get("look") as never);
    const print = expect.stringMatching(/^[0-9a-f]{64}$/);
    const pending = { callId: "a", question: { text: "A?", data: [1] }, tool, arguments: print, step: 1 };
    const message = { role: "tool", callId: "a", name: "look", output: waits("look"), isError: true };
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(a).toEqual({ type: "message", message, pending, at });
    expect(c).toMatchObject({ message: { output: waits("look") }, pending: { question: { text: "C?" } } });
    expect(d).toMatchObject({ message: { output: waits("change") }, pending: { callId: "d", step: 1 } });
    for (const line of lines()) assertFits(line, "journalLine");
  });

  test("lets another process answer: answers are on disk before the calls run", async () => {
    const before = await asked();
    const { agent, provider } = await resumed();
    expect(agent.pending).toEqual(before.pending);
    expect(agent.sessionContext).toEqual(before.sessionContext);
    for await (const event of agent.streamApprove({ a: true, c: "no" })) {
      if (event.type === "step-start") expect(event.step).toBe(2);
      if (event.type !== "tool-call" || event.id !== "a") continue;
      expect(lines().at(-1)).toEqual({ type: "answers", answers: { a: true, c: "no" } });
    }
    const results = ["a done", "b done", "Error executing look: Permission denied: no", "d done"];
    expect(outputs(agent)).toEqual(results);
    expect(ran).toEqual(["b", "a", "d"]);
    // The start of a call that was denied would read as one that may have run.
    expect(lines().flatMap((line) => (line.type === "tool-start" ? [line.callIds] : []))).toEqual([
      ["a", "b", "c"],
      ["a"],
      ["d"],
    ]);
    expect(provider.requests[0]?.messages).toEqual(agent.sessionContext.slice(0, -1));
    for (const line of lines()) assertFits(line, "journalLine");
    const again = await resumed();
    expect(again.agent.sessionContext).toEqual(agent.sessionContext);
    expect(again.agent.pending).toEqual([]);
  });

  test("holds a partial answer: what is unanswered stays pending in the next process", async () => {
    await asked();
    const { agent } = await resumed();
    const left = { reason: "approval", pending: [{ callId: "a" }] };
    await expect(agent.approve({ c: true })).rejects.toMatchObject(left);
    await expect(agent.approve({})).rejects.toMatchObject(left);
    const next = await resumed();
    expect(next.provider.requests).toEqual([]);
    expect(next.agent.pending).toMatchObject([{ callId: "a" }]);
    expect(outputs(next.agent)).toEqual([waits("look"), "b done", "c done", waits("change")]);
    expect(await next.agent.approve({ a: true })).toBe("ok");
    expect(ran).toEqual(["b", "c", "a", "d"]);
  });

  test("holds a denial by a message, and a conversation that was cleared", async () => {
    await asked();
    const { agent } = await resumed();
    await agent.chat("never mind");
    const next = await resumed();
    expect(next.agent.sessionContext).toEqual(agent.sessionContext);
    expect(next.agent.pending).toEqual([]);
    const other = join(folder, "other.jsonl");
    const cleared = await asked({ journal: other });
    cleared.clearContext();
    await cleared.chat("on").catch(() => undefined);
    expect((await resumed([], other)).agent.pending).toEqual([]);
    // A later conversation may have a call of the same id.
    const later = lines(other).filter((line) => (line.message as Message | undefined)?.role === "assistant");
    appendFileSync(other, `${JSON.stringify(later[0])}\n`);
    const reused = (await resumed([], other)).agent;
    expect(reused.pending).toEqual([]);
    expect(outputs(reused)[0]).toBe("Error executing look: Not run: aborted");
  });

  test("in another process a yes does not hold for another tool of that name: it is asked anew", async () => {
    await asked();
    const { agent } = await resumed([], journal, { more: { type: "string" } });
    await expect(agent.approve({ a: true, c: true })).rejects.toMatchObject({
      reason: "approval",
      pending: [{ callId: "a" }, { callId: "c" }],
    });
    expect(ran).toEqual(["b"]);
    expect(agent.pending[0]).not.toHaveProperty("answer");
    const next = await resumed(["ok"], journal, { more: { type: "string" } });
    expect(await next.agent.approve({ a: true, c: true })).toBe("ok");
  });

  test("cut after every line, it loses neither a question nor an answer, and runs nothing twice", async () => {
    await asked();
    const first = await resumed([{ calls: [change("e", "E?")] }]);
    await first.agent.approve({ a: true, c: true }).catch((error) => expect(error).toMatchObject({ code: "ended" }));
    const whole = readFileSync(journal, "utf8").split("\n").slice(0, -1);
    const states: Record<string, unknown>[] = [];
    for (let count = 1; count <= whole.length; count += 1) {
      const cut = join(folder, `cut${count}.jsonl`);
      writeFileSync(cut, `${whole.slice(0, count).join("\n")}\n`);
      const { agent, provider } = await resumed(["ok"], cut);
      const line = JSON.parse(whole[count - 1] ?? "");
      states.push({
        [line.message?.role ?? line.type]: agent.pending.map(({ callId, answer }) => [callId, answer].join(" ").trim()),
      });
      const isWaiting = agent.pending.length > 0;
      const mayRun = new Set(agent.pending.map((call) => call.callId));
      const started = lines(cut).flatMap((one) => (one.callIds as string[] | undefined) ?? []);
      ran = [];
      const answers = Object.fromEntries(agent.pending.map(({ callId, answer }) => [callId, answer ?? true]));
      expect(await (isWaiting ? agent.approve(answers) : agent.chat("on"))).toBe("ok");
      expect(ran.filter((id) => started.includes(id) && !mayRun.has(id))).toEqual([]);
      assertConversation(provider.requests[0]?.messages ?? []);
      expect(JSON.stringify(provider.requests)).not.toContain("waiting for approval");
      expect((await resumed([], cut)).agent.sessionContext).toEqual(agent.sessionContext);
    }
    expect(states).toEqual([
      ...[{ session: [] }, { user: [] }, { opening: [] }, { assistant: [] }, { "tool-start": [] }, { tool: [] }],
      ...[{ tool: ["a"] }, { tool: ["a", "c"] }, { tool: ["a", "c"] }],
      ...[{ answers: ["a true", "c true"] }, { "tool-start": [] }, { tool: [] }, { tool: [] }],
      ...[{ "tool-start": [] }, { tool: [] }, { assistant: [] }, { "tool-start": [] }, { tool: ["e"] }],
    ]);
  });

  const mayHaveRun = "Error executing look: Interrupted; may have run";
  const notRun = "Error executing change: Not run: aborted";
  test.each([
    [["a", "c"], [mayHaveRun, "b done", mayHaveRun, notRun], []],
    [["a"], [mayHaveRun, "b done", waits("look"), waits("change")], ["c"]],
  ])(
    "a crash after the recorded start of %j is told as may have run; other questions stay",
    async (started, told, left) => {
      await asked();
      const { agent } = await resumed();
      await agent.approve(Object.fromEntries(started.map((id) => [id, true]))).catch(() => undefined);
      const kept = readFileSync(journal, "utf8").split("\n");
      const start = kept.findLastIndex((line) => line.includes(`"tool-start","callIds":${JSON.stringify(started)}`));
      writeFileSync(journal, `${kept.slice(0, start + 1).join("\n")}\n`);
      const { agent: next } = await resumed();
      expect(outputs(next)).toEqual(told);
      expect(next.pending.map(({ callId }) => callId)).toEqual(left);
      if (left.length > 0) expect(await next.approve({ c: true })).toBe("ok");
    },
  );
});

describe("a session", () => {
  test("saved while calls wait holds them, and goes on in a journal of its own", async () => {
    const file = join(folder, "session.json");
    const withSaving: AgentOptions["tools"] = (context) => {
      const registry = tools();
      registry.register(createSaveSessionContextTool(context));
      return registry;
    };
    const first = await asked({ tools: withSaving, sessionContextFilePath: file });
    await first.saveContext("lunch");
    const saved = JSON.parse(readFileSync(file, "utf8"));
    assertFits(saved, "session");
    expect(saved.pending.map((call: { callId: string }) => call.callId)).toEqual(["a", "c", "d"]);
    expect(saved.messages).toEqual(first.sessionContext);

    const second = await Agent.resume(new ScriptedProvider([]), file, { tools: tools(), journal });
    await expect(second.approve({ a: true })).rejects.toMatchObject({ pending: [{ callId: "c" }] });
    const { agent } = await resumed();
    expect(agent.pending).toEqual(second.pending);
    expect(await agent.approve({ c: true })).toBe("ok");
    expect(ran).toEqual(["b", "a", "c", "d"]);
  });

  test("saved by a call that was allowed tells that this call may have run", async () => {
    const registry = tools();
    const file = join(folder, "session.json");
    const save = { id: "s", name: "save_session_context", args: { reason: "r" } };
    const agent = new Agent(new ScriptedProvider([{ calls: [save, change("b")] }, "ok"]), {
      sessionContextFilePath: file,
      tools: (context) => {
        registry.register(createSaveSessionContextTool(context));
        return registry.guard(({ name }) => name !== save.name || { ask: "Save?" });
      },
    });
    await agent.chat("go").catch(() => undefined);
    await agent.approve({ s: true });
    const { agent: next } = await resumed([], file);
    expect(outputs(next)[0]).toBe("Error executing save_session_context: Interrupted; may have run");
    expect(next.pending).toEqual([]);
  });

  const call = { callId: "a", step: 1, question: { text: "A?" } };
  test.each<[string, unknown, string]>([
    ["a list", {}, "pending is not a list"],
    ["made of calls", [call, { callId: "b" }], "pending 2: not a call that waits"],
    ["of questions with text", [{ ...call, question: {} }], "pending 1"],
    ["of answers that are answers", [{ ...call, answer: 1 }], "pending 1"],
  ])("whose pending is not %s is refused with the reason", async (_, pending, reason) => {
    const session = { format: "toolcrib-session", version: 1, savedAt: "", systemPrompt: "", messages: [], pending };
    await expect(resumed([], session as Session)).rejects.toMatchObject({
      code: "bad_session",
      message: expect.stringContaining(reason),
    });
  });

  test("whose questions are not about its last reply has none", async () => {
    const session = { format: "toolcrib-session", version: 1, savedAt: "", systemPrompt: "", messages: [] } as const;
    expect((await resumed([], { ...session, pending: [call] })).agent.pending).toEqual([]);
  });
});

test("what waits shows the arguments that would run, repaired and as a middleware changed them, also when resumed", async () => {
  const registry = (): ToolRegistry =>
    tools({ count: { type: "number" } }).use((call, next) => next({ ...call, args: { ...call.args, id: "other" } }));
  const call = { id: "a", name: "change", args: { id: "a", ask: "A?", count: "5" } };
  const { agent } = agentOf([{ calls: [call] }, "ok"], { tools: registry(), journal });
  expect(await failureOf(agent.chat("go"))).toMatchObject({ reason: "approval" });
  const args = { id: "other", ask: "A?", count: 5 };
  expect(agent.pending).toMatchObject([{ callId: "a", args }]);
  expect(agent.sessionContext).toMatchObject([{}, { content: [{ args: call.args }] }, {}]);
  const again = await Agent.resume(new ScriptedProvider(["ok"]), journal, { tools: registry() });
  expect(again.pending).toMatchObject([{ callId: "a", args }]);
  expect(await again.approve({ a: true })).toBe("ok");
  expect(ran).toEqual(["other"]);
});
