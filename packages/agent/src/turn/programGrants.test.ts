import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ApprovalAnswer, type Approve, type GuardDecision, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { createProgramTools } from "@toolcrib/tools-program";
import { beforeEach, describe, expect, test } from "vitest";
import { agentOf, anyTool, assertFits, outputs, resumedFrom } from "../../testing/turns.ts";
import type { PendingCall } from "../messages.ts";
import type { ScriptedReply } from "../testing.ts";

let root: string;
let ran: string[];
beforeEach(() => {
  root = temporaryFolder("grants");
  ran = [];
});

/** Returns a registry whose writes are asked about, with `run_program`; the question offers the root, for calls of programs. */
function toolsOf(data: object = { upTo: root }): ToolRegistry {
  const write = anyTool(
    "write",
    ({ path }) => {
      ran.push(String(path));
      return `wrote ${String(path)}`;
    },
    { effects: ({ path }: { path: string }) => [{ kind: "write", path: join(root, path) }] },
  );
  const registry = new ToolRegistry([write]);
  registry.register(...createProgramTools(registry, { tools: ["write"] }));
  return registry.guard(({ name, args }): GuardDecision => {
    return name === "write" ? { ask: { text: `Write ${String(args.path)}?`, data } } : true;
  });
}

const program = (code: string): ScriptedReply => ({ calls: [{ id: "c", name: "run_program", args: { code } }] });
const loop = program(`for (let n = 1; n <= 4; n += 1) text(await tools.write({ path: "src/" + n }))`);
const together = program(`return (await Promise.all([1, 2, 3].map((n) => tools.write({ path: "src/" + n })))).join()`);
const waits = { code: "ended", reason: "approval" };

describe("an answer for several calls of a program", () => {
  test("is offered with the effects of each call, and is for a whole round", async () => {
    const { agent } = agentOf([together, "fine"], { tools: toolsOf() });
    await expect(agent.chat("go")).rejects.toMatchObject(waits);
    expect(agent.pending).toEqual(
      [1, 2, 3].map((n) => ({
        ...{ callId: `c:${n}`, within: "c", name: "write", args: { path: `src/${n}` } },
        effects: [{ kind: "write", path: join(root, "src", String(n)) }],
        question: { text: `Write src/${n}?`, data: { upTo: join(root, "src") } },
      })),
    );
    expect(await agent.approve({ "c:1": { upTo: 3 } })).toBe("fine");
    expect(outputs(agent)).toEqual(["wrote src/1,wrote src/2,wrote src/3"]);
  });

  test("is for so many of a loop; the next one is asked about", async () => {
    const { agent } = agentOf([loop, "fine"], { tools: toolsOf() });
    await expect(agent.chat("go")).rejects.toMatchObject(waits);
    await expect(agent.approve({ "c:1": { upTo: 3 } })).rejects.toMatchObject(waits);
    expect([agent.pending.map(({ callId }) => callId), ran]).toEqual([["c:4"], ["src/1", "src/2", "src/3"]]);
    expect(await agent.approve({ "c:4": { upTo: 1 } })).toBe("fine");
    expect(ran).toEqual(["src/1", "src/2", "src/3", "src/4"]);
  });

  test("that is for fewer than a round leaves the rest as questions, and keeps other answers", async () => {
    const { agent } = agentOf([together, "fine"], { tools: toolsOf() });
    await expect(agent.chat("go")).rejects.toMatchObject(waits);
    await expect(agent.approve({ "c:3": "not 3" })).rejects.toMatchObject(waits);
    const allSettled = agent.approve({ "c:1": { upTo: 1 } });
    await expect(allSettled).rejects.toMatchObject(waits);
    expect([agent.pending.map(({ callId }) => callId), ran]).toEqual([["c:2"], ["src/1"]]);
    expect(await agent.approve({ "c:2": true })).toBe("fine");
    expect([ran, outputs(agent)[0]]).toEqual([["src/1", "src/2"], expect.stringContaining("not 3")]);
  });

  test("counts on in a session that is resumed, whose journal holds it", async () => {
    const journal = join(root, "one.jsonl");
    const { agent } = agentOf([loop], { tools: toolsOf(), journal });
    await expect(agent.chat("go")).rejects.toMatchObject(waits);
    const { agent: second } = await resumedFrom(journal, [], { tools: toolsOf() });
    expect(second.pending).toEqual(agent.pending);
    await expect(second.approve({ "c:1": { upTo: 2 } })).rejects.toMatchObject(waits);
    const { agent: third } = await resumedFrom(journal, ["fine"], { tools: toolsOf() });
    expect(third.pending.map(({ callId }) => callId)).toEqual(["c:3"]);
    expect(await third.approve({ "c:3": { upTo: 2 } })).toBe("fine");
    expect(ran).toEqual(["src/1", "src/2", "src/3", "src/4"]);
    for (const line of readFileSync(journal, "utf8").trimEnd().split("\n")) assertFits(JSON.parse(line), "journalLine");
  });

  test("is one of approve and of onQuestions too, and what it covers is not asked about", async () => {
    const asked: unknown[] = [];
    const approve: Approve = ({ callId, within, effects }) => {
      asked.push([callId, within, effects?.length]);
      return { upTo: 2 };
    };
    const { agent } = agentOf([together, "fine"], { tools: toolsOf() });
    expect(await agent.chat("go", { approve })).toBe("fine");
    expect(asked).toEqual([
      ["c:1", "c", 1],
      ["c:3", "c", 1],
    ]);
    const onQuestions = async ([call]: readonly PendingCall[]) => ({ [call?.callId ?? ""]: { upTo: 4 } });
    const { agent: inTurn } = agentOf([loop, "fine"], { tools: toolsOf() });
    expect(await inTurn.chat("go", { onQuestions })).toBe("fine");
    expect(ran).toHaveLength(7);
  });

  test.each<[string, unknown, string]>([
    ["0", { upTo: 0 }, "must be true, false, a reason, { args } or { output }, or { upTo: 1 to 1000 }"],
    ["a fraction", { upTo: 1.5 }, "or { upTo: 1 to 1000 } if its question offers that, received"],
    ["a text", { upTo: "3" }, "{ upTo: 1 to 1000 }"],
    ["more than the limit", { upTo: 1001 }, "{ upTo: 1 to 1000 }"],
    ["two answers at once", { upTo: 2, args: {} }, "{ upTo: 1 to 1000 }"],
  ])("is refused with %s, and the question stays", async (_, answer, message) => {
    const { agent } = agentOf([loop], { tools: toolsOf() });
    await expect(agent.chat("go")).rejects.toMatchObject(waits);
    const failed = agent.approve({ "c:1": answer as ApprovalAnswer });
    await expect(failed).rejects.toMatchObject({ code: "invalid_option", message: expect.stringContaining(message) });
    expect([agent.pending.map(({ callId }) => callId), ran]).toEqual([["c:1"], []]);
  });

  test("is refused where the question offers none, of a program or of a direct call", async () => {
    const message = "cannot be { upTo }: its question offers no folder for more calls (question.data.upTo).";
    const { agent } = agentOf([loop], { tools: toolsOf({}) });
    await expect(agent.chat("go")).rejects.toMatchObject(waits);
    const failed = agent.approve({ "c:1": { upTo: 2 } });
    await expect(failed).rejects.toMatchObject({
      ...{ code: "invalid_option", message: `The answer for c:1 ${message}` },
    });
    const calls = [{ id: "d", name: "write", args: { path: "src/1" } }];
    const { agent: direct } = agentOf([{ calls }], { tools: toolsOf() });
    await expect(direct.chat("go")).rejects.toMatchObject(waits);
    await expect(direct.approve({ d: { upTo: 2 } })).rejects.toThrow(`The answer for d ${message}`);
    expect(ran).toEqual([]);
  });
});
