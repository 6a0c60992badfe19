import { createAskUserTool } from "@toolcrib/agent";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { hasPostgres } from "@toolcrib/testing/postgres";
import { describe, expect, test } from "vitest";
import { callOnce, shareServer } from "../../fixtures/runs.ts";

const { work } = shareServer();

const ran: string[] = [];
const pay = defineTool({
  name: "pay",
  description: "Pays.",
  parameters: {
    type: "object",
    properties: { to: { type: "string" } },
    required: ["to"],
    additionalProperties: false,
  },
  execute: ({ to }) => `paid ${ran.push(to)} ${to}`,
});

const tools = (): ToolRegistry =>
  new ToolRegistry([pay, createAskUserTool()]).guard(({ name }) => (name === "pay" ? { ask: "Pay?" } : true));
const untilWaiting = { code: "ended", reason: "approval" };

describe.skipIf(!hasPostgres)("the answer of a durable run", () => {
  test("may give other arguments; those that do not fit leave it waiting, and say why", async () => {
    const runs = await work({ provider: callOnce("pay", { to: "me" }), tools: tools() });
    const id = await runs.start("helper", "Pay.");
    await expect(runs.result(id)).rejects.toMatchObject(untilWaiting);
    await runs.approve(id, { c: { args: { whom: "you" } } });
    await expect(runs.result(id)).rejects.toMatchObject(untilWaiting);
    const { status, pending } = (await runs.get(id)) ?? {};
    expect(status).toBe("waiting");
    expect(pending).toMatchObject([{ args: { to: "me" }, question: { text: "Pay?" } }]);
    expect(pending?.[0]?.question.refused).toContain("whom");
    await runs.approve(id, { c: { args: { to: "you" } } });
    expect(await runs.result(id)).toBe('[the user changed the arguments to {"to":"you"}]\n\npaid 1 you');
    expect(ran).toEqual(["you"]);
  });

  test("may be the result, and is the answer to ask_user; a yes to that is refused", async () => {
    const provider = callOnce("ask_user", { question: "Which?", choices: ["a", "b"] });
    const runs = await work({ provider, tools: tools() });
    const id = await runs.start("helper", "Ask.");
    await expect(runs.result(id)).rejects.toMatchObject(untilWaiting);
    const question = { text: "Which?", data: { choices: ["a", "b"] }, needs: "output" };
    expect((await runs.get(id))?.pending).toMatchObject([{ question }]);
    await expect(runs.approve(id, { c: true })).rejects.toMatchObject({ code: "invalid_option" });
    await runs.approve(id, { c: { output: "b" } });
    expect(await runs.result(id)).toBe("b");
  });
});
