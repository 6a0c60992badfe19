import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { chooseModel, keyedModels } from "../models.ts";

let ollama: Server;
let host = "";

beforeAll(async () => {
  const listing = {
    object: "list",
    data: [
      { id: "embedder", object: "model" },
      { id: "qwen4:8b", object: "model" },
    ],
  };
  ollama = createServer((_request, response) => response.end(JSON.stringify(listing)));
  await new Promise<void>((resolve) => ollama.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${(ollama.address() as AddressInfo).port}`;
});
afterAll(() => ollama.close());
afterEach(() => vi.unstubAllEnvs());

function environment(variables: Record<string, string> = {}): void {
  const names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST"];
  for (const name of names) vi.stubEnv(name, variables[name] ?? (name === "OLLAMA_HOST" ? "127.0.0.1:9" : undefined));
}

test("the first service whose key is set is chosen, and the reason names the variable, not the key", async () => {
  environment({ OPENAI_API_KEY: " ", ANTHROPIC_API_KEY: "sk-1", OPENROUTER_API_KEY: "sk-2" });
  const { provider, by, reason } = await chooseModel();
  expect({ name: provider.name, by, reason }).toEqual({
    name: "anthropic",
    by: "key",
    reason: "ANTHROPIC_API_KEY is set",
  });
});

// The probe gives up after 300 ms, which a busy machine may take to start the answer.
test("without a key the first chat model of a server on this machine is chosen", { retry: 3 }, async () => {
  environment({ OLLAMA_HOST: host });
  const { provider, by, reason } = await chooseModel();
  expect(provider).toMatchObject({ name: "openai-compatible", model: "qwen4:8b" });
  expect({ by, reason }).toEqual({ by: "local", reason: `Ollama answers at http://${host}/v1` });
});

test("with neither, the offline stand-in is chosen", async () => {
  environment();
  const { provider, by } = await chooseModel();
  expect({ name: provider.name, by }).toEqual({ name: "offline", by: "offline" });
});

test("a named provider and model are used whatever the environment offers", async () => {
  environment({ OPENAI_API_KEY: "sk-1", OLLAMA_HOST: host });
  const named = await chooseModel({ model: "ollama/llama5" });
  expect(named).toMatchObject({ by: "named", provider: { name: "openai-compatible", model: "llama5" } });
  const local = await chooseModel({ model: "ollama" });
  expect(local).toMatchObject({ by: "local", provider: { model: "qwen4:8b" } });
});

test.each([
  [{ model: "opnai/x" }, "invalid_option", /^model opnai\/x: expected provider\/model .*; did you mean openai\?$/],
  [{ baseURL: "http://127.0.0.1:9" }, "invalid_option", /^baseURL says .* with model, as in model openai-compatible\//],
  [
    { model: "openai-compatible/x" },
    "invalid_option",
    /: say where the server is with baseURL http:\/\/HOST:PORT\/v1$/,
  ],
  [
    { model: "ollama" },
    "network",
    /^model ollama: nothing answers at .*; start it and load one, or name it as in model/,
  ],
])("%j is refused in words of options", async (request, code, message) => {
  environment();
  await expect(chooseModel(request)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

test("the models on offer are those of services with a key, its usual one first", () => {
  environment();
  expect(keyedModels()).toEqual([]);
  environment({ ANTHROPIC_API_KEY: "sk-1", OPENROUTER_API_KEY: "sk-2" });
  const models = keyedModels();
  expect(models[0]).toBe("anthropic/claude-sonnet-5-5");
  expect(models).toContain("anthropic/claude-haiku-5-5");
  expect(models.at(-1)).toBe("openrouter/openrouter/auto");
  expect(new Set(models).size).toBe(models.length);
});
