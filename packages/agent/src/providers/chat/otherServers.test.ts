import { answerWith, jsonOf, sharedWireServer, sse, streamOf, type WireRequest } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { failureOf, registryOf } from "../../../testing/turns.ts";
import { Agent } from "../../agent.ts";
import { OpenAICompatibleProvider } from "./openaiCompatible.ts";

const server = await sharedWireServer();
const providerOf = (options = {}) =>
  new OpenAICompatibleProvider({ model: "m", baseURL: `${server.url}/v1//`, ...options });
const tools = registryOf({ look: () => "blue", other: () => "red" });
const refused = (message: unknown, status = 400) => jsonOf({ error: { message } }, { status });
const sent = (): WireRequest["body"][] => server.requests.map(({ body }) => body);

describe("a field that a server refuses by name is left out, and in later requests at once", () => {
  test.each([
    ["stream_options", {}, {}, refused("Unknown field: stream_options")],
    [
      "stream_options",
      {},
      {},
      jsonOf({ detail: [{ loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" }] }, { status: 422 }),
    ],
    [
      "max_tokens",
      { maxTokens: 100 },
      { max_completion_tokens: 100 },
      refused("Unsupported parameter: 'max_tokens' is not supported with this model."),
    ],
    [
      "max_completion_tokens",
      { maxTokens: 100, compat: { maxTokensField: "max_completion_tokens" } },
      { max_tokens: 100 },
      refused("max_completion_tokens: Extra inputs are not permitted"),
    ],
  ])("%s %j", async (field, options, instead, refusal) => {
    server.script(refusal, answerWith({ text: "Yes." }), answerWith({ text: "Again." }));
    const agent = new Agent(providerOf(options), { tools, attempts: 1 });
    expect([await agent.chat("Go."), await agent.chat("And now?")]).toEqual(["Yes.", "Again."]);
    expect(sent().map((body) => field in body)).toEqual([true, false, false]);
    expect(sent()[2]).toMatchObject(instead);
  });

  test("a tool is named by offering it alone where tool_choice may only be a word", async () => {
    const call = answerWith({ calls: [{ name: "look", args: "{}" }] });
    const refusal = jsonOf(
      { error: "Invalid tool_choice type: 'object'. Supported: none, auto, required" },
      { status: 400 },
    );
    server.script(refusal, call, answerWith({ text: "Blue." }), call, answerWith({ text: "Blue." }));
    const agent = new Agent(providerOf(), { tools, attempts: 1 });
    for (const _ of [1, 2]) expect(await agent.chat("Look.", { toolChoice: { name: "look" } })).toBe("Blue.");
    const choices = sent().map(({ tool_choice, tools: offered }) => [tool_choice, (offered as object[]).length]);
    expect(choices).toEqual([
      [{ type: "function", function: { name: "look" } }, 2],
      ["required", 1],
      [undefined, 2],
      ["required", 1],
      [undefined, 2],
    ]);
  });

  test("two requests at once learn it both", async () => {
    const refusal = refused("max_tokens is not supported");
    server.script(refusal, refusal, answerWith({ text: "Yes." }), answerWith({ text: "Yes." }));
    const provider = providerOf({ maxTokens: 5 });
    const agents = [1, 2].map(() => new Agent(provider, { attempts: 1 }));
    expect(await Promise.all(agents.map((agent) => agent.chat("Go.")))).toEqual(["Yes.", "Yes."]);
  });

  test("no field is tried twice, and another refusal stays what it is", async () => {
    const no = "max_tokens is not supported, nor is max_completion_tokens";
    server.script(refused(no), refused(no));
    const agent = new Agent(providerOf({ maxTokens: 5 }), { attempts: 1 });
    expect(await failureOf(agent.chat("Go."))).toMatchObject({ code: "invalid_request" });
    server.script(refused("max_tokens: 99999 > 64000"));
    expect(await failureOf(new Agent(providerOf({ maxTokens: 5 }), { attempts: 1 }).chat("Go."))).toMatchObject({
      code: "invalid_request",
    });
    expect(sent()).toHaveLength(3);
  });
});

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: "c",
  choices: [{ index: 0, delta, finish_reason, ...more }],
});
const used = (prompt_tokens: number, completion_tokens: number, more = {}) => ({
  usage: { prompt_tokens, completion_tokens, ...more },
});
const said = chunk({ role: "assistant", content: "Hi." });

test.each([
  [
    "in every chunk, zeros before",
    [
      { ...said, ...used(0, 0) },
      { ...chunk({}, "stop"), ...used(12, 7) },
    ],
    {},
  ],
  [
    "growing",
    [
      { ...said, ...used(12, 1) },
      { ...chunk({}, "stop"), ...used(12, 7) },
    ],
    {},
  ],
  ["behind the finish", [said, chunk({}, "stop"), { ...chunk({}), ...used(12, 7) }], {}],
  [
    "with zeros at the end",
    [{ ...said, ...used(12, 7) }, chunk({}, "stop"), { id: "c", choices: [], ...used(0, 0) }],
    {},
  ],
  ["in the choice", [said, chunk({}, "stop", used(12, 7))], {}],
  [
    "with DeepSeek's cache",
    [said, { ...chunk({}, "stop"), ...used(12, 7, { prompt_cache_hit_tokens: 5 }) }],
    { read: 5 },
  ],
  ["with Kimi's cache", [said, { ...chunk({}, "stop"), ...used(12, 7, { cached_tokens: 5 }) }], { read: 5 }],
  [
    "with LiteLLM's cache",
    [said, { ...chunk({}, "stop"), ...used(12, 7, { cache_read_input_tokens: 2, cache_creation_input_tokens: 3 }) }],
    { read: 2, written: 3 },
  ],
])("usage %s counts once", async (_, chunks, { read = 0, written = 0 }: { read?: number; written?: number }) => {
  server.script(streamOf(sse(chunks.map((data) => ({ data })))));
  const agent = new Agent(providerOf());
  await agent.chat("Go.");
  const counts = { inputTokens: 12, outputTokens: 7, cacheReadTokens: read, cacheWriteTokens: written };
  expect(agent.usage).toMatchObject(counts);
});

test.each([
  ["vLLM", { object: "error", message: "engine dead", type: "InternalServerError", code: 500 }, "engine dead"],
  ["a text", { error: "STREAM_EXPLODED" }, "STREAM_EXPLODED"],
  ["beside no choices", { id: "c", choices: [], error: { code: 502, message: "limit reached" } }, "limit reached"],
])("an error within a stream in the form of %s is told, with its text", async (_, data, message) => {
  server.script(streamOf(sse([{ data: said }, { data }, { data: chunk({}, "stop") }])));
  expect((await failureOf(new Agent(providerOf(), { attempts: 1 }).chat("Go."))).message).toContain(message);
});
