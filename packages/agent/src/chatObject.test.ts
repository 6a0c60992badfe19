import { ToolRegistry } from "@toolcrib/core";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { registryOf } from "../testing/turns.ts";
import { Agent } from "./agent.ts";
import { chatObject, createObjectAnswer } from "./chatObject.ts";
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
  const given = ["many", "700000"].map((people) => answer({ city: "Oslo", people }));
  const { value, provider, agent } = await ask(given);
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

test.each([
  [schema, '{"city":"Oslo","people":1}', { city: "Oslo", people: 1 }],
  [{ type: "array", items: { type: "string" } }, '```json\n["Oslo"]\n```', ["Oslo"]],
] as const)("a fitting value that the model writes instead of the call counts: %j", async (fits, text, value) => {
  const provider = new ScriptedProvider([text]);
  expect(await chatObject(new Agent(provider), "Oslo?", fits)).toEqual(value);
});

test("a Standard Schema can be passed as it is: the answer has its output type", async () => {
  const zod = z.object({ city: z.string(), founded: z.string().transform((year) => Number(year)) });
  const agent = new Agent(new ScriptedProvider([answer({ city: "Oslo", founded: "1048" })]));
  const value = await chatObject(agent, "Oslo?", zod);
  expectTypeOf(value).toEqualTypeOf<{ city: string; founded: number }>();
  expect(value).toEqual({ city: "Oslo", founded: 1048 });
});

test("a value that is no object comes as one: references of its schema still lead to their place", async () => {
  const tree = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://example.com/tree",
    type: "array",
    items: {
      type: "object",
      properties: { name: { $ref: "#/$defs/name" }, $ref: { type: "string" }, default: { $ref: "#" } },
      required: ["name"],
    },
    default: [{ $ref: "#/$defs/name" }],
    $defs: { name: { type: "string", minLength: 1 } },
  };
  const provider = new ScriptedProvider([
    answer({ value: [{ name: "" }] }),
    answer({ value: [{ name: "a", default: [{ name: 1, default: "no list" }] }] }),
    answer({ value: [{ name: "a", default: [{ name: "b" }] }] }),
  ]);
  const value = await chatObject(new Agent(provider), "Draw a tree", tree);
  expect(value).toEqual([{ name: "a", default: [{ name: "b" }] }]);
  const refused = JSON.stringify(provider.requests[2]?.messages);
  expect(refused).toContain("Invalid arguments: value");
  const parameters = provider.requests[0]?.tools.at(-1)?.function.parameters as Record<string, unknown>;
  expect(parameters).toMatchObject({
    $schema: tree.$schema,
    properties: { value: { default: [{ $ref: "#/$defs/name" }] } },
  });
  expect(JSON.stringify(parameters)).not.toContain("example.com");
  const counting = new Agent(new ScriptedProvider([answer({ value: 3 })]));
  expect(await chatObject(counting, "How many?", { type: "integer" })).toBe(3);
});

test("a guard learns that giving the answer does nothing, so no policy need ask about it", async () => {
  const seen: unknown[] = [];
  const tools = new ToolRegistry();
  tools.guard(({ name, effects, tool }) => {
    seen.push({ name, effects, readOnly: tool.readOnly });
    return true;
  });
  const agent = new Agent(new ScriptedProvider([answer({ city: "Oslo", people: 1 })]), { tools });
  await chatObject(agent, "Oslo?", schema);
  expect(seen).toEqual([{ name: "final_answer", effects: [], readOnly: true }]);
});

test("a turn that is streamed gives the value too, also after its tools were approved", async () => {
  const tools = new ToolRegistry();
  tools.guard(({ name }) => (name === "final_answer" ? { ask: "May it answer?" } : true));
  const agent = new Agent(new ScriptedProvider([answer({ city: "Oslo", people: 1 })]), { tools });
  const given = createObjectAnswer(tools, schema);
  const types: string[] = [];
  for await (const event of agent.streamChat("Oslo?", given.options)) types.push(event.type);
  expect(given.given).toBeUndefined();
  const [call] = agent.pending;
  for await (const event of agent.streamApprove({ [call?.callId ?? ""]: true }, given.options)) types.push(event.type);
  expect(given.given).toEqual({ value: { city: "Oslo", people: 1 } });
  expect(types.at(-1)).toBe("end");
});

describe("with a service that keeps answers to a schema", () => {
  const abilities = { forcedTools: false, answersBy: () => true };
  const formatted = (replies: ScriptedReply[]) => Object.assign(new ScriptedProvider(replies), { abilities });

  test("the model answers by itself, with the tools that it had before", async () => {
    const provider = formatted([{ calls: [{ name: "look" }] }, '{"city":"Oslo","people":1}']);
    const agent = new Agent(provider, { tools: registryOf({ look: () => "seen" }) });
    expect(await chatObject(agent, "Oslo?", schema)).toEqual({ city: "Oslo", people: 1 });
    for (const { answerSchema, tools, toolChoice } of provider.requests) {
      expect(answerSchema).toEqual(schema);
      expect(tools.map((tool) => tool.function.name)).toEqual(["look"]);
      expect(toolChoice).toBeUndefined();
    }
    await agent.chat("And now in prose.").catch(() => {});
    expect(provider.requests[2]?.answerSchema).toBeUndefined();
  });

  test("an answer that does not fit gets one reminder that says why", async () => {
    const provider = formatted(["It is Oslo.", '{"city":"Oslo","people":1}']);
    expect(await chatObject(new Agent(provider), "Oslo?", schema)).toEqual({ city: "Oslo", people: 1 });
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("does not fit its schema. It is not JSON.");
    const wrong = formatted(['{"city":"Oslo"}', '{"city":"Oslo","people":"many"}']);
    await expect(chatObject(new Agent(wrong), "Oslo?", schema)).rejects.toMatchObject({ code: "bad_reply" });
    expect(JSON.stringify(wrong.requests[1]?.messages.at(-1))).toContain("people");
  });

  test.each([
    ["a code block", '```json\n{"city":"Oslo","people":1}\n```'],
    ["a block without a language, beside words", 'Here:\n\n```\n{"city":"Oslo",\n"people":1}\n```\n'],
    ["a byte order mark before it", '\uFEFF{"city":"Oslo","people":1}'],
  ])("a fitting answer in %s is taken", async (_, text) => {
    expect(await chatObject(new Agent(formatted([text])), "Oslo?", schema)).toEqual({ city: "Oslo", people: 1 });
  });

  test("of two code blocks none is taken", async () => {
    const block = '```json\n{"city":"Oslo","people":1}\n```\n';
    await expect(chatObject(new Agent(formatted([block + block, "No."])), "Oslo?", schema)).rejects.toThrow();
  });

  test("a value that is no object, or of a Standard Schema, comes as one", async () => {
    const number = formatted(['{"value":3}']);
    expect(await chatObject(new Agent(number), "How many?", { type: "integer" })).toBe(3);
    expect(number.requests[0]?.answerSchema).toMatchObject({ properties: { value: { type: "integer" } } });
    const zod = z.object({ founded: z.string().transform((year) => Number(year)) });
    expect(await chatObject(new Agent(formatted(['{"founded":"1048"}'])), "When?", zod)).toEqual({ founded: 1048 });
  });
});

test("where no tool can be forced, the message asks for the call", async () => {
  const provider = Object.assign(new ScriptedProvider(["No."]), {
    abilities: { forcedTools: false, answersBy: () => false },
  });
  await expect(chatObject(new Agent(provider), "Oslo?", schema)).rejects.toThrow();
  expect(provider.requests[1]?.messages.at(-1)?.content).toEqual([
    { type: "text", text: "Give your answer by calling final_answer." },
    { type: "text", text: "Answer this by calling the tool final_answer." },
  ]);
});
