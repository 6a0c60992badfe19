import { type ChatMessage, LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Agent } from "../agent.ts";
import { isAgentError } from "../errors.ts";
import type { AgentEvent } from "../messages.ts";
import type { Provider } from "../provider.ts";
import { testProvider } from "../testing.ts";
import { AnthropicProvider } from "./anthropic/anthropic.ts";
import { OpenAICompatibleProvider } from "./chat/openaiCompatible.ts";
import { OpenRouterProvider } from "./chat/openrouter.ts";
import { OpenAIProvider } from "./openai/openai.ts";

// An independent implementation of the wire formats: what it takes and sends was written by others.
const mock = new LLMock({ port: 0, logLevel: "silent", strict: true });

const usage = { prompt_tokens: 40, completion_tokens: 4, input_tokens: 40, output_tokens: 4 };
const reasoning = "They want a listing.";

/** Returns whether a tool has answered since the user last spoke. */
function answered(messages: readonly ChatMessage[]): boolean {
  return messages.at(-1)?.role === "tool";
}

beforeAll(async () => {
  mock.on({ userMessage: /^help$/ }, { content: "I can list directories for you." });
  mock.on(
    { userMessage: /^list/, predicate: ({ messages }) => answered(messages) },
    { content: "One file, one folder." },
  );
  mock.on(
    { userMessage: /^list/ },
    {
      content: "Looking. ",
      toolCalls: [{ name: "list_dir", arguments: '{"path":"日本/🦀"}' }],
      reasoning,
      reasoningSignature: "c2ln",
    },
  );
  mock.on({ userMessage: /^both/, predicate: ({ messages }) => answered(messages) }, { content: "Both done.", usage });
  mock.on(
    { userMessage: /^both/ },
    { toolCalls: ["a", "b"].map((path) => ({ name: "list_dir", arguments: JSON.stringify({ path }) })) },
  );
  mock.on(
    { userMessage: /^wrong model/ },
    { error: { message: "The model x does not exist", type: "not_found_error" }, status: 404 },
  );
  await mock.start();
});
afterAll(() => mock.stop());
beforeEach(() => mock.clearRequests());

const apiKey = "sk-aimock-000000";

const providers: Record<string, (options: { stream: boolean }, baseURL?: string) => Provider> = {
  OpenAIProvider: ({ stream }, baseURL = mock.url) => new OpenAIProvider({ apiKey, baseURL: `${baseURL}/v1`, stream }),
  AnthropicProvider: ({ stream }, baseURL = mock.url) => new AnthropicProvider({ apiKey, baseURL, stream }),
  OpenRouterProvider: ({ stream }, baseURL = mock.url) =>
    new OpenRouterProvider({ apiKey, baseURL: `${baseURL}/api/v1`, stream }),
  OpenAICompatibleProvider: ({ stream }, baseURL = mock.url) =>
    new OpenAICompatibleProvider({ baseURL: `${baseURL}/v1`, model: "llama", stream }),
};

describe.each(Object.entries(providers))("%s over its SDK at an independent mock", (_name, create) => {
  testProvider(test, { create, createFailing: () => create({ stream: true }, "http://127.0.0.1:9") });

  test.each([true, false])("answers two calls of one reply and reports the usage (stream: %s)", async (stream) => {
    const agent = new Agent(create({ stream }), { tools: await listTools() });
    const events: AgentEvent[] = [];
    for await (const event of agent.streamChat("both of them")) events.push(event);
    expect(events.filter((event) => event.type === "tool-result").map((event) => event.output)).toEqual([
      "in a",
      "in b",
    ]);
    expect(events.at(-1)).toEqual({ type: "end", reason: "stop", text: "Both done." });
    const used = events.findLast((event) => event.type === "usage");
    expect(used?.usage).toMatchObject({ inputTokens: 40, outputTokens: 4 });
    expect(mock.getRequests()).toHaveLength(2);
  });

  test.each([true, false])("names the model that does not exist (stream: %s)", async (stream) => {
    const provider = create({ stream });
    const error: unknown = await new Agent(provider, { attempts: 1 })
      .chat("wrong model")
      .catch((thrown: unknown) => thrown);
    expect(isAgentError(error) && error.code).toBe("not_found");
    expect((error as Error).message).toContain(provider.model);
  });

  test.each([
    ["500 errors", { dropRate: 1 }],
    ["broken JSON", { malformedRate: 1 }],
    ["dropped connections", { disconnectRate: 1 }],
    ["rate limits", { rateLimitRate: 1 }],
  ])("reports %s as an error that may be tried again, and then works", async (_kind, chaos) => {
    const agent = new Agent(create({ stream: true }), { attempts: 1 });
    mock.setChaos(chaos);
    const error: unknown = await agent.chat("help").catch((thrown: unknown) => thrown);
    mock.clearChaos();
    expect(isAgentError(error) && error.retryable).toBe(true);
    expect(await agent.chat("help")).toBe("I can list directories for you.");
  });
});

async function listTools() {
  const { defineTool, ToolRegistry } = await import("@toolcrib/core");
  const registry = new ToolRegistry();
  registry.register(
    defineTool({
      name: "list_dir",
      description: "List a directory.",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      readOnly: true,
      execute: ({ path }) => `in ${String(path)}`,
    }),
  );
  return registry;
}
