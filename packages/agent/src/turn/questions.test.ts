import { join } from "node:path";
import { type Approve, ToolRegistry, toolOutput } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import * as turns from "../../testing/turns.ts";
import { anyTool, askingTools, change, look, outputs, read, resumedFrom } from "../../testing/turns.ts";
import { AgentError } from "../errors.ts";
import type { PendingCall } from "../messages.ts";
import type { ScriptedReply } from "../testing.ts";

const script: readonly ScriptedReply[] = [
  { calls: [change("a", "A?"), change("b", "B?")] },
  { calls: [change("c", "C?")] },
  "done",
];

function agentOf(replies = script, options: { journal?: string } = {}) {
  const tools = askingTools([]);
  return { ...turns.agentOf(replies, { tools, ...options }), tools };
}

test("a turn goes on with the answers, each question after the one before, and ends once", async () => {
  const { agent, provider } = agentOf();
  const asked: string[][] = [];
  const onQuestions = async (pending: readonly PendingCall[]) => {
    asked.push(pending.map(({ question }) => question.text));
    expect(agent.pending).toEqual(pending);
    return { [pending[0]?.callId ?? ""]: pending[0]?.callId === "b" ? "not now" : true };
  };
  const events = await read(agent.streamChat("go", { onQuestions, toolChoice: "required" }));
  expect(asked).toEqual([["A?"], ["B?"], ["C?"]]);
  expect(events.filter(({ type }) => type === "end")).toEqual([{ type: "end", reason: "stop", text: "done" }]);
  expect(outputs(agent)).toEqual(["a done", "Error executing change: Permission denied: not now", "c done"]);
  expect(provider.requests.map(({ toolChoice }) => toolChoice)).toEqual(["required", undefined, undefined]);
});

test.each([
  ["no answers", async () => undefined],
  ["none of them", async () => ({})],
])("with %s the turn ends, and the question stays open", async (_, onQuestions) => {
  const { agent } = agentOf();
  await expect(agent.chat("go", { onQuestions })).rejects.toMatchObject({ code: "ended", reason: "approval" });
  expect(agent.pending.map(({ callId }) => callId)).toEqual(["a"]);
});

test("what it throws reaches the caller, and the question stays open", async () => {
  const { agent } = agentOf();
  const onQuestions = async () => {
    throw new Error("gone");
  };
  await expect(agent.chat("go", { onQuestions })).rejects.toThrow("gone");
  expect(agent.pending).toHaveLength(1);
  expect(await agent.approve({}, { onQuestions: async ([call]) => ({ [call?.callId ?? ""]: true }) })).toBe("done");
});

test("whatever it throws, the results beside the question stay as they are", async () => {
  const content = [{ type: "image", data: "AAAA", mimeType: "image/png" }] as const;
  const tools = askingTools([]);
  tools.register(anyTool("show", () => toolOutput("shown", { content }), { readOnly: true }));
  const calls = [{ id: "s", name: "show" }, look("a", "A?")];
  const { agent } = turns.agentOf([{ calls }], { tools });
  const onQuestions = async () => {
    throw new AgentError({ code: "invalid_request", message: "of another service" });
  };
  await expect(agent.chat("go", { onQuestions })).rejects.toThrow("of another service");
  expect(agent.sessionContext[2]).toMatchObject({ output: "shown", content });
});

test("questions of an earlier process are asked by an approve without answers", async () => {
  const journal = join(temporaryFolder("questions"), "one.jsonl");
  const first = agentOf(script, { journal });
  await first.agent.chat("go").catch(() => {});
  const { agent } = await resumedFrom(journal, ["done"], { tools: first.tools });
  const asked: string[] = [];
  const onQuestions = async (pending: readonly PendingCall[]) => {
    asked.push(...pending.map(({ callId }) => callId));
    return Object.fromEntries(pending.map(({ callId }) => [callId, true]));
  };
  expect(await agent.approve({}, { onQuestions })).toBe("done");
  expect(asked).toEqual(["a", "b"]);
});

test("the start of a call is told once in a turn, and while it waits no other turn begins", async () => {
  const { agent } = agentOf([{ calls: [change("a", "A?"), change("b")] }, "done"]);
  const onQuestions = async () => {
    await expect(agent.approve({ a: true })).rejects.toMatchObject({ code: "busy" });
    return { a: true };
  };
  const events = await read(agent.streamChat("go", { onQuestions }));
  const told = events.flatMap((event) => ("id" in event ? [`${event.type} ${event.id}`] : []));
  expect(told).toEqual(["tool-call a", "tool-result a", "tool-call b", "tool-result b"]);
});

test("answers that do not fit end the turn with an error, and the question stays", async () => {
  for (const answers of [{ b: true }, { a: 1 as never }, { a: { args: { id: 1 } } }]) {
    const { agent } = agentOf();
    const failed = agent.chat("go", { onQuestions: async () => answers });
    await expect(failed).rejects.toMatchObject({ code: "invalid_option" });
    expect(agent.pending).toMatchObject([{ callId: "a", question: { text: "A?" } }]);
  }
});

describe("approve of a turn", () => {
  test("is asked about calls that wait already, on disk too, as guards see them", async () => {
    const journal = join(temporaryFolder("questions"), "approve.jsonl");
    const effects = [{ kind: "write", path: "/a" }] as const;
    const tool = anyTool("pay", () => "paid", { effects: () => effects, origin: "mine" });
    const tools = new ToolRegistry([tool]).guard(() => ({ ask: "Pay?" }));
    const { agent } = turns.agentOf([{ calls: [{ id: "a", name: "pay", args: { to: "me" } }] }, "done"], {
      tools,
      journal,
    });
    const approve: Approve = async (call, question) => {
      expect(call).toMatchObject({ name: "pay", args: { to: "me" }, origin: "mine", effects, callId: "a" });
      expect([call.tool.name, call.labels, question]).toEqual(["pay", { chat: 1 }, { text: "Pay?" }]);
      expect(agent.pending).toMatchObject([{ callId: "a" }]);
      const { agent: other } = await resumedFrom(journal, [], { tools });
      expect(other.pending).toEqual(agent.pending);
      return true;
    };
    expect(await agent.chat("go", { approve, labels: { chat: 1 } })).toBe("done");
    expect(outputs(agent)).toEqual(["paid"]);
  });

  test("is told why its answer cannot be used, and asked again", async () => {
    const { agent } = agentOf();
    const said: (string | undefined)[] = [];
    const approve: Approve = (_, { refused }) => {
      said.push(refused);
      return said.length === 2 ? { args: { id: "other" } } : { args: { id: 1, more: [] } };
    };
    await agent.chat("go", { approve }).catch(() => {});
    expect(said.slice(0, 2)).toEqual([undefined, expect.stringMatching(/^The answer does not fit change\. .*id/)]);
    expect(outputs(agent)[0]).toContain("other done");
  });

  test("that gives no answer leaves the question to onQuestions", async () => {
    const { agent } = agentOf();
    const onQuestions = async ([call]: readonly PendingCall[]) => ({ [call?.callId ?? ""]: true });
    expect(await agent.chat("go", { approve: () => ({ args: { id: 1 } }), onQuestions })).toBe("done");
  });

  test("is not asked for ever by a guard whose question is another each time", async () => {
    const asked: string[] = [];
    const tools = askingTools([], () => ({ ask: `Number ${asked.push("")}?` }));
    const { agent } = turns.agentOf([{ calls: [change("a")] }], { tools });
    await expect(agent.chat("go", { approve: () => true })).rejects.toMatchObject({ reason: "approval" });
    expect(asked.length).toBeLessThan(30);
    expect(agent.pending).toHaveLength(1);
  });

  test("of a call whose tool is gone is not asked: the model is told", async () => {
    const { agent } = agentOf();
    await agent.chat("go").catch(() => {});
    agent.removeTool("change");
    const approve = () => expect.fail("there is nothing to ask about");
    await agent.approve({}, { approve }).catch(() => {});
    expect(outputs(agent)[0]).toBe("Tool not found: change");
  });
});
