import vm from "node:vm";
import { ToolRegistry } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { Agent } from "./agent.ts";
import { chatObject } from "./chatObject.ts";
import { isAgentError } from "./errors.ts";
import { AnthropicProvider } from "./providers/anthropic/anthropic.ts";
import { OpenAICompatibleProvider } from "./providers/chat/openaiCompatible.ts";
import { OpenRouterProvider } from "./providers/chat/openrouter.ts";
import { OpenAIProvider } from "./providers/openai/openai.ts";
import { createSaveSessionContextTool } from "./session/sessionContext.ts";
import { ScriptedProvider } from "./testing.ts";

const provider = new ScriptedProvider([]);
const tools = new ToolRegistry();
const apiKey = "sk-options-0123456789";
/** Options as JavaScript may give them. */
const loose = (options: unknown): never => options as never;

const refusal = (message: RegExp) =>
  expect.objectContaining({ code: "invalid_option", message: expect.stringMatching(message) });

test.each([
  [
    "an Agent",
    () => new Agent(provider, loose({ systemPromt: "Be brief." })),
    /"systemPromt"; did you mean "systemPrompt"\?/,
  ],
  ["an Agent", () => new Agent(provider, loose({ max_steps: 5 })), /did you mean "maxSteps"\?/],
  ["an Agent", () => new Agent(provider, loose({ root: "." })), /^Agent: unknown option "root"/],
  ["an Agent", () => new Agent(provider, loose(null)), /^Agent: options must be a plain object.*got null/],
  ["an Agent", () => new Agent(provider, loose(tools)), /got an instance of ToolRegistry/],
  [
    "compaction",
    () => new Agent(provider, { compaction: loose({ contextWindow: 9, startsAt: 1 }) }),
    /did you mean "startAt"/,
  ],
  ["OpenAI", () => new OpenAIProvider(loose({ apiKey, baseUrl: "http://proxy" })), /did you mean "baseURL"\?/],
  ["Anthropic", () => new AnthropicProvider(loose({ apikey: apiKey })), /did you mean "apiKey"\?/],
  ["OpenRouter", () => new OpenRouterProvider(loose({ apiKey, streaming: false })), /did you mean "stream"\?/],
  ["a server", () => new OpenAICompatibleProvider(loose({ modell: "m" })), /did you mean "model"\?/],
  [
    "compat",
    () => new OpenAICompatibleProvider({ model: "m", compat: loose({ body_: {} }) }),
    /"compat.body_"; did you mean "body"/,
  ],
])("a misspelt option of %s is refused with the nearest name", (_, create, message) => {
  expect(create).toThrow(refusal(message));
});

test.each([
  [{ journal: {} }, /^Agent: journal must be a non-empty string, received an object; leave it out/],
  [{ journal: "" }, /journal must be a non-empty string/],
  [{ sessionContextFilePath: 1 }, /sessionContextFilePath must be a non-empty string/],
  [{ systemPrompt: {} }, /systemPrompt must be a string/],
  [{ systemPrompt: null }, /systemPrompt must be a string, received null/],
  [{ sessionName: 5 }, /sessionName must be a non-empty string/],
  [{ onJournalError: "x" }, /onJournalError must be a function/],
  [{ compaction: { contextWindow: "many" } }, /compaction\.contextWindow must be a number above 0/],
])("an Agent refuses the impossible option %j", (options, message) => {
  expect(() => new Agent(provider, loose(options))).toThrow(refusal(message));
});

test.each([
  [{ baseURL: null }, /baseURL must be a string, received null/],
  [{ baseURL: "" }, /^baseURL is empty/],
  [{ baseURL: " " }, /^baseURL is empty/],
  [{ stream: "no" }, /stream must be true or false/],
  [{ client: 1 }, /client must be an object/],
  [{ client: null }, /client must be an object/],
  [{ apiKey: null }, /apiKey must be a string/],
  [{ model: 1 }, /model must be a string/],
  [{ maxTokens: -1 }, /maxTokens must be a number above 0/],
  [{ requestTimeoutMs: Number.NaN }, /requestTimeoutMs must be a number above 0/],
  [{ headers: new Headers({ authorization: "x" }) }, /headers must be a plain object/],
  [{ extraBody: "x" }, /extraBody must be an object/],
  [{ price: 3 }, /price must be a plain object/],
  [{ price: { input: 1 } }, /price.output must be dollars per million tokens, 0 or more, received undefined/],
  [{ price: { input: "1", output: 1 } }, /price.input must be dollars/],
  [{ price: { input: -1, output: 1 } }, /price.input must be dollars/],
  [{ price: { input: 1, output: Number.NaN } }, /price.output must be dollars/],
  [{ price: { input: 1, output: 1, cacheRead: Number.POSITIVE_INFINITY } }, /price.cacheRead must be dollars/],
  [{ price: { input: 1, output: 1, cached: 1 } }, /cached/],
])("every provider refuses the impossible option %j", (options, message) => {
  for (const Kind of [OpenAIProvider, AnthropicProvider, OpenRouterProvider, OpenAICompatibleProvider])
    expect(() => new Kind(loose({ apiKey, model: "m", ...options }))).toThrow(refusal(message));
});

test.each(["ftp://x", "localhost:11434/v1", "file:///etc"])(
  "the address %s is refused before a request",
  async (baseURL) => {
    for (const Kind of [OpenAIProvider, AnthropicProvider, OpenRouterProvider, OpenAICompatibleProvider])
      await expect(new Agent(new Kind({ apiKey, model: "m", baseURL })).chat("Hello")).rejects.toEqual(
        refusal(/must begin with http:\/\/ or https:\/\/\. Check baseURL\./),
      );
  },
);

test("an address that is no URL is named with its service, and not tried again", async () => {
  for (const [label, Kind] of [
    ["OpenAI", OpenAIProvider],
    ["Anthropic", AnthropicProvider],
    ["the model server", OpenAICompatibleProvider],
  ] as const)
    await expect(new Agent(new Kind({ apiKey, model: "m", baseURL: "not a url" })).chat("hi")).rejects.toMatchObject({
      code: "invalid_option",
      message: `The address of ${label} is no URL: not a url. Check baseURL.`,
    });
});

test.each([[null], [[]], [5], [new Map()]])("options of Agent.resume that are %j are refused", async (options) => {
  const session = { format: "x" };
  await expect(Agent.resume(provider, loose(session), loose(options))).rejects.toEqual(
    refusal(/must be a plain object/),
  );
});

test("a value in an unknown option is not quoted", () => {
  expect(() => new OpenAIProvider(loose({ apiKye: apiKey }))).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining(apiKey) }),
  );
});

test.each([
  ["undefined", undefined],
  ["null", null],
  ["a list", []],
  ["a function that makes none", () => undefined],
])("tools given as %s are refused, not replaced by the default", async (_, given) => {
  expect(() => new Agent(provider, { tools: loose(given) })).toThrow(refusal(/tools.* must be a ToolRegistry/));
  if (typeof given === "function") return;
  const agent = new Agent(new ScriptedProvider(["never"]), { tools });
  await expect(agent.chat("hi", { tools: loose(given) })).rejects.toEqual(refusal(/tools/));
  const schema = { type: "object", properties: {} } as const;
  await expect(chatObject(agent, "hi", schema, { tools: loose(given) })).rejects.toEqual(refusal(/tools/));
});

test("misspelt options of a turn are refused, and so is a signal that is not an AbortSignal", async () => {
  const agent = new Agent(new ScriptedProvider(["fine"]), { tools });
  await expect(agent.chat("hi", loose({ singal: 1 }))).rejects.toEqual(refusal(/did you mean "signal"/));
  await expect(agent.chat("hi", { signal: loose(new AbortController()) })).rejects.toEqual(
    refusal(/pass the signal of/),
  );
  expect(await agent.chat("hi")).toBe("fine");
});

test.each([
  [{ startAt: 0 }, /compaction.startAt must be a share above 0 and up to 1, received 0/],
  [{ startAt: 1.5 }, /compaction.startAt must be a share/],
  [{ startAt: "0.5" }, /compaction.startAt must be a share above 0 and up to 1, received "0.5"/],
])("a compaction with %j is refused", (given, message) => {
  const compaction = { contextWindow: 1000, ...given };
  expect(() => new Agent(provider, loose({ compaction }))).toThrow(refusal(message));
});

test.each([
  [{ toolChoice: "any" }, /toolChoice must be "auto", "none", "required" or/],
  [{ toolChoice: null }, /toolChoice must be/],
  [{ toolChoice: {} }, /toolChoice must be/],
  [{ stopWhen: true }, /stopWhen must be a function/],
  [{ approve: "yes" }, /approve must be a function/],
  [{ labels: "mail" }, /labels must be an object/],
])("a turn with %j is refused", async (options, message) => {
  const agent = new Agent(new ScriptedProvider(["never"]), { tools });
  await expect(agent.chat("hi", loose(options))).rejects.toEqual(refusal(message));
});

describe("objects of another realm", () => {
  const foreign = vm.createContext({ setTimeout, AbortController });

  test("an error of a provider keeps its message", async () => {
    const failing: Error = vm.runInContext('new TypeError("from elsewhere")', foreign);
    expect(failing).not.toBeInstanceOf(Error);
    await expect(new Agent(new ScriptedProvider([failing])).chat("hi")).rejects.toMatchObject({
      code: "bad_reply",
      message: "The provider scripted failed: from elsewhere",
    });
  });

  test("an AgentError is recognised by its marker, not by its shape", () => {
    const mark = Symbol.for("toolcrib.AgentError");
    const copy: unknown = vm.runInContext(
      "(mark) => Object.defineProperty(new Error('x'), mark, { value: true })",
      foreign,
    )(mark);
    expect(isAgentError(copy)).toBe(true);
    expect([new Error("x"), { code: "busy" }, null, undefined, "x"].some(isAgentError)).toBe(false);
  });

  test("options and a schema of another realm are accepted", async () => {
    const options = vm.runInContext("({ maxSteps: 3 })", foreign);
    expect(new Agent(provider, options)).toBeInstanceOf(Agent);
    expect(new OpenAIProvider(vm.runInContext("({ apiKey: 'sk-options-0123456789' })", foreign)).name).toBe("openai");
  });
});

test("save_session_context has no options, so any is refused", () => {
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "x.json" };
  expect(() => createSaveSessionContextTool(context, ...([{ root: "/tmp" }] as never[]))).toThrow(/no options/);
});
