import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "@toolcrib/agent";
import type { ScriptedReply } from "@toolcrib/agent/testing";
import { temporaryFolder } from "@toolcrib/testing";
import { createProgramTools } from "@toolcrib/tools-program";
import { beforeEach, describe, expect, test } from "vitest";
import { connect, createScenario, type Scenario } from "../testing/scenario.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder("acp");
});

const program = (code: string): ScriptedReply => ({ calls: [{ id: "p", name: "run_program", args: { code } }] });
const loop = `for (const n of [1, 2, 3]) await tools.write_note({ path: n + ".txt", content: "x" });
  return "written"`;

function scenarioOf(code: string): Scenario {
  const scenario = createScenario(folder, [program(code), "Done.", "More."]);
  const { toolRegistry } = scenario.session.agent;
  toolRegistry.register(...createProgramTools(toolRegistry, { tools: ["read_note", "write_note"] }));
  return scenario;
}

async function open({ session }: Pick<Scenario, "session">, ask?: Parameters<typeof connect>[1]) {
  const client = await connect({ createSession: () => session, openSession: () => session }, ask);
  const { sessionId } = await client.agent.request("session/new", { cwd: folder, mcpServers: [] });
  const say = (text: string) =>
    client.agent.request("session/prompt", { sessionId, prompt: [{ type: "text" as const, text }] });
  /** The states of a call, in the order in which the client saw them. */
  const states = (id: string) =>
    client.updates.flatMap(({ update }) =>
      "toolCallId" in update && update.toolCallId === id && update.status ? [update.status] : [],
    );
  return { ...client, say, states };
}

const parentIs = (parentToolCallId: string) => ({ toolcrib: { parentToolCallId } });

describe("a program", () => {
  test("stands with its calls, each with the program as its parent, while it runs", async () => {
    writeFileSync(join(folder, "a.txt"), "one");
    const client = await open(
      scenarioOf(`const [a] = await Promise.all([tools.read_note({ path: "a.txt" }), tools.read_note({ path: "no" }).catch(() => 1)]);
        return a`),
    );
    await client.say("go");
    const [outer, ...inner] = client.of("tool_call");
    expect([outer?.toolCallId, outer?._meta]).toEqual(["p", undefined]);
    expect(inner).toMatchObject([
      { toolCallId: "p:1", title: "read_note a.txt", kind: "read", _meta: parentIs("p") },
      { toolCallId: "p:2", title: "read_note no", kind: "read", _meta: parentIs("p") },
    ]);
    expect([client.states("p:1").at(-1), client.states("p:2").at(-1)]).toEqual(["completed", "failed"]);
    for (const id of ["p:1", "p:2"]) expect(client.states(id)).toContain("in_progress");
    const order = client.updates.flatMap(({ update }) => ("toolCallId" in update ? [update.toolCallId] : []));
    expect(order.lastIndexOf("p:2")).toBeLessThan(order.lastIndexOf("p"));
  });

  test("asks about its calls by the client's permission request, and goes on with the answers", async () => {
    const answers = ["once", "reject", "once"];
    const client = await open(scenarioOf(loop.replace(`"x" })`, `"x" }).catch(() => 1)`)), async () => answers.shift());
    expect(await client.say("go")).toEqual({ stopReason: "end_turn" });
    expect(client.questions.map(({ toolCall }) => [toolCall.toolCallId, toolCall._meta])).toEqual(
      [1, 2, 3].map((n) => [`p:${n}`, parentIs("p")]),
    );
    expect(readdirSync(folder)).toEqual(["1.txt", "3.txt"]);
    expect([1, 2, 3].map((n) => client.states(`p:${n}`).at(-1))).toEqual(["completed", "failed", "completed"]);
    expect(client.of("tool_call").map(({ toolCallId }) => toolCallId)).toEqual(["p", "p:1", "p:2", "p:3"]);
  });

  test("offers a yes for more such calls of it where the question does", async () => {
    const client = await open(scenarioOf(loop), async () => "several");
    expect(await client.say("go")).toEqual({ stopReason: "end_turn" });
    expect(client.questions).toHaveLength(1);
    expect(client.questions[0]?.options.find(({ optionId }) => optionId === "several")).toEqual({
      optionId: "several",
      name: `Allow up to 50 such calls of this program, below ${folder}`,
      kind: "allow_always",
    });
    expect(readdirSync(folder)).toHaveLength(3);
  });

  test("of several calls at once takes that yes for all of them", async () => {
    const all = `await Promise.all([1, 2, 3].map((n) => tools.write_note({ path: n + ".txt", content: "x" })))`;
    const client = await open(scenarioOf(all), async () => "several");
    await client.say("go");
    expect([client.questions.length, readdirSync(folder)]).toEqual([1, ["1.txt", "2.txt", "3.txt"]]);
  });

  test("that waits is told when its session is opened again, with the calls that wait, and goes on", async () => {
    const journal = join(folder, "one.jsonl");
    const first = scenarioOf(loop);
    const before = new Agent(first.provider, { tools: first.session.agent.toolRegistry, journal });
    await before.chat("go").catch(() => undefined);
    const agent = await Agent.resume(first.provider, journal, { tools: first.session.agent.toolRegistry });
    const client = await open({ session: { ...first.session, agent } }, async () => "several");
    await client.agent.request("session/load", { sessionId: "one", cwd: folder, mcpServers: [] });
    expect(client.of("tool_call")).toMatchObject([
      { toolCallId: "p", status: "pending" },
      { toolCallId: "p:1", status: "pending", title: "write_note 1.txt", _meta: parentIs("p") },
    ]);
    await client.say("and now?");
    expect([client.states("p").at(-1), client.states("p:3").at(-1)]).toEqual(["completed", "completed"]);
    expect(agent.pending).toEqual([]);
  });
});
