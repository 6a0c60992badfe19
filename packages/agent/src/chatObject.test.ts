import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { Agent } from "./agent.ts";
import { chatObject } from "./chatObject.ts";
import { assertConversation, ScriptedProvider, type ScriptedReply } from "./testing.ts";

const schema = {
  type: "object",
  properties: { city: { type: "string" }, people: { type: "integer" } },
  required: ["city", "people"],
  additionalProperties: false,
} as const;

const answer = (args: Record<string, unknown>): ScriptedReply => ({ calls: [{ name: "final_answer", args }] });

async function ask(replies: ScriptedReply[]) {
  const provider = new ScriptedProvider(replies);
  const agent = new Agent(provider);
  const value = await chatObject(agent, "Oslo?", schema).finally(() => assertConversation(agent.sessionContext));
  return { value, provider, agent };
}

test("the answer is the object of the model, checked by the schema; a wrong one is returned to the model", async () => {
  const { value, provider, agent } = await ask([
    answer({ city: "Oslo", people: "many" }),
    answer({ city: "Oslo", people: "700000" }),
  ]);
  expect(value).toEqual({ city: "Oslo", people: 700_000 });
  expect(value.city.toUpperCase()).toBe("OSLO");
  expect(JSON.stringify(provider.requests[1]?.messages)).toContain("Invalid arguments: people");
  expect(agent.toolRegistry.getToolNames()).toEqual(["save_session_context"]);
});

test("an answer in prose gets one reminder that forces the tool", async () => {
  const { value, provider } = await ask(["It is Oslo.", answer({ city: "Oslo", people: 1 })]);
  expect(value.people).toBe(1);
  expect(provider.requests.map((request) => request.toolChoice)).toEqual([undefined, { name: "final_answer" }]);
  await expect(ask(["prose", "and more"])).rejects.toMatchObject({ code: "bad_reply" });
});

test("a Standard Schema can be passed as it is: the answer has its output type", async () => {
  const zod = z.object({ city: z.string(), founded: z.string().transform((year) => Number(year)) });
  const agent = new Agent(new ScriptedProvider([answer({ city: "Oslo", founded: "1048" })]));
  const value = await chatObject(agent, "Oslo?", zod);
  expectTypeOf(value).toEqualTypeOf<{ city: string; founded: number }>();
  expect(value).toEqual({ city: "Oslo", founded: 1048 });
});
