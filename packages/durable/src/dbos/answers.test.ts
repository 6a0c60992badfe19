import { createAskUserTool, type Provider } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { hasPostgres } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { shareServer } from "../../fixtures/runs.ts";

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

/** A model that calls once, and then says what the call has given. */
function calls(name: string, args: Record<string, unknown>): Provider {
  const first = new ScriptedProvider([{ calls: [{ id: "c", name, args }] }]);
  return {
    ...{ name: "once", model: "once" },
    async *send(request) {
      const last = request.messages.at(-1);
      if (last?.role !== "tool") return yield* first.send(request);
      const text = `${last.isError} ${last.output}`;
      yield { type: "reply", message: { role: "assistant", content: [{ type: "text", text }] }, stop: "stop" };
    },
  };
}

const untilWaiting = { code: "ended", reason: "approval" };

describe.skipIf(!hasPostgres)("the answer of a durable run", () => {
  test("may give other arguments; those that do not fit leave it waiting, and say why", async () => {
    const runs = await work({ provider: calls("pay", { to: "me" }), tools: tools() });
    const id = await runs.start("helper", "Pay.");
    await expect(runs.result(id)).rejects.toMatchObject(untilWaiting);
    await runs.approve(id, { c: { args: { whom: "you" } } });
    await expect(runs.result(id)).rejects.toMatchObject(untilWaiting);
    const { status, pending } = (await runs.get(id)) ?? {};
    expect(status).toBe("waiting");
    expect(pending).toMatchObject([{ args: { to: "me" }, question: { text: "Pay?" } }]);
    expect(pending?.[0]?.question.refused).toContain("whom");
    await runs.approve(id, { c: { args: { to: "you" } } });
    expect(await runs.result(id)).toBe('false [the user changed the arguments to {"to":"you"}]\n\npaid 1 you');
    expect(ran).toEqual(["you"]);
  });

  test("may be the result, and is the answer to ask_user; a yes to that is refused", async () => {
    const runs = await work({
      provider: calls("ask_user", { question: "Which?", choices: ["a", "b"] }),
      tools: tools(),
    });
    const id = await runs.start("helper", "Ask.");
    await expect(runs.result(id)).rejects.toMatchObject(untilWaiting);
    const question = { text: "Which?", data: { choices: ["a", "b"] }, needs: "output" };
    expect((await runs.get(id))?.pending).toMatchObject([{ question }]);
    await expect(runs.approve(id, { c: true })).rejects.toMatchObject({ code: "invalid_option" });
    await expect(runs.approve(id, { c: { output: 5 } as never })).rejects.toMatchObject({ code: "invalid_option" });
    await runs.approve(id, { c: { output: "b" } });
    expect(await runs.result(id)).toBe("false b");
  });
});
