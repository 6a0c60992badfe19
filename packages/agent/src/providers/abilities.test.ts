import type { ChatTool } from "@toolcrib/core";
import { answerWith, sharedWireServer } from "@toolcrib/testing";
import { expect, test } from "vitest";
import type { ModelRequest, Provider } from "../provider.ts";
import { AnthropicProvider, type AnthropicProviderOptions } from "./anthropic/anthropic.ts";
import { OpenAICompatibleProvider } from "./chat/openaiCompatible.ts";
import { OpenRouterProvider } from "./chat/openrouter.ts";
import { OpenAIProvider } from "./openai/openai.ts";

const server = await sharedWireServer();
const apiKey = "sk-test-0123456789abcdef";

const listDir: ChatTool = {
  type: "function",
  function: { name: "list_dir", description: "Lists.", parameters: { type: "object", properties: {} } },
};

async function send(provider: Provider, more: Partial<ModelRequest>): Promise<void> {
  for await (const _ of provider.send({ ...request(), ...more }));
}

function request(): ModelRequest {
  const message = { role: "user", content: [{ type: "text", text: "Hello" }] } as const;
  return { systemPrompt: "Be brief.", messages: [message], tools: [], signal: new AbortController().signal };
}

test("answers by a schema are asked for in the form of each service, and only where it has one", async () => {
  const url = server.url;
  const schema = { type: "object", properties: { a: { type: "string", minLength: 1 } }, required: ["a"] };
  const made = {
    type: "object",
    properties: { a: { type: "string", description: 'Must fit {"minLength":1}.' } },
    required: ["a"],
    additionalProperties: false,
  };
  const json_schema = { name: "answer", strict: true, schema: made };
  const cases: [Provider, object | undefined][] = [
    [
      new AnthropicProvider({ apiKey, baseURL: url, fullApi: true, reasoning: "low" }),
      { output_config: { effort: "low", format: { type: "json_schema", schema: made } } },
    ],
    [
      new OpenAIProvider({ apiKey, baseURL: `${url}/v1`, fullApi: true }),
      { text: { format: { type: "json_schema", ...json_schema } } },
    ],
    [
      new OpenRouterProvider({ apiKey, baseURL: `${url}/v1`, model: "anthropic/claude-sonnet-5.5" }),
      { response_format: { type: "json_schema", json_schema } },
    ],
    [
      new OpenAICompatibleProvider({ baseURL: `${url}/v1`, model: "m", compat: { answerFormat: true } }),
      { response_format: { type: "json_schema", json_schema } },
    ],
    [new OpenAICompatibleProvider({ baseURL: `${url}/v1`, model: "m" }), undefined],
    [new AnthropicProvider({ apiKey, baseURL: url }), undefined],
    [new OpenRouterProvider({ apiKey, baseURL: `${url}/v1`, model: "meta/llama-5" }), undefined],
  ];
  for (const [provider, expected] of cases) {
    expect(provider.abilities?.answersBy(schema)).toBe(expected !== undefined);
    expect(provider.abilities?.answersBy({ type: "object", properties: { a: { type: "object" } } })).toBe(false);
    if (!expected) continue;
    server.reset();
    server.script(answerWith({ text: '{"a":"b"}' }));
    await send(provider, { answerSchema: schema });
    expect(server.requests[0]?.body).toMatchObject(expected);
  }
});

test("a tool is forced only where the model allows it, also behind OpenRouter", async () => {
  const url = server.url;
  const providers = [
    new AnthropicProvider({ apiKey, baseURL: url }),
    new OpenRouterProvider({ apiKey, baseURL: `${url}/v1`, model: "anthropic/claude-sonnet-5.5" }),
    new AnthropicProvider({ apiKey, baseURL: url, model: "claude-haiku-5-5" }),
    new OpenRouterProvider({ apiKey, baseURL: `${url}/v1`, model: "openai/gpt-6-luna" }),
  ];
  for (const provider of providers) {
    server.script(answerWith({ text: "Yes." }));
    await send(provider, { tools: [listDir], toolChoice: "required" });
  }
  expect(server.requests.map(({ body }) => body.tool_choice)).toEqual([
    { type: "auto" },
    "auto",
    { type: "any" },
    "required",
  ]);
  expect(providers.map(({ abilities }) => abilities.forcedTools)).toEqual([false, false, true, true]);
});

test("what the model shows between calls is marked as meant for the user, its reasoning is not", async () => {
  const notesOf = async (options: AnthropicProviderOptions): Promise<unknown[]> => {
    server.script(answerWith({ thinking: "Reading the notes.", calls: [{ name: "list_dir", args: "{}" }] }));
    const events = new AnthropicProvider({ apiKey, baseURL: server.url, fullApi: true, ...options }).send({
      ...request(),
      tools: [listDir],
    });
    const notes: unknown[] = [];
    for await (const event of events) if (event.type === "reasoning-delta") notes.push(event.isNote);
    return [...new Set(notes)];
  };
  expect(await notesOf({})).toEqual([true]);
  expect(await notesOf({ reasoning: "none" })).toEqual([true]);
  expect(await notesOf({ display: "summarized" })).toEqual([undefined]);
  expect(await notesOf({ model: "claude-haiku-5-5" })).toEqual([undefined]);
});
