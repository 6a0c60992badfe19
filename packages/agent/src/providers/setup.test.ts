import { expect, test } from "vitest";
import { Agent } from "../agent.ts";
import { AnthropicProvider } from "./anthropic/anthropic.ts";
import { OpenAICompatibleProvider } from "./chat/openaiCompatible.ts";
import { OpenAIProvider } from "./openai/openai.ts";

const [apiKey, model] = ["key-0123456789", "m"];

test.each([
  ["OpenAI", (baseURL: string) => new OpenAIProvider({ apiKey, model, baseURL })],
  ["Anthropic", (baseURL: string) => new AnthropicProvider({ apiKey, model, baseURL })],
  ["the model server", (baseURL: string) => new OpenAICompatibleProvider({ model, baseURL })],
])("a baseURL of %s that is not a URL is reported, and not tried again", async (label, create) => {
  await expect(new Agent(create("not a url")).chat("hi")).rejects.toMatchObject({
    code: "invalid_option",
    message: `The address of ${label} is no URL: not a url. Check baseURL.`,
  });
});

test("a compatible server without a model, or without options, is refused, naming what is missing", () => {
  for (const options of [undefined, {}]) {
    const create = (): unknown => new OpenAICompatibleProvider(options as unknown as { model: string });
    expect(create).toThrow(
      expect.objectContaining({ code: "invalid_option", message: expect.stringMatching(/needs the option model/) }),
    );
  }
});
