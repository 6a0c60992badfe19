import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { interrupt } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { answerWith, WireServer } from "@toolcrib/testing";
import { createAgent, tool } from "langchain";
import { expect, test } from "vitest";
import { createScenario, pixel } from "../testing/scenario.ts";
import { registryMiddleware, toLangChainTools } from "./langchain.ts";
import { brokenText, imagesBehindResults } from "./langchainMessages.ts";

type Made = ConstructorParameters<typeof AIMessage>[0];
const invalid = (name: string, args: string, id = "1") => ({ type: "invalid_tool_call" as const, name, args, id });
const valid = (name: string, args: unknown, id = "2") => ({ name, args: args as Record<string, unknown>, id });

/** Runs an agent whose model makes one reply, then says `end`; returns the results with their names, and what the model read last. */
async function run(made: Made, { registry } = createScenario(), ...others: ToolRegistry[]) {
  const read: BaseMessage[][] = [];
  const end = (messages: BaseMessage[]): AIMessage => {
    read.push(messages);
    return new AIMessage("end");
  };
  const model = fakeModel().respond(new AIMessage(made)).respond(end);
  const middleware = [registry, ...others].map((each) => registryMiddleware(each));
  const own = tool(() => "own", { name: "own", description: "Of the agent.", schema: { type: "object" } });
  const { messages } = await createAgent({ model, middleware, tools: [own] }).invoke({ messages: "go" });
  expect(messages.at(-1)?.text).toBe("end");
  const told = messages.flatMap((each) =>
    ToolMessage.isInstance(each) ? [`${each.name} ${each.status}: ${each.text}`] : [],
  );
  return { told, read: read[0] ?? [] };
}

/** A real model that streams these calls in its first reply, then `end`. */
async function streamed(...calls: readonly { name: string; args: string }[]) {
  const wire = await WireServer.start({ isLenient: true });
  wire.script(answerWith({ calls }), answerWith({ text: "end" }));
  const configuration = { baseURL: `${wire.url}/v1` };
  const settings = { model: "gpt-6-luna", apiKey: "none", maxRetries: 0, streaming: true, useResponsesApi: true };
  const model = new ChatOpenAI({ ...settings, configuration });
  const dispose = async (): Promise<void> => {
    wire.takeProblems();
    await wire.close();
  };
  return { model, [Symbol.asyncDispose]: dispose };
}

const bad = /^add error: Error executing add: Invalid arguments: expected an object of arguments, got [^\n]+$/;

test.each([
  ["cut JSON", { invalid_tool_calls: [invalid("add", '{"a":')] }, [bad]],
  ["a list", { tool_calls: [valid("add", [1])] }, [bad]],
  ["a text", { tool_calls: [valid("add", "x")] }, [bad]],
  [
    "empty text",
    { invalid_tool_calls: [invalid("fail", "")] },
    [/^fail error: Error executing fail: the disk is full$/],
  ],
  ["blanks", { invalid_tool_calls: [invalid("spare", " \n")] }, [/^spare error: Tool not available: spare$/]],
  [
    "cut JSON beside a good call",
    { invalid_tool_calls: [invalid("add", "{")], tool_calls: [valid("add", { a: 1, b: "2" })] },
    [/^add success: 3$/, bad],
  ],
])("arguments that are none get the registry's own words: %s", async (_name, made, expected) => {
  const { told } = await run({ content: "", ...made });
  expect(told).toEqual(expected.map((each) => expect.stringMatching(each)));
});

test.each([
  ["the middleware", {}],
  ["the middleware, with questions", { interrupt }],
  ["tools", undefined],
])("cut JSON of a streamed reply, which LangChain fills up, is not run: %s", async (_name, options) => {
  const { registry } = createScenario();
  await using wire = await streamed({ name: "add", args: '{"a":1,"b":1' }, { name: "add", args: '{"a":1,"b":2}' });
  const { model } = wire;
  const agent = options
    ? createAgent({ model, middleware: [registryMiddleware(registry, options)] })
    : createAgent({ model, tools: toLangChainTools(registry) });
  const { messages } = await agent.invoke({ messages: "go" });
  const told = messages.flatMap((each) => (ToolMessage.isInstance(each) ? [each.text] : []));
  expect(told).toEqual([expect.stringContaining("text that is not valid JSON"), "3"]);
});

test.each([
  ["chat completions", { additional_kwargs: { tool_calls: [{ id: "1", function: { arguments: "TEXT" } }] } }],
  ["Responses", { response_metadata: { output: [{ id: "fc", call_id: "1", arguments: "TEXT" }] } }],
  ["Anthropic", { content: [{ type: "tool_use", id: "1", name: "add", input: "TEXT" }] }],
])("finds the text of a call that LangChain has filled up where it is kept: %s", (_name, kept) => {
  const replyOf = (text: string): AIMessage => {
    const fields = JSON.parse(JSON.stringify(kept).replace("TEXT", JSON.stringify(text).slice(1, -1)));
    return new AIMessage({ content: "", tool_calls: [valid("add", { a: 1 }, "1")], ...fields });
  };
  expect(brokenText(replyOf('{"a":1'), "1")).toBe('{"a":1');
  for (const text of ['{"a":1}', "", " "]) expect(brokenText(replyOf(text), "1")).toBeUndefined();
  expect(brokenText(replyOf("{"), "2")).toBeUndefined();
});

test("an unknown name gets the registry's words, which name no disabled tool", async () => {
  const { told, read } = await run({ content: "", tool_calls: [valid("ad", {}), valid("own", {}, "3")] });
  const text = "Tool not found: ad. Did you mean add?";
  expect(told).toEqual([`ad error: ${text}`, "own success: own"]);
  expect(read.find((each) => each.type === "tool")?.text).toBe(text);
});

test("two registries serve one agent, each its own calls", async () => {
  const parameters = { type: "object", properties: {} } as const;
  const late = defineTool({ name: "late", description: "Late.", parameters, execute: () => "late" });
  const second = new ToolRegistry([late]);
  const invalid_tool_calls = [invalid("late", ""), invalid("add", "{", "3"), invalid("late", "[", "4")];
  const made = { content: "", tool_calls: [valid("add", { a: 1, b: 1 })], invalid_tool_calls };
  const { told } = await run(made, createScenario(), second);
  const broken = /^late error: Error executing late: Invalid arguments: /;
  const expected = ["add success: 2", "late success: late", broken, bad];
  expect(told).toEqual(expected.map((each) => expect.stringMatching(each)));
});

test("images stand in a user message behind the results, where a model's tool messages are only text", async () => {
  const tool_calls = [valid("picture", {}), valid("add", { a: 1, b: 1 }, "3")];
  const { read } = await run({ content: "", tool_calls });
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } };
  const heading = { type: "text", text: "Images of the result of picture:" };
  expect(read.slice(-3).map(({ type, content }) => [type, content])).toEqual([
    ["tool", "a dot"],
    ["tool", "2"],
    ["human", [heading, image]],
  ]);
  const shown = new ToolMessage({
    content: [{ type: "text", text: "a dot" }, image],
    tool_call_id: "2",
    name: "picture",
  });
  const joined = imagesBehindResults([shown, new HumanMessage("And now?")]);
  expect(joined.map(({ content }) => content)).toEqual(["a dot", [heading, image, { type: "text", text: "And now?" }]]);
});
