import { ToolRegistry } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { Agent } from "./agent.ts";
import { createAskUserTool } from "./askUser.ts";
import { ScriptedProvider } from "./testing.ts";

const args = { question: "Which color?", choices: ["red", "blue"] };
const calls = [{ id: "q", name: "ask_user", args }];

function agentOf(guard?: () => string) {
  const tools = new ToolRegistry([createAskUserTool()]);
  if (guard) tools.guard(guard);
  return new Agent(new ScriptedProvider([{ calls }, "done"]), { tools });
}

const resultOf = (agent: Agent): unknown => agent.sessionContext.find(({ role }) => role === "tool");

describe("ask_user", () => {
  test("waits with its choices, and its output is the answer of the user", async () => {
    const agent = agentOf();
    await expect(agent.chat("go")).rejects.toMatchObject({ reason: "approval" });
    const question = { text: "Which color?", data: { choices: ["red", "blue"] }, needs: "output" };
    expect(agent.pending).toMatchObject([{ callId: "q", question }]);
    await expect(agent.approve({ q: true })).rejects.toMatchObject({ code: "invalid_option" });
    expect(await agent.approve({ q: { output: "blue" } })).toBe("done");
    expect(resultOf(agent)).toMatchObject({ output: "blue", isError: false });
  });

  test("is denied by a bare string, by a message, and by a guard before anybody is asked", async () => {
    const agent = agentOf();
    expect(await agent.chat("go", { approve: () => "blue" })).toBe("done");
    expect(resultOf(agent)).toMatchObject({ output: expect.stringContaining("denied: blue"), isError: true });
    const denied = agentOf(() => "no questions");
    await denied.chat("go", { approve: () => ({ output: "blue" }) });
    expect(resultOf(denied)).toMatchObject({ output: expect.stringContaining("denied: no questions") });
    const left = agentOf();
    await left.chat("go").catch(() => undefined);
    await left.chat("never mind");
    expect(resultOf(left)).toMatchObject({ output: expect.stringContaining("a message instead of an answer") });
  });

  test("takes a question alone, and no empty one", async () => {
    const registry = new ToolRegistry([createAskUserTool()]);
    const approve = () => ({ output: "Ann" });
    expect(await registry.execute("ask_user", { question: "Who?" }, { approve })).toBe("Ann");
    const { ok } = await registry.invoke("ask_user", { question: "" }, { approve });
    expect(ok).toBe(false);
    expect(await registry.execute("ask_user", { question: "Who?" })).toBe(
      "Error executing ask_user: Approval required: Who?",
    );
  });

  test("fails where it is called without a registry, and has no options", async () => {
    await expect(createAskUserTool().execute(args)).rejects.toThrow("only a registry");
    expect(() => createAskUserTool({} as never)).toThrow("no options");
  });
});
