import { describe, expect, test } from "vitest";
import { sharedMock } from "../../testing/mock.ts";
import { outputs, read, registryOf } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import type { Provider } from "../provider.ts";
import { testProvider } from "../testing.ts";
import { AnthropicProvider } from "./anthropic/anthropic.ts";
import { OpenAICompatibleProvider } from "./chat/openaiCompatible.ts";
import { OpenRouterProvider } from "./chat/openrouter.ts";
import { OpenAIProvider } from "./openai/openai.ts";

const mock = sharedMock();

const apiKey = "sk-aimock-000000";

const providers: Record<string, (options: { stream: boolean }, baseURL?: string) => Provider> = {
  OpenAIProvider: ({ stream }, baseURL = mock.url) => new OpenAIProvider({ apiKey, baseURL: `${baseURL}/v1`, stream }),
  AnthropicProvider: ({ stream }, baseURL = mock.url) => new AnthropicProvider({ apiKey, baseURL, stream }),
  OpenRouterProvider: ({ stream }, baseURL = mock.url) =>
    new OpenRouterProvider({ apiKey, baseURL: `${baseURL}/api/v1`, stream }),
  OpenAICompatibleProvider: ({ stream }, baseURL = mock.url) =>
    new OpenAICompatibleProvider({ baseURL: `${baseURL}/v1`, model: "llama", stream }),
};

const tools = registryOf({ list_dir: ({ path }) => `in ${path}` }, ["list_dir"]);

describe.each(Object.entries(providers))("%s over its SDK at an independent mock", (_name, create) => {
  testProvider(test, { create, createFailing: () => create({ stream: true }, "http://127.0.0.1:9") });

  test.each([true, false])("answers two calls of one reply and reports the usage (stream: %s)", async (stream) => {
    const agent = new Agent(create({ stream }), { tools });
    const events = await read(agent.streamChat("both of them"));
    expect(outputs(agent)).toEqual(["in a", "in b"]);
    expect(events.at(-1)).toEqual({ type: "end", reason: "stop", text: "Both done." });
    const used = events.findLast((event) => event.type === "usage");
    expect(used?.usage).toMatchObject({ inputTokens: 40, outputTokens: 4 });
    expect(mock.getRequests()).toHaveLength(2);
  });
});
