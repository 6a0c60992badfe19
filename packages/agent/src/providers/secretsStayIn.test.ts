import { answerWith, jsonOf, sharedWireServer } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent.ts";
import type { Provider } from "../provider.ts";
import { AnthropicProvider } from "./anthropic/anthropic.ts";
import { OpenAICompatibleProvider } from "./chat/openaiCompatible.ts";
import { OpenRouterProvider } from "./chat/openrouter.ts";
import { OpenAIProvider } from "./openai/openai.ts";
import type { ProviderOptions } from "./shared/options.ts";

const apiKey = "key-within-0123456789";
const password = "pass/wörd&1";
const headers = { "x-gateway-token": "gateway-token-77", "x-custom": "a9b8c7d6e5f4a3b2c1d0e9f8" };

const providers: [name: string, create: (options: ProviderOptions<never>) => Provider][] = [
  ["OpenAI", (options) => new OpenAIProvider(options)],
  ["Anthropic", (options) => new AnthropicProvider(options)],
  ["OpenRouter", (options) => new OpenRouterProvider(options)],
  ["compatible", (options) => new OpenAICompatibleProvider({ ...options, model: "m" })],
];

const server = await sharedWireServer();

/** All that can be read of a turn: its events, and its error with stack, fields and causes. */
async function readable(provider: Provider): Promise<string> {
  const agent = new Agent(provider, { attempts: 2, baseDelayMs: 1 });
  const texts: string[] = [];
  try {
    for await (const event of agent.streamChat("Hello")) texts.push(JSON.stringify(event));
  } catch (thrown) {
    for (let error = thrown; error instanceof Error; error = error.cause) {
      const fields = Object.getOwnPropertyNames(error).map((name) => String(Reflect.get(error as Error, name)));
      texts.push(String(error), error.stack ?? "", ...fields);
    }
  }
  return [...texts, JSON.stringify(agent.sessionContext)].join("\n");
}

const forms = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString("base64"),
  Buffer.from(`user:${secret}`).toString("base64"),
  Buffer.from(secret).toString("base64url"),
  JSON.stringify(secret).slice(1, -1),
];

describe.each(providers)("%s", (name, create) => {
  test.each([
    ["http://user:PASSWORD@127.0.0.1:1/v1"],
    ["http://user:PASSWORD@127.0.0.1:99999/v1"],
    ["htp://user:PASSWORD@127.0.0.1/v1"],
    ["user:PASSWORD@127.0.0.1/v1"],
    ["//user:PASSWORD@127.0.0.1/v1"],
    ["http://127.0.0.1:1/v1?api_key=PASSWORD"],
    ["http://127.0.0.1:1/v1#PASSWORD"],
  ])("keeps the password of the address %s out of its errors", async (address) => {
    for (const secret of ["hunter2", encodeURIComponent(password), password]) {
      const shown = await readable(create({ apiKey, baseURL: address.replace("PASSWORD", secret) }));
      expect(shown).toMatch(/AgentError/);
      for (const form of [secret, decodeURIComponent(secret)]) expect(shown).not.toContain(form);
    }
  });

  test("keeps secrets that a service echoes, in any form, out of errors, retries and replies", async () => {
    const secrets = [apiKey, ...Object.values(headers), ...(name === "Anthropic" ? [] : ["query-secret-1"])];
    const echo = secrets.flatMap(forms).join(" | ");
    // The SDK of Anthropic keeps no query of its base address.
    const baseURL = name === "Anthropic" ? server.url : `${server.url}/v1?code=query-secret-1`;
    for (const status of [400, 401, 413, 500]) {
      server.reset();
      const failure = jsonOf({ error: { message: `You sent ${echo}` } }, { status, headers: { "x-echo": apiKey } });
      server.script(failure, failure);
      const shown = await readable(create({ apiKey, headers, baseURL }));
      expect(shown).toContain("You sent [redacted]");
      for (const form of secrets.flatMap(forms)) expect(shown).not.toContain(form);
    }
    for (const stream of [true, false]) {
      server.reset();
      server.script(answerWith({ text: `You sent ${echo}.` }));
      const shown = await readable(create({ apiKey, headers, baseURL, stream }));
      expect(shown).toContain("[redacted]");
      for (const form of secrets.flatMap(forms)) expect(shown).not.toContain(form);
    }
  });
});

test.each(providers)(
  "%s refuses an address with a password, says what to use instead, and sends nothing",
  async (_, create) => {
    const baseURL = server.url.replace("//", "//user:hunter2@");
    await expect(new Agent(create({ apiKey, baseURL })).chat("Hello")).rejects.toMatchObject({
      code: "invalid_option",
      message: expect.stringMatching(/^baseURL must not contain a user name or password\. Pass them as headers/),
    });
    expect(server.requests).toEqual([]);
  },
);
