import { setTimeout as sleep } from "node:timers/promises";
import { type Approve, ToolError, ToolRegistry } from "@toolcrib/core";
import { beforeEach, describe, expect, test } from "vitest";
import * as turns from "../../testing/turns.ts";
import { anyTool, asking, change, outputs, read } from "../../testing/turns.ts";
import type { AgentEvent } from "../messages.ts";
import type { ScriptedReply } from "../testing.ts";

let ran: string[];
beforeEach(() => {
  ran = [];
});

/** Calls with `ask` are asked about; `look` is read-only; `ms` is how long a call takes. */
function agentOf(replies: ScriptedReply[]) {
  const execute: turns.Run = async ({ id, ms = 0 }, { signal }) => {
    ran.push(String(id));
    await sleep(Number(ms), undefined, { signal });
    return `${id} done`;
  };
  const tools = ["look", "change"].map((name) => anyTool(name, execute, { readOnly: name === "look" }));
  return turns.agentOf(replies, { tools: new ToolRegistry(tools).guard(asking) });
}

const look = (id: string, ask?: string, ms = 0) => ({ id, name: "look", args: { id, ms, ...(ask && { ask }) } });
const endOf = async (events: AsyncIterable<AgentEvent>): Promise<AgentEvent | undefined> => (await read(events)).at(-1);

describe("a message instead of an answer", () => {
  test("denies what is pending; later calls are not run; the model reads both", async () => {
    const { agent, provider } = agentOf([{ calls: [look("a", "A?"), look("b"), change("c")] }, "ok"]);
    await endOf(agent.streamChat("go"));
    const events = await read(agent.streamChat("never mind"));
    const denied = "Error executing look: Permission denied: the user sent a message instead of an answer";
    const notRun = "Error executing change: Not run: not answered";
    expect(outputs(agent)).toEqual([denied, "b done", notRun]);
    expect(events.slice(0, 4)).toEqual([
      { type: "tool-call", id: "a", name: "look", args: { id: "a", ms: 0, ask: "A?" } },
      { type: "tool-result", id: "a", name: "look", output: denied, isError: true },
      { type: "tool-call", id: "c", name: "change", args: { id: "c" } },
      { type: "tool-result", id: "c", name: "change", output: notRun, isError: true },
    ]);
    expect(agent.pending).toEqual([]);
    expect(ran).toEqual(["b"]);
    expect(provider.requests[1]?.messages).toEqual(agent.sessionContext.slice(0, -1));
    expect(JSON.stringify(provider.requests)).not.toContain("waiting for approval");
  });

  test("one that is refused, or comes with wrong options, denies nothing", async () => {
    const { agent } = agentOf([{ calls: [change("a", "A?")] }]);
    await endOf(agent.streamChat("go"));
    await expect(agent.chat("")).rejects.toThrow("empty");
    await expect(agent.chat("x", { approve: true } as object)).rejects.toThrow("approve must be a function");
    expect(agent.pending).toHaveLength(1);
  });
});

describe("meanwhile", () => {
  test("messages given by steer, also while the turn that asks still runs, wait until it goes on", async () => {
    const { agent, provider } = agentOf([{ calls: [change("a", "A?")] }, "ok"]);
    for await (const event of agent.streamChat("go")) if (event.type === "tool-call") agent.steer("by the way");
    agent.steer("and be quick");
    expect(agent.pending).toHaveLength(1);
    const types = (await read(agent.streamApprove({ a: true }))).map(({ type }) => type);
    expect(types).toEqual(["tool-call", "tool-result", "steering", "steering", "step-start", "text-delta", "end"]);
    expect(provider.requests[1]?.messages.slice(-3)).toMatchObject([
      { role: "tool", output: "a done" },
      { role: "user", content: [{ text: "by the way" }] },
      { role: "user", content: [{ text: "and be quick" }] },
    ]);
  });

  test("compact is busy", async () => {
    const { agent } = agentOf([{ calls: [change("a", "A?")] }]);
    await endOf(agent.streamChat("go"));
    await expect(agent.compact()).rejects.toMatchObject({ code: "busy", message: expect.stringContaining("approve") });
    expect(agent.pending).toHaveLength(1);
  });

  test("clearContext drops the questions with the conversation, and the next one counts its own steps", async () => {
    const asks = { calls: [change("a", "A?")] };
    const { agent } = agentOf([asks, { calls: [look("b")] }, { calls: [change("c", "C?")] }, "ok"]);
    await endOf(agent.streamChat("go"));
    agent.clearContext();
    expect(agent.pending).toEqual([]);
    await expect(agent.approve({ a: true })).rejects.toMatchObject({ code: "invalid_option" });
    await endOf(agent.streamChat("go"));
    const steps: number[] = [];
    for await (const event of agent.streamApprove({ c: true })) if (event.type === "step-start") steps.push(event.step);
    expect(steps).toEqual([3]);
  });
});

describe("an abort", () => {
  test("before the questions are kept closes every call: nothing is pending", async () => {
    const { agent } = agentOf([{ calls: [look("a", "A?"), look("b", undefined, 100_000), change("c")] }, "ok"]);
    const controller = new AbortController();
    const running = endOf(agent.streamChat("go", { signal: controller.signal }));
    while (ran.length === 0) await sleep(1);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: "aborted" });
    expect(agent.pending).toEqual([]);
    const [a, b, c] = outputs(agent);
    expect([a, c]).toEqual(["Error executing look: Not run: aborted", "Error executing change: Not run: aborted"]);
    expect(b).not.toContain("Not run");
  });

  test("while approved calls run ends those; what is unanswered stays pending", async () => {
    const { agent } = agentOf([{ calls: [look("a", "A?", 100_000), look("b", "B?"), change("c")] }, "ok"]);
    await endOf(agent.streamChat("go"));
    const controller = new AbortController();
    const running = endOf(agent.streamApprove({ a: true }, { signal: controller.signal }));
    while (ran.length === 0) await sleep(1);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: "aborted" });
    expect(outputs(agent)[0]).not.toContain("Not run");
    expect(agent.pending).toMatchObject([{ callId: "b" }]);
    expect(await endOf(agent.streamApprove({ b: false }))).toMatchObject({ reason: "stop" });
    expect(ran).toEqual(["a", "c"]);
  });

  test("before anything has run records the answers and starts nothing", async () => {
    const { agent } = agentOf([{ calls: [change("a", "A?")] }]);
    await endOf(agent.streamChat("go"));
    const aborted = agent.approve({ a: true }, { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ code: "aborted" });
    expect(agent.pending).toMatchObject([{ callId: "a", answer: true }]);
    expect(ran).toEqual([]);
  });

  test("before an approved call starts keeps it pending with its answer, with which approve({}) runs it", async () => {
    const { agent } = agentOf([{ calls: [change("a", "A?"), change("b", "B?")] }, "ok"]);
    await endOf(agent.streamChat("go"));
    for await (const event of agent.streamApprove({ a: true })) if (event.type === "tool-call") break;
    expect(agent.pending).toMatchObject([{ callId: "a", answer: true }]);
    expect(ran).toEqual([]);
    expect(await endOf(agent.streamApprove({}))).toMatchObject({ reason: "approval", pending: [{ callId: "b" }] });
    expect(ran).toEqual(["a"]);
  });

  test("with nothing unanswered left closes the later calls", async () => {
    const { agent } = agentOf([{ calls: [change("a", "A?"), change("b")] }, "ok"]);
    await endOf(agent.streamChat("go"));
    for await (const event of agent.streamApprove({ a: true })) if (event.type === "tool-result") break;
    expect(outputs(agent)).toEqual(["a done", "Error executing change: Not run: aborted"]);
    expect(agent.pending).toEqual([]);
    expect(await agent.chat("on")).toBe("ok");
  });
});

describe("the option approve", () => {
  test("answers in place, one question at a time, also of calls that run side by side", async () => {
    const { agent } = agentOf([{ calls: [look("a", "A?"), look("b", "B?"), look("c", "C?"), look("d")] }, "ok"]);
    const asked: string[] = [];
    let open = 0;
    const approve: Approve = async (call, { text }) => {
      open += 1;
      asked.push(`${text} ${call.callId} ${open}`);
      await sleep(1);
      open -= 1;
      return text === "B?" ? "not this one" : text === "A?";
    };
    expect(await agent.chat("go", { approve })).toBe("ok");
    expect(asked).toEqual(["A? a 1", "B? b 1", "C? c 1"]);
    expect(outputs(agent)).toEqual([
      "a done",
      "Error executing look: Permission denied: not this one",
      "Error executing look: Permission denied: this call was not approved",
      "d done",
    ]);
  });

  test("one that throws denies, and the next is asked", async () => {
    const { agent } = agentOf([{ calls: [look("a", "A?"), look("b", "B?")] }, "ok"]);
    const approve: Approve = (_, { text }) => {
      if (text === "A?") throw new Error("no terminal");
      return true;
    };
    expect(await agent.chat("go", { approve })).toBe("ok");
    expect(ran).toEqual(["b"]);
  });

  test("after an abort nobody is asked any more", async () => {
    const { agent } = agentOf([{ calls: [look("a", "A?"), look("b", "B?")] }, "ok"]);
    const controller = new AbortController();
    const asked: string[] = [];
    const approve: Approve = (_, { text }) => {
      asked.push(text);
      controller.abort();
      return true;
    };
    await expect(agent.chat("go", { approve, signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
    expect(asked).toEqual(["A?"]);
    expect(ran).toEqual([]);
  });

  test("has nothing to say to a middleware that asks by itself: the model reads its error", async () => {
    const { agent } = agentOf([{ calls: [look("a")] }, "ok"]);
    const question = { text: "A?" };
    const error = new ToolError({ code: "approval_required", message: "Approval required: A?", details: { question } });
    agent.toolRegistry.use(async () => ({ ok: false, error }));
    expect(await agent.chat("go", { approve: () => true })).toBe("ok");
    expect(outputs(agent)).toEqual(["Error executing look: Approval required: A?"]);
  });

  test("of approve asks in place for what has no answer", async () => {
    const { agent } = agentOf([{ calls: [look("a", "A?"), look("b", "B?")] }, { calls: [change("c", "C?")] }, "ok"]);
    await endOf(agent.streamChat("go"));
    const asked: string[] = [];
    const approve: Approve = (_, { text }) => asked.push(text) > 0;
    expect(await agent.approve({ a: true }, { approve })).toBe("ok");
    expect(asked).toEqual(["B?", "C?"]);
  });
});
