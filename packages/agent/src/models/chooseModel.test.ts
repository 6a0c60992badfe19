import { sharedServer, temporaryServer } from "@toolcrib/testing/temporaryServer";
import { afterEach, expect, test, vi } from "vitest";
import { checkModelAddress, checkModelSources, chooseModel, keyedModels, providerNames } from "../models.ts";

const data = ["embedder", "qwen4:8b"].map((id) => ({ id, object: "model" }));
const ollama = await sharedServer(({ url }, response) =>
  url === "/v1/models" ? response.end(JSON.stringify({ object: "list", data })) : response.writeHead(404).end("404"),
);
const { host } = new URL(ollama);
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

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

test("without a key the first chat model of a server on this machine is chosen", async () => {
  // The probe gives up after 300 ms, which a busy machine may take to start the answer.
  vi.spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);
  environment({ OLLAMA_HOST: host });
  const { provider, by, reason } = await chooseModel();
  expect(provider).toMatchObject({ name: "openai-compatible", model: "qwen4:8b" });
  expect({ by, reason }).toEqual({ by: "local", reason: `Ollama answers at http://${host}/v1` });
});

test.each([{}, { model: "ollama" }])("a server that still loads its model is waited for: %j", async (request) => {
  vi.spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);
  const error = { code: 503, message: "Loading model", type: "unavailable_error" };
  let left = 2;
  const url = await temporaryServer((_request, response) => {
    left -= 1;
    if (left >= 0) response.writeHead(503).end(JSON.stringify({ error }));
    else response.end(JSON.stringify({ object: "list", data: [{ id: "late", object: "model" }] }));
  });
  environment({ OLLAMA_HOST: url });
  expect((await checkModelSources()).findings.at(-1)?.text).toContain("is still loading its model");
  expect(await chooseModel(request)).toMatchObject({ by: "local", provider: { model: "late" } });
});

test("an address may end in slashes, and an error says what is likely too little of it", async () => {
  environment({});
  const at = (path: string) => chooseModel({ model: "openai-compatible", baseURL: `http://${host}${path}` });
  expect(await at("/v1//")).toMatchObject({ provider: { model: "qwen4:8b" } });
  await expect(at("")).rejects.toThrow(/is not a model server \(Most servers have their API below \/v1\); start it/);
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

const { signal } = new AbortController();

test("keys are said to be set, empty or odd, and never shown", async () => {
  environment({ OPENAI_API_KEY: "sk-secret", ANTHROPIC_API_KEY: " ", OPENROUTER_API_KEY: "'sk-secret'" });
  const { findings } = await checkModelSources();
  expect(findings.slice(0, 3)).toEqual([
    { level: "ok", text: "OPENAI_API_KEY is set in the environment" },
    { level: "warning", text: "ANTHROPIC_API_KEY is set, but empty", advice: "set it, or unset it" },
    { level: "warning", text: expect.stringContaining("OPENROUTER_API_KEY is set, with"), advice: expect.any(String) },
  ]);
  expect(JSON.stringify(findings)).not.toContain("sk-");
});

test("an address is asked without a key, and any answer counts", async () => {
  const asked: unknown[] = [];
  const url = await temporaryServer((request, response) => {
    asked.push(request.method, request.headers);
    response.writeHead(401).end();
  });
  const address = `${url}/v1`;
  environment({ OPENAI_API_KEY: "sk-secret", OPENAI_BASE_URL: address });
  expect(await checkModelAddress("openai", undefined, signal)).toEqual({ level: "ok", text: `${address} answers` });
  expect(asked[0]).toBe("HEAD");
  expect(JSON.stringify(asked)).not.toContain("sk-");
  const dead = await checkModelAddress("openai", "http://me:secret@127.0.0.1:9/v1", signal);
  expect(dead).toMatchObject({ level: "problem", text: expect.stringContaining("cannot be reached") });
  expect(JSON.stringify(dead)).not.toContain("secret");
  expect(await checkModelAddress("my-own", undefined, signal)).toBeUndefined();
  const ended = AbortSignal.abort(new Error("enough"));
  await expect(checkModelAddress("openai", address, ended)).rejects.toThrow("enough");
});

test("every name of a provider is taken, and a wrong one is told them", async () => {
  environment({ OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", OPENROUTER_API_KEY: "k" });
  for (const name of providerNames)
    expect((await chooseModel({ model: `${name}/m`, baseURL: "http://127.0.0.1:9" })).by).toBe("named");
  await expect(chooseModel({ model: "x/m" })).rejects.toThrow(`out of ${providerNames.join(", ")}`);
});
