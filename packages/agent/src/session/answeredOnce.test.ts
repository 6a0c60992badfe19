import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { Agent } from "../agent.ts";
import { ScriptedProvider } from "../testing.ts";

let journal: string;
/** Counts how often the money was sent. */
let payments: number;
const tools = new ToolRegistry();
tools.register(
  defineTool({
    name: "pay",
    description: "Pay",
    parameters: { type: "object", properties: {} },
    execute: () => {
      payments += 1;
      return "paid";
    },
  }),
);
tools.guard(() => ({ ask: "Pay?" }));

const overtaken = {
  code: "bad_session",
  message: expect.stringContaining("another process has continued this conversation; resume it again"),
};

beforeEach(async () => {
  journal = join(temporaryFolder("answered-once"), "one.jsonl");
  payments = 0;
  const agent = new Agent(new ScriptedProvider([{ calls: [{ id: "a", name: "pay", args: {} }] }]), { tools, journal });
  await expect(agent.chat("go")).rejects.toMatchObject({ reason: "approval" });
});

const resumed = (options: object = {}): Promise<Agent> =>
  Agent.resume(new ScriptedProvider(["ok", "on"]), journal, { tools, ...options });

test.each([
  ["", {}],
  [" with onJournalError", { onJournalError: () => {} }],
])("of two agents that answer at the same moment%s, one runs the call", async (_, options) => {
  const agents = [await resumed(options), await resumed(options)];
  const ends = await Promise.allSettled(agents.map((agent) => agent.approve({ a: true })));
  expect(payments).toBe(1);
  expect(ends).toContainEqual({ status: "fulfilled", value: "ok" });
  expect(ends).toContainEqual({ status: "rejected", reason: expect.objectContaining(overtaken) });
  const winner = agents[ends.findIndex(({ status }) => status === "fulfilled")];
  expect((await resumed()).sessionContext).toEqual(winner?.sessionContext);
});

test("an agent that comes too late is refused, writes nothing, and is not stuck", async () => {
  const late = await resumed();
  const first = await resumed();
  expect(await first.approve({ a: true })).toBe("ok");
  const written = readFileSync(journal, "utf8");
  await expect(late.approve({ a: true })).rejects.toMatchObject(overtaken);
  expect(late.pending).toMatchObject([{ callId: "a" }]);
  // Neither another answer nor a message, which would deny the call, gets into the journal.
  await expect(late.approve({ a: false })).rejects.toMatchObject(overtaken);
  await expect(late.chat("no")).rejects.toMatchObject(overtaken);
  expect(readFileSync(journal, "utf8")).toBe(written);
  expect(payments).toBe(1);
  expect(await first.chat("on")).toBe("on");
  expect(await (await resumed()).chat("and on")).toBe("ok");
});

test("an answer that a crash left runs its call once", async () => {
  appendFileSync(journal, `${JSON.stringify({ type: "answers", answers: { a: true } })}\n`);
  const agents = [await resumed(), await resumed()];
  const ends = await Promise.allSettled(agents.map((agent) => agent.approve({})));
  expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(payments).toBe(1);
});

test("who resumes between an answer and its call may run it; then the one that answered does not", async () => {
  const slow = await resumed();
  const events = slow.streamApprove({ a: true });
  // The answer is on disk, the call has not started.
  expect((await events.next()).value).toMatchObject({ type: "tool-call" });
  const other = await resumed();
  expect(other.pending).toMatchObject([{ callId: "a", answer: true }]);
  expect(await other.approve({})).toBe("ok");
  await expect(events.next()).rejects.toMatchObject(overtaken);
  expect(payments).toBe(1);
});

test("a line that a crash has torn does not stand in the way", async () => {
  appendFileSync(journal, '{"type":"answers","ans');
  const agent = await resumed();
  expect(await agent.approve({ a: true })).toBe("ok");
  expect(payments).toBe(1);
});
