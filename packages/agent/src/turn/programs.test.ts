import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Approve, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { createProgramTools } from "@toolcrib/tools-program";
import { beforeEach, describe, expect, test } from "vitest";
import { anyTool, assertFits, outputs, read } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import type { AgentEvent } from "../messages.ts";
import type { AgentOptions } from "../options.ts";
import { ScriptedProvider, type ScriptedReply } from "../testing.ts";
import type { StepRunner } from "./steps.ts";

let folder: string;
let ran: string[];
beforeEach(() => {
  folder = temporaryFolder("programs");
  ran = [];
});

/** Returns a registry whose writes are asked about, with `run_program`. */
function toolsOf(): ToolRegistry {
  const write = anyTool("write", ({ path }) => {
    ran.push(String(path));
    return `wrote ${String(path)}`;
  });
  const look = anyTool("look", () => {
    ran.push("look");
    return "seen";
  });
  const registry = new ToolRegistry([write, { ...look, readOnly: true }]);
  registry.register(...createProgramTools(registry, { tools: ["write", "look"] }));
  return registry.guard(({ name, args }) => (name === "write" ? { ask: `Write ${String(args.path)}?` } : true));
}

const loop = `text(await tools.look());
  for (const n of [1, 2]) text(await tools.write({ path: "p" + n }).catch((error) => error.message));
  return "done"`;
const together = `return (await Promise.all([1, 2, 3].map((n) => tools.write({ path: "p" + n })))).join()`;
const program = (code: string): ScriptedReply => ({ calls: [{ id: "c", name: "run_program", args: { code } }] });

function agentOf(replies: ScriptedReply[], options: AgentOptions = {}) {
  const provider = new ScriptedProvider(replies);
  return { provider, agent: new Agent(provider, { tools: toolsOf(), ...options }) };
}

describe("a question within a program", () => {
  test("ends the turn, is listed with the call around it, and goes on with the answer", async () => {
    const { agent } = agentOf([program(loop), "fine"]);
    await expect(agent.chat("go")).rejects.toMatchObject({ reason: "approval" });
    expect(agent.pending).toEqual([
      { callId: "c:2", name: "write", args: { path: "p1" }, question: { text: "Write p1?" }, within: "c" },
    ]);
    expect(outputs(agent)).toEqual(["Waiting for approval; 1 calls made"]);
    await expect(agent.approve({ "c:2": true })).rejects.toMatchObject({ reason: "approval" });
    expect(agent.pending.map(({ callId }) => callId)).toEqual(["c:3"]);
    expect(await agent.approve({ "c:3": "not this one" })).toBe("fine");
    expect(outputs(agent)).toEqual(["seen\nwrote p1\nError executing write: Permission denied: not this one\ndone"]);
    expect(ran).toEqual(["look", "p1"]);
  });

  test("is told with the calls around it, as they begin and end", async () => {
    const { agent } = agentOf([program(loop), "fine"]);
    const told = (events: readonly AgentEvent[]) =>
      events.flatMap((event) =>
        event.type === "tool-call" || event.type === "tool-result" ? [`${event.type} ${event.id} ${event.within}`] : [],
      );
    expect(told(await read(agent.streamChat("go")))).toEqual([
      ...["tool-call c undefined", "tool-call c:1 c", "tool-result c:1 c", "tool-call c:2 c"],
    ]);
    const events = await read(agent.streamApprove({ "c:2": true }));
    expect(told(events)).toEqual([
      ...["tool-call c undefined", "tool-call c:2 c", "tool-result c:2 c", "tool-call c:3 c"],
    ]);
    expect(events.filter(({ type }) => type === "tool-result")).toMatchObject([
      { name: "write", output: "wrote p1", isError: false },
    ]);
    const last = await read(agent.streamApprove({ "c:3": false }));
    expect(told(last)).toEqual([
      ...["tool-call c undefined", "tool-call c:3 c", "tool-result c:3 c", "tool-result c undefined"],
    ]);
  });

  test("is told with arguments that name its path, however long the others are", async () => {
    const code = `await tools.write({ path: "p", content: "x".repeat(100_000) })`;
    const { agent } = agentOf([program(code), "fine"]);
    const events = await read(agent.streamChat("go"));
    const args = events.flatMap((event) => (event.type === "tool-call" && event.within ? [event.args] : []));
    expect(args).toEqual([{ path: "p", content: expect.stringMatching(/^x{100,200}…?$/) }]);
    expect(agent.pending[0]?.args).toMatchObject({ content: "x".repeat(100_000) });
  });

  test("or none: each call within has one result, also where the program does not wait for it, or fails", async () => {
    for (const code of ["tools.look(); return 1", "tools.look(); tools.write({ path: 'p' }); throw 1"]) {
      const { agent } = agentOf([program(code), "fine"]);
      const events = await read(agent.streamChat("go"));
      const ids = (type: string) =>
        events.flatMap((event) => (event.type === type && "id" in event ? [event.id] : [])).sort();
      expect(ids("tool-result")).toEqual(ids("tool-call"));
    }
    expect(ran).toEqual(["look", "look"]);
  });

  test("of one Promise.all is one list; it goes on once each has an answer", async () => {
    const { agent } = agentOf([program(together), "fine"]);
    await expect(agent.chat("go")).rejects.toMatchObject({ reason: "approval" });
    expect(agent.pending.map(({ callId, within }) => [callId, within])).toEqual([1, 2, 3].map((n) => [`c:${n}`, "c"]));
    await expect(agent.approve({ "c:1": true, "c:3": true })).rejects.toMatchObject({ reason: "approval" });
    expect([agent.pending.map(({ answer }) => answer), ran]).toEqual([[true, undefined, true], []]);
    expect(await agent.approve({ "c:2": { output: "mine" } })).toBe("fine");
    expect(outputs(agent)).toEqual(["wrote p1,mine,wrote p3"]);
  });

  test("is asked of approve only where it has no answer yet", async () => {
    const { agent } = agentOf([program(together), "fine"]);
    await expect(agent.chat("go")).rejects.toMatchObject({ reason: "approval" });
    const asked: unknown[] = [];
    const approve: Approve = ({ callId, args }, { text }) => asked.push([callId, args, text]) > 0;
    expect(await agent.approve({ "c:1": true, "c:3": "no" }, { approve })).toMatch("fine");
    expect(asked).toEqual([["c:2", { path: "p2" }, "Write p2?"]]);
    expect(ran).not.toContain("p3");
  });

  test("is answered in another process, by the journal", async () => {
    const journal = join(folder, "one.jsonl");
    const { agent } = agentOf([program(loop)], { journal });
    await expect(agent.chat("go")).rejects.toMatchObject({ reason: "approval" });
    const provider = new ScriptedProvider(["fine"]);
    const other = await Agent.resume(provider, journal, { tools: toolsOf() });
    expect(other.pending.map(({ callId }) => callId)).toEqual(["c:2"]);
    await expect(other.approve({ "c:2": true })).rejects.toMatchObject({ reason: "approval" });
    const third = await Agent.resume(provider, journal, { tools: toolsOf() });
    expect(await third.approve({ "c:3": true })).toBe("fine");
    expect(outputs(third)).toEqual(["seen\nwrote p1\nwrote p2\ndone"]);
    expect(ran).toEqual(["look", "p1", "p2"]);
    const lines = readFileSync(journal, "utf8").trimEnd().split("\n");
    for (const line of lines) assertFits(JSON.parse(line), "journalLine");
    // Each line of the record stands there once, however often the program waits.
    const kept = lines.flatMap((line) => (line.includes('"type":"within"') ? JSON.parse(line).lines : []));
    expect(kept.map(({ type, number }) => `${type} ${number ?? ""}`.trim())).toEqual([
      ...["begin", "call 1", "end 1", "call 2", "asked 2", "answer 2", "start 2", "end 2"],
      ...["call 3", "asked 3", "answer 3", "start 3", "end 3"],
    ]);
    expect(lines.filter((line) => line.includes('"log":'))).toEqual([]);
  });

  test("is repeated by recorded steps, with its answer, and no call runs twice", async () => {
    const records = new Map<string, unknown>();
    const steps: StepRunner = {
      async run<T>(name: string, fn: () => Promise<T>): Promise<T> {
        if (!records.has(name)) records.set(name, structuredClone(await fn()));
        return structuredClone(records.get(name)) as T;
      },
    };
    const onQuestions = async (pending: Agent["pending"]) =>
      Object.fromEntries(pending.map(({ callId }) => [callId, true]));
    for (const replies of [[program(loop), "fine"], []]) {
      const { agent } = agentOf(replies as ScriptedReply[], { steps });
      expect(await agent.chat("go", { onQuestions })).toBe("fine");
      expect(outputs(agent)).toEqual(["seen\nwrote p1\nwrote p2\ndone"]);
    }
    expect(ran).toEqual(["look", "p1", "p2"]);
    expect([...records.keys()]).toContain("call:c:3");
  });

  test("or a turn whose steps another version of the tool has recorded: it ends as failed, says that it may have made calls, and runs none", async () => {
    const records = new Map<string, unknown>();
    let isCut = false;
    const steps: StepRunner = {
      async run<T>(name: string, fn: () => Promise<T>): Promise<T> {
        // The process dies before the second write.
        if (name === "start:c:3" && !isCut) {
          isCut = true;
          throw new Error("died");
        }
        if (!records.has(name)) records.set(name, structuredClone(await fn()));
        return structuredClone(records.get(name)) as T;
      },
    };
    const onQuestions = async (pending: Agent["pending"]) =>
      Object.fromEntries(pending.map(({ callId }) => [callId, true]));
    const code = `await tools.look(); for (const path of ["p1", "p2"]) await tools.write({ path })`;
    const { agent: first } = agentOf([program(code)], { steps });
    await expect(first.chat("go", { onQuestions })).rejects.toThrow("died");
    records.set("program:c", { value: { ...(records.get("program:c") as { value: object }).value, engine: "older" } });
    const { agent } = agentOf(["fine"], { steps });
    expect(await agent.chat("go", { onQuestions })).toBe("fine");
    expect(outputs(agent)).toEqual([
      "Error executing run_program: The program was ended: it cannot go on: its record is that of another version of @toolcrib/tools-program\n\n" +
        "It may have made calls that are not listed here: look at what they did before you make them again.",
    ]);
    expect(ran).toEqual(["look", "p1"]);
  });

  test("that a message answers ends the program as failed; what it did stays", async () => {
    const { agent, provider } = agentOf([program(loop), "well then"]);
    await expect(agent.chat("go")).rejects.toMatchObject({ reason: "approval" });
    expect(await agent.chat("leave it")).toBe("well then");
    expect(outputs(agent)).toEqual([
      "Error executing run_program: Permission denied: the user sent a message instead of an answer; 1 calls were made, and stay made:\n1. look {}: ok",
    ]);
    expect(provider.requests).toHaveLength(2);
    expect(ran).toEqual(["look"]);
  });

  test("is answered during the turn by onQuestions and by approve", async () => {
    const asked: string[] = [];
    const { agent } = agentOf([program(together), "fine"]);
    const onQuestions = async (pending: Agent["pending"]) => {
      asked.push(pending.map(({ callId }) => callId).join());
      return Object.fromEntries(pending.map(({ callId }) => [callId, true]));
    };
    expect(await agent.chat("go", { onQuestions })).toBe("fine");
    expect([asked, ran]).toEqual([["c:1,c:2,c:3"], ["p1", "p2", "p3"]]);
    const { agent: inTurn } = agentOf([program(loop), "fine"]);
    expect(await inTurn.chat("go", { approve: () => true })).toBe("fine");
    expect(outputs(inTurn)).toEqual(["seen\nwrote p1\nwrote p2\ndone"]);
  });

  test("comes after one about the program itself, whose answer holds", async () => {
    const { agent } = agentOf([program(together), "fine"]);
    agent.toolRegistry.guard(({ name }) => (name === "run_program" ? { ask: "Run it?" } : true));
    await expect(agent.chat("go")).rejects.toMatchObject({ reason: "approval" });
    expect(agent.pending.map(({ callId }) => callId)).toEqual(["c"]);
    await expect(agent.approve({ c: true })).rejects.toMatchObject({ reason: "approval" });
    const answers = Object.fromEntries(agent.pending.map(({ callId }) => [callId, true]));
    expect(await agent.approve(answers)).toBe("fine");
    expect(outputs(agent)).toEqual(["wrote p1,wrote p2,wrote p3"]);
  });
});
