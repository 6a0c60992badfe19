import { Agent } from "@toolcrib/agent";
import { ScriptedProvider, type ScriptedReply } from "@toolcrib/agent/testing";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { connect, createScenario } from "../testing/scenario.ts";

const write = { calls: [{ id: "c", name: "write_note", args: { path: "a.txt", content: "new\n" } }] };
const hold = { calls: [{ id: "c", name: "hold", args: {} }] };

/** Runs one turn, and returns the states of its call as a client saw them. */
async function statesOf(reply: ScriptedReply, answer: string | undefined, refuse?: "guard" | "middleware") {
  const folder = temporaryFolder("acp");
  const scenario = createScenario(folder, [reply, "Done."]);
  const { toolRegistry } = scenario.session.agent;
  if (refuse === "guard") toolRegistry.guard(() => "not here");
  if (refuse === "middleware")
    toolRegistry.use((call, next) => next({ ...call, beforeRun: () => Promise.reject(new Error("not now")) }));
  const client = await connect({ createSession: () => scenario.session }, async () => answer);
  const { sessionId } = await client.agent.request("session/new", { cwd: folder, mcpServers: [] });
  const turn = client.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
  if (answer === "cancel") {
    await scenario.held;
    await client.agent.notify("session/cancel", { sessionId });
  }
  await turn;
  return [...client.of("tool_call"), ...client.of("tool_call_update")].map(({ status }) => status);
}

test.each([
  ["a call that is allowed", write, "once", undefined, ["pending", "in_progress", "completed"]],
  ["one that is cancelled", hold, "cancel", undefined, ["pending", "in_progress", "failed"]],
  ["one that the user rejects", write, "reject", undefined, ["pending", "failed"]],
  ["one whose question the user leaves", write, undefined, undefined, ["pending", "failed"]],
  ["one that a guard denies", write, "once", "guard", ["pending", "failed"]],
  ["one that a middleware stops at its start", write, "once", "middleware", ["pending", "failed"]],
  ["wrong arguments", { calls: [{ ...write.calls[0], args: { path: 5 } }] }, "once", undefined, ["pending", "failed"]],
  ["arguments cut off", { calls: [{ ...write.calls[0], malformed: "cut" }] }, "once", undefined, ["pending", "failed"]],
  ["an unknown name", { calls: [{ id: "c", name: "nope" }] }, "once", undefined, ["pending", "failed"]],
] as const)("only a call that runs is in progress: %s", async (_, reply, answer, refuse, states) => {
  expect(await statesOf(reply as ScriptedReply, answer, refuse)).toEqual(states);
});

test("of sessions that share a registry each is told of its own calls", async () => {
  const folder = temporaryFolder("acp");
  const first = createScenario(folder, [hold]);
  const tools = first.session.agent.toolRegistry.guard(({ labels }) => labels?.sessionId === "one");
  const agent = new Agent(new ScriptedProvider([hold, "Done."]), { tools });
  const sessions = [first.session, { ...first.session, id: "two", agent }];
  const client = await connect({ createSession: () => sessions.shift() ?? first.session });
  for (let opened = 0; opened < 2; opened += 1)
    await client.agent.request("session/new", { cwd: folder, mcpServers: [] });
  const go = (sessionId: string) =>
    client.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
  const running = go("one");
  await first.held;
  await go("two");
  await client.agent.notify("session/cancel", { sessionId: "one" });
  await running;
  const states = (id: string) =>
    client.updates.flatMap(({ sessionId, update }) =>
      sessionId === id && update.sessionUpdate === "tool_call_update" ? [update.status] : [],
    );
  expect([states("one"), states("two")]).toEqual([["in_progress", "failed"], ["failed"]]);
});

test.each([
  [{}, "agent_message_chunk"],
  [{ session: { notices: {} } }, "notice"],
])("what does not work in a session is told when it is opened, to a client of %j", async (capabilities, kind) => {
  const folder = temporaryFolder("acp");
  const { session } = createScenario(folder, []);
  const problems = ["The server git did not start: \u001b[31mboom\nusage: *git*", "The server web did not start."];
  const open = () => ({ ...session, problems });
  const client = await connect({ createSession: open, openSession: open }, undefined, capabilities);
  await client.agent.request("session/new", { cwd: folder, mcpServers: [] });
  await client.agent.request("session/load", { sessionId: "one", cwd: folder, mcpServers: [] });
  const told = () => client.updates.filter(({ update }) => update.sessionUpdate === kind);
  await expect.poll(told).toHaveLength(4);
  const text = JSON.stringify(told());
  for (const words of ["The server git did not start: ", "usage: *git*", "The server web"])
    expect(text).toContain(words);
  expect(text).not.toContain("u001b");
});
