import { afterEach, describe, expect, test, vi } from "vitest";
import { AnthropicProvider } from "../anthropic/anthropic.ts";
import { OpenAICompatibleProvider } from "../chat/openaiCompatible.ts";
import { OpenRouterProvider } from "../chat/openrouter.ts";
import { OpenAIProvider } from "../openai/openai.ts";
import { ollamaBaseURL } from "./ollamaAddress.ts";

afterEach(() => void vi.unstubAllEnvs());

const thrownBy = (make: () => unknown): { code?: string; message?: string } => {
  try {
    make();
    return {};
  } catch (error) {
    return error as Error;
  }
};

describe("a key that no header can carry is refused before a request, and never shown", () => {
  const keys: [string, string][] = [
    ["sk-secret\nword-12345", "a line break in it, at character 10"],
    ["sk-secret\r\nword", "a line break"],
    ["\u201csk-secret\u201d", "U+201C in it, at character 1"],
    ["sk-se\u200bcret", "U+200B"],
    ["sk-secr\u00e9t", "U+00E9"],
  ];
  test.each(keys)("%j", (key, problem) => {
    vi.stubEnv("OPENAI_API_KEY", key);
    vi.stubEnv("ANTHROPIC_API_KEY", key);
    vi.stubEnv("OPENROUTER_API_KEY", key);
    const named = [
      [() => new OpenAIProvider(), "OPENAI_API_KEY"],
      [() => new AnthropicProvider(), "ANTHROPIC_API_KEY"],
      [() => new OpenRouterProvider(), "OPENROUTER_API_KEY"],
      [() => new OpenAICompatibleProvider({ model: "m", apiKey: key }), "apiKey"],
    ] as const;
    for (const [make, name] of named) {
      const { code, message } = thrownBy(make);
      expect(code).toBe("invalid_option");
      expect(message).toContain(problem);
      expect(message).toContain(name);
      expect(message).not.toMatch(/sk-|secr/);
    }
  });

  test("nor is such a header", () => {
    const headers = { "x-token": "secret\n1" };
    const { message } = thrownBy(() => new OpenAICompatibleProvider({ model: "m", headers }));
    expect(message).toMatch(/^The header "x-token" has a line break in it, at character 7/);
    expect(message).not.toContain("secret");
  });

  test("blanks around a key are left out", () => {
    expect(thrownBy(() => new OpenAICompatibleProvider({ model: "m", apiKey: " sk-secret\n" }))).toEqual({});
  });
});

test.each([
  [undefined, "http://127.0.0.1:11434/v1"],
  ["0.0.0.0", "http://127.0.0.1:11434/v1"],
  ["box:1234", "http://box:1234/v1"],
  ["https://llm.test/", "https://llm.test/v1"],
  ["localhost", "http://localhost:11434/v1"],
  ["[::]:11500", "http://[::1]:11500/v1"],
  [":11500", "http://127.0.0.1:11500/v1"],
  ['"127.0.0.1:11500"', "http://127.0.0.1:11500/v1"],
  ["HTTP://localhost:11500/", "http://localhost:11500/v1"],
  ["http://h:80", "http://h/v1"],
  ["https://my.host/ollama/v1/", "https://my.host/ollama/v1"],
])("OLLAMA_HOST %s is the address %s", (host, address) => {
  vi.stubEnv("OLLAMA_HOST", host);
  expect(ollamaBaseURL()).toBe(address);
});
