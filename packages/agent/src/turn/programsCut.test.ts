import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { createProgramTools } from "@toolcrib/tools-program";
import { beforeEach, describe, expect, test } from "vitest";
import { agentOf, anyTool, outputs, resumedFrom } from "../../testing/turns.ts";
import { assertConversation, type ScriptedReply } from "../testing.ts";

let ran: string[];
let journal: string;
beforeEach(() => {
  ran = [];
  journal = join(temporaryFolder("cut"), "one.jsonl");
});

function toolsOf(): ToolRegistry {
  const write = anyTool("write", ({ path }) => {
    ran.push(String(path));
    return `wrote ${String(path)}`;
  });
  const look = anyTool(
    "look",
    () => {
      ran.push("look");
      return "seen";
    },
    { readOnly: true },
  );
  const registry = new ToolRegistry([write, look]);
  registry.register(...createProgramTools(registry, { tools: ["write", "look"] }));
  return registry;
}

const code = `const told = [];
  for (const path of ["a", "b"]) told.push(await tools.look(), await tools.write({ path }).catch((error) => error.message));
  return told.join()`;
const calls = [
  { id: "c", name: "run_program", args: { code } },
  { id: "d", name: "write", args: { path: "after" } },
];
const replies: ScriptedReply[] = [{ calls }, "done"];

/** Runs the turn, then leaves the journal as a crash would have right after the line that `ends` names. */
async function cutAfter(ends: string): Promise<void> {
  await agentOf(replies, { tools: toolsOf(), journal }).agent.chat("go");
  const lines = readFileSync(journal, "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes(ends));
  expect(at).toBeGreaterThan(0);
  writeFileSync(journal, `${lines.slice(0, at + 1).join("\n")}\n`);
  ran.splice(0);
}

const resumed = async (more: ScriptedReply[] = ["done"]) =>
  (await resumedFrom(journal, more, { tools: toolsOf() })).agent;

describe("a program whose process has ended", () => {
  test("is listed as answered, and goes on by its record, and the calls behind it", async () => {
    await cutAfter('"type":"end","number":2');
    const agent = await resumed();
    const text = "Its process ended while it ran; 2 calls made. Go on?";
    expect(agent.pending).toEqual([
      { callId: "c", name: "run_program", args: { code }, question: { text }, answer: true },
    ]);
    assertConversation(agent.sessionContext);
    expect(await agent.approve({})).toBe("done");
    expect(outputs(agent)).toEqual(["seen,wrote a,seen,wrote b", "wrote after"]);
    expect(ran).toEqual(["look", "b", "after"]);
  });

  test("in a call that may run twice runs it again; in any other it may have run", async () => {
    await cutAfter('"type":"call","number":3');
    const again = await resumed();
    await again.approve({});
    expect(ran).toEqual(["look", "b", "after"]);
    writeFileSync(journal, "");
    journal += "2";
    await cutAfter('"type":"call","number":4');
    const agent = await resumed();
    await agent.approve({});
    expect(outputs(agent)[0]).toBe("seen,wrote a,seen,Error executing write: Interrupted; may have run");
    expect(ran).toEqual(["after"]);
  });

  test("before it had begun runs from its beginning", async () => {
    await cutAfter('"lines":[]');
    const agent = await resumed();
    expect(agent.pending).toMatchObject([{ callId: "c", answer: true }]);
    await agent.approve({});
    expect(ran).toEqual(["look", "a", "look", "b", "after"]);
  });

  test("several times goes on each time from what there is", async () => {
    await cutAfter('"type":"end","number":1');
    for (const ends of ['"type":"end","number":2', '"type":"end","number":3']) {
      await (await resumed()).approve({});
      const lines = readFileSync(journal, "utf8").split("\n");
      writeFileSync(journal, `${lines.slice(0, lines.findIndex((line) => line.includes(ends)) + 1).join("\n")}\n`);
    }
    ran.splice(0);
    const agent = await resumed();
    await agent.approve({});
    expect(outputs(agent)[0]).toBe("seen,wrote a,seen,wrote b");
    expect(ran).toEqual(["b", "after"]);
  });

  test.each<[string, (agent: Awaited<ReturnType<typeof resumed>>) => Promise<unknown>, RegExp]>([
    [
      "a message",
      (agent) => agent.chat("leave it"),
      /Interrupted; may have run; 2 calls were made, and stay made:\n1. look .*: ok\n2. write .*: ok$/,
    ],
    [
      "a no",
      (agent) => agent.approve({ c: false }),
      /not approved; 2 calls were made, and stay made:\n1. look .*: ok\n2. write .*: ok$/,
    ],
  ])("ends by %s, and the journal can still be read", async (_, act, output) => {
    await cutAfter('"type":"end","number":2');
    const agent = await resumed();
    expect(await act(agent)).toBe("done");
    expect(outputs(agent)[0]).toMatch(output);
    expect(ran).not.toContain("b");
    const later = await resumed([]);
    expect(later.sessionContext).toEqual(agent.sessionContext);
    expect(later.pending).toEqual([]);
  });
});
