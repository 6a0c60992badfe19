import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import * as turns from "../../testing/turns.ts";
import { askingTools, change, outputs, read, resumedFrom } from "../../testing/turns.ts";
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
