import { temporaryServer } from "@toolcrib/testing/temporaryServer";
import { afterEach, expect, test, vi } from "vitest";
import { checkModelAddress, checkModelSources, chooseModel, providerNames } from "../models.ts";

afterEach(() => vi.unstubAllEnvs());

function environment(variables: Record<string, string>): void {
  for (const name of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "OPENAI_BASE_URL"])
    vi.stubEnv(name, variables[name]);
  vi.stubEnv("OLLAMA_HOST", "127.0.0.1:9");
}

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
