import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, test } from "vitest";
import { sharedMock } from "../../../testing/mock.ts";
import { registryOf } from "../../../testing/turns.ts";
import { Agent } from "../../agent.ts";
import { isAgentError } from "../../errors.ts";
import type { AgentEvent, AssistantMessage, Message } from "../../messages.ts";
import type { ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { testProvider } from "../../testing.ts";
import { fromAiSdkModel } from "./aiSdk.ts";
import type { AiSdkPart } from "./reply.ts";

type AiSdkModel = Parameters<typeof fromAiSdkModel>[0];
type AiSdkModelOptions = NonNullable<Parameters<typeof fromAiSdkModel>[1]>;

const mock = sharedMock();
const apiKey = "sk-aimock-000000";
const vendors: Record<string, (baseURL?: string) => AiSdkModel> = {
  "@ai-sdk/openai": (baseURL = mock.url) => createOpenAI({ apiKey, baseURL: `${baseURL}/v1` })("gpt-6-luna"),
  "@ai-sdk/anthropic": (baseURL = mock.url) =>
    createAnthropic({ apiKey, baseURL: `${baseURL}/v1` })("claude-haiku-4-5"),
};

describe.each(Object.entries(vendors))("a model of %s at an independent mock", (_, model) => {
  testProvider(test, {
    create: ({ stream }) => fromAiSdkModel(model(), { stream }),
    createFailing: () => fromAiSdkModel(model("http://127.0.0.1:9")),
  });

  test("a refusal of the service is an error in words, without the key", async () => {
    const agent = new Agent(fromAiSdkModel(model(), { secrets: [apiKey] }), { attempts: 1 });
    const error = await agent.chat("wrong model").catch((thrown: unknown) => thrown);
    expect(isAgentError(error) && error.code).toBe("not_found");
    expect(String(error)).toContain("(404): The model x does not exist.");
    expect(JSON.stringify(error)).not.toContain(apiKey);
  });
});

/** A model that answers with these parts, and keeps what it was called with. */
function scripted(
  parts: readonly object[],
  version = "v4",
): AiSdkModel & { readonly calls: Record<string, unknown>[] } {
  const calls: Record<string, unknown>[] = [];
  return {
    calls,
    specificationVersion: version,
    provider: "vendor.chat",
    modelId: "m-1",
    doGenerate: () => Promise.reject(new Error("not asked for")),
    doStream: async (options: Record<string, unknown>) => {
      calls.push(options);
      return { stream: ReadableStream.from(parts) };
    },
  } as never;
}
const finish = (unified = "stop", raw?: string): AiSdkPart => ({
  type: "finish",
  finishReason: { unified, raw },
  usage: {
    inputTokens: { total: 100, noCache: 60, cacheRead: 30, cacheWrite: 10 },
    outputTokens: { total: 20, text: 15, reasoning: 5 },
  },
});
const text = (delta: string, id = "1"): object[] => [
  { type: "text-start", id },
  { type: "text-delta", id, delta },
  { type: "text-end", id },
];
const requestOf = (messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  systemPrompt: "Be brief.",
  messages,
  tools: [],
  signal: new AbortController().signal,
  ...more,
});
async function replyOf(provider: Provider, request: ModelRequest) {
  const events: ProviderEvent[] = [];
  for await (const event of provider.send(request)) events.push(event);
  const reply = events.at(-1);
  if (reply?.type !== "reply") throw new Error("no reply");
  return { ...reply, events };
}
const hello: Message = { role: "user", content: [{ type: "text", text: "Hi" }] };

test("a reply goes back as it came: reasoning, signatures and what else its service wrote", async () => {
  const call = { type: "tool-call", toolCallId: "c1", toolName: "list_dir" };
  const first = scripted([
    { type: "stream-start", warnings: [] },
    { type: "reasoning-start", id: "r", providerMetadata: { vendor: { itemId: "r1" } } },
    { type: "reasoning-delta", id: "r", delta: "I think" },
    { type: "reasoning-delta", id: "r", delta: "", providerMetadata: { vendor: { signature: "c2ln" } } },
    { type: "reasoning-end", id: "r" },
    { type: "custom", kind: "vendor.note", providerMetadata: { vendor: { note: 1 } } },
    ...text("Looking."),
    { type: "tool-input-start", id: "c1", toolName: "list_dir" },
    { ...call, input: '{"path":"."}', providerMetadata: { vendor: { itemId: "c" } } },
    finish("tool-calls"),
  ]);
  const { message, usage, stop } = await replyOf(fromAiSdkModel(first), requestOf([hello]));
  expect(stop).toBe("tool-calls");
  const counts = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 30, cacheWriteTokens: 10, reasoningTokens: 5 };
  expect(usage).toEqual(counts);
  const again = scripted([...text("Done."), finish()]);
  const result: Message = { role: "tool", callId: "c1", name: "list_dir", output: "a.txt", isError: false };
  await replyOf(fromAiSdkModel(again), requestOf([hello, message, result]));
  expect(again.calls[0]?.prompt).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "Hi" }] },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "I think", providerOptions: { vendor: { signature: "c2ln" } } },
        { type: "custom", kind: "vendor.note", text: "", providerOptions: { vendor: { note: 1 } } },
        { type: "text", text: "Looking." },
        { ...call, input: { path: "." }, providerOptions: { vendor: { itemId: "c" } } },
      ],
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "c1", toolName: "list_dir", output: { type: "text", value: "a.txt" } },
      ],
    },
  ]);
  const other: AssistantMessage = { ...message, model: "ai-sdk/other/m" };
  const foreign = scripted([...text("Done."), finish()]);
  await replyOf(fromAiSdkModel(foreign), requestOf([hello, other, result]));
  expect(JSON.stringify(foreign.calls[0]?.prompt)).not.toMatch(/signature|note|I think/);
});

test("pictures, errors, choices and settings are as each version has them", async () => {
  const picture = { type: "image" as const, data: "AA==", mimeType: "image/png" };
  const call: Message = { role: "assistant", content: [{ type: "tool-call", id: "c1", name: "look", args: {} }] };
  const messages: Message[] = [
    { role: "user", content: [picture] },
    call,
    { role: "tool", callId: "c1", name: "look", output: "seen", isError: false, content: [picture] },
    { ...call, content: [{ type: "tool-call", id: "c2", name: "look", args: {} }] },
    { role: "tool", callId: "c2", name: "look", output: "no", isError: true },
  ];
  const sent = async (version: string, options: AiSdkModelOptions = {}): Promise<Record<string, unknown>> => {
    const model = scripted([...text("ok"), finish()], version);
    await replyOf(
      fromAiSdkModel(model, options),
      requestOf(messages, {
        tools: registryOf({ look: () => "seen" }).getEnabledSchemas(),
        toolChoice: { name: "look" },
      }),
    );
    return model.calls[0] ?? {};
  };
  const openai = { store: true, user: "u" };
  const v4 = await sent("v4", { maxTokens: 50, reasoning: "low", providerOptions: { openai } });
  const v4Picture = { type: "file", data: { type: "data", data: "AA==" }, mediaType: "image/png" };
  expect(v4).toMatchObject({
    maxOutputTokens: 50,
    reasoning: "low",
    toolChoice: { type: "tool", toolName: "look" },
    tools: [{ type: "function", name: "look", description: "look", inputSchema: { type: "object" } }],
    providerOptions: { openai, azure: { store: false } },
  });
  expect(v4.prompt).toMatchObject([
    { role: "system" },
    { content: [v4Picture] },
    {},
    { content: [{ output: { type: "content", value: [{ type: "text", text: "seen" }, v4Picture] } }] },
    {},
    { content: [{ output: { type: "error-text", value: "no" } }] },
  ]);
  const v3 = await sent("v3");
  const v3Picture = { data: "AA==", mediaType: "image/png" };
  expect(v3.prompt).toMatchObject([
    {},
    { content: [{ ...v3Picture, type: "file" }] },
    {},
    { content: [{ output: { value: [{ type: "text" }, { ...v3Picture, type: "image-data" }] } }] },
    {},
    {},
  ]);
});

describe("how a reply ends", () => {
  test.each([
    ["length", undefined, "token-limit"],
    ["content-filter", "safety", "content-filter"],
    ["content-filter", "refusal", "refusal"],
    ["other", "pause_turn", "pause"],
    ["other", "model_context_window_exceeded", "context-limit"],
    ["other", "eos", "stop"],
    ["other", "SAFETY", "content-filter"],
    ["stop", "a vendor's own word", "stop"],
  ])("%s (%s) is %s", async (unified, raw, stop) => {
    const model = scripted([...text("x"), finish(unified, raw)]);
    expect((await replyOf(fromAiSdkModel(model), requestOf([hello]))).stop).toBe(stop);
  });

  test.each([
    ["no finish", text("x")],
    ["an interruption", [...text("x"), finish("interrupted")]],
    ["an error", [...text("x"), finish("error")]],
    ["a fault", [...text("x"), finish("stop", "network_error")]],
    ["another word", [...text("x"), finish("other", "later")]],
    ["an end that promises calls and brings none", [...text("x"), finish("tool-calls")]],
    ["an error part", [...text("x"), { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }]],
    [
      "a call that the service ran itself",
      [{ type: "tool-call", toolCallId: "c", toolName: "web", input: "{}", providerExecuted: true }, finish()],
    ],
  ])("%s is a failure that may be tried again", async (_, parts) => {
    const error = await replyOf(fromAiSdkModel(scripted(parts)), requestOf([hello])).catch((thrown: unknown) => thrown);
    expect(isAgentError(error) && error.retryable).toBe(true);
  });

  test("texts that a call separates are two paragraphs, and a text tells its phase", async () => {
    const phase = { providerMetadata: { openai: { phase: "commentary" } } };
    const call = { type: "tool-call", toolCallId: "c", toolName: "look", input: "{}" };
    const said = [{ type: "text-start", id: "1", ...phase }, ...text("One.").slice(1)];
    const parts = [...said, call, ...text("Two.", "2"), finish("tool-calls")];
    const { events, message } = await replyOf(fromAiSdkModel(scripted(parts)), requestOf([hello]));
    expect(events.filter(({ type }) => type === "text-delta")).toEqual([
      { type: "text-delta", text: "One.", phase: "commentary" },
      { type: "text-delta", text: "\n\nTwo." },
    ]);
    expect(message.content[0]).toMatchObject({ text: "One.", phase: "commentary" });
  });

  test("a call that the limit cut off does not run", async () => {
    const call = { type: "tool-call", toolCallId: "c", toolName: "look", input: '{"a": 1' };
    const { message } = await replyOf(fromAiSdkModel(scripted([call, finish("length")])), requestOf([hello]));
    expect(message.content).toMatchObject([{ type: "tool-call", args: {}, malformed: "cut off" }]);
  });

  test("leaving a reply half-way ends the request", async () => {
    const model = scripted([...text("x"), ...text("y", "2"), finish()]);
    for await (const event of fromAiSdkModel(model).send(requestOf([hello]))) if (event.type === "text-delta") break;
    expect(model.calls).toMatchObject([{ abortSignal: { aborted: true } }]);
  });
});

test("secrets reach no event and no error, also when the service repeats them", async () => {
  const secret = "sk-very-secret-123456";
  const model = scripted([...text(`your key is ${secret}`), { type: "error", error: new Error(`bad key ${secret}`) }]);
  const agent = new Agent(fromAiSdkModel(model, { secrets: [secret] }), { attempts: 1 });
  const events: AgentEvent[] = [];
  const error = await (async () => {
    for await (const event of agent.streamChat("Hi")) events.push(event);
  })().catch((thrown: unknown) => thrown);
  expect(JSON.stringify(events)).toContain("your key is");
  expect(`${JSON.stringify(events)} ${String(error)} ${JSON.stringify(error)}`).not.toContain(secret);
});

test.each([
  ["a name", "gpt-6", "a name is not enough"],
  ["a model of AI SDK 5", scripted([], "v2"), 'specification version "v2"; use a vendor package of AI SDK 6 or 7'],
  ["nothing", undefined, "needs a language model"],
])("%s is refused in words", (_, model, words) => {
  expect(() => fromAiSdkModel(model as never)).toThrow(words);
});

describe("a reply that is too large ends", () => {
  function* without(end: object): Generator<object> {
    for (;;) yield end;
  }
  test.each<[string, Iterable<object>]>([
    ["in parts that are not read", without({ type: "raw", text: "x".repeat(2 ** 20) })],
    ["in one part", [{ type: "text-delta", id: "1", delta: "x".repeat(9 * 2 ** 20) }, finish()]],
    ["in a call", [{ type: "tool-call", toolCallId: "1", toolName: "a", input: "x".repeat(9 * 2 ** 20) }, finish()]],
  ])("%s", async (_, parts) => {
    const model = { ...scripted([]), doStream: async () => ({ stream: ReadableStream.from(parts) }) };
    const agent = new Agent(fromAiSdkModel(model as never), { attempts: 1 });
    await expect(agent.chat("help")).rejects.toMatchObject({
      code: "bad_reply",
      message: expect.stringContaining("sent too much"),
    });
  });
});

test("wrong options are refused in words", () => {
  expect(() => fromAiSdkModel(scripted([]), { maxToken: 5 } as never)).toThrow(/did you mean "maxTokens"/);
  expect(() => fromAiSdkModel(scripted([], "v3"), { reasoning: "low" })).toThrow("set it in providerOptions");
});

test("its name tells the vendor", () => {
  expect(fromAiSdkModel(scripted([]))).toMatchObject({ name: "ai-sdk", model: "vendor/m-1" });
});
