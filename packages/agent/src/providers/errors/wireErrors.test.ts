import { expect, onTestFinished, test, vi } from "vitest";
import refusedSettings from "../fixtures/refusedSettings.json" with { type: "json" };
import { retryAfterMs, type Service, serviceFault, toAgentError } from "./wireErrors.ts";

const key = "sk-test-abcdefgh12345678";
const service: Service = {
  name: "openai",
  label: "OpenAI",
  model: "gpt-x",
  baseURL: "http://127.0.0.1:9/v1",
  keyVariable: "OPENAI_API_KEY",
  secrets: [key],
};

function answer(status: number, body: object, headers: Record<string, string> = {}): Error {
  return Object.assign(new Error(`${status} ${JSON.stringify(body)}`), {
    status,
    error: body,
    headers: new Headers(headers),
  });
}

test("each status becomes one sentence with its remedy", () => {
  const messages = [401, 403, 404, 429, 500, 400].map(
    (status) => toAgentError(answer(status, { message: "No" }), service).message,
  );
  expect(messages).toEqual([
    "OpenAI refused the API key (401): No. Check OPENAI_API_KEY or the option apiKey.",
    "OpenAI refused the API key (403): No. Check what the key may do (OPENAI_API_KEY or the option apiKey).",
    "OpenAI does not know the model or address (404): No. Check the model name (gpt-x) and baseURL (http://127.0.0.1:9/v1).",
    "OpenAI limits the rate (429): No. Wait and try again, or use another model.",
    "OpenAI failed (500): No. Try again later.",
    "OpenAI refused the request (400): No. Check the model and the settings of the provider.",
  ]);
});

test("a remedy names its options as data, for programs that have flags for them", () => {
  const { message, remedy } = toAgentError(answer(401, { message: `No, ${key}` }), service);
  expect(remedy).toEqual({
    problem: "OpenAI refused the API key (401): No, [redacted].",
    advice: ["Check ", { option: "apiKey", variable: "OPENAI_API_KEY" }, "."],
  });
  expect(message).toBe(`${remedy?.problem} Check OPENAI_API_KEY or the option apiKey.`);
});

test("a rate limit may be tried again, an empty account may not", () => {
  expect(toAgentError(answer(429, { message: "slow", code: "rate_limit_exceeded" }), service).retryable).toBe(true);
  expect(toAgentError(answer(429, { message: "pay", code: "insufficient_quota" }), service).retryable).toBe(false);
});

test("the service decides whether a retry helps", () => {
  expect(toAgentError(answer(500, {}, { "x-should-retry": "false" }), service).retryable).toBe(false);
  expect(toAgentError(answer(400, {}, { "x-should-retry": "true" }), service).retryable).toBe(true);
});

test("the wait a service asks for is read in milliseconds, seconds and as a date", () => {
  const now = Date.parse("2026-11-21T10:00:00Z");
  const wait = (headers: Record<string, string>) => retryAfterMs(new Headers(headers), now);
  expect(wait({ "retry-after-ms": "1500", "retry-after": "9" })).toBe(1500);
  expect(wait({ "retry-after": "2.5" })).toBe(2500);
  expect(wait({ "retry-after": "Sat, 21 Nov 2026 10:00:07 GMT" })).toBe(7000);
  expect(wait({ "retry-after": "Sat, 21 Nov 2026 09:00:00 GMT" })).toBe(0);
  expect(wait({ "retry-after": "soon" })).toBeUndefined();
  expect(wait({})).toBeUndefined();
  expect(toAgentError(answer(429, {}, { "retry-after": "3" }), service).retryAfterMs).toBe(3000);
});

test("an unreachable server, a dropped connection and a bad certificate are told apart", () => {
  const connection = (code: string) =>
    Object.assign(new Error("Connection error."), {
      cause: new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code }) }),
    });
  expect(toAgentError(connection("ECONNREFUSED"), service)).toMatchObject({
    code: "network",
    retryable: true,
    message:
      "Cannot reach OpenAI at http://127.0.0.1:9/v1 (ECONNREFUSED). Check that it runs there, baseURL and the network.",
  });
  expect(toAgentError(connection("ECONNRESET"), service).message).toMatch(/was lost \(ECONNRESET\)/);
  expect(toAgentError(connection("ERR_TLS_CERT_ALTNAME_INVALID"), service).retryable).toBe(false);
});

test("a proxy that the environment names and Node does not use is told, but for a service on this machine", () => {
  vi.stubEnv("HTTPS_PROXY", "http://proxy.test:3128");
  onTestFinished(() => void vi.unstubAllEnvs());
  const failed = Object.assign(new Error("fetch failed"), { code: "ENOTFOUND" });
  const told = "HTTPS_PROXY is set, but Node uses it only with NODE_USE_ENV_PROXY=1";
  for (const baseURL of [undefined, "https://service.test/v1"])
    expect(toAgentError(failed, { ...service, baseURL }).message).toContain(told);
  expect(toAgentError(failed, service).message).not.toContain("PROXY");
});

test("a failure of no known kind is told in its own words, and is not tried again", () => {
  const error = toAgentError(new Error("strange"), service);
  expect(error).toMatchObject({ code: "invalid_request", retryable: false });
  expect(error.message).toMatch(/ failed: strange\. Check the settings of the provider\.$/);
});

test("errors in mid-stream are classified by the code that the service sends", () => {
  const code = (body: object) => toAgentError(serviceFault(body), service).code;
  expect(code({ type: "overloaded_error", message: "x" })).toBe("server");
  expect(code({ type: "rate_limit_error", message: "x" })).toBe("rate_limit");
  expect(code({ code: 502, message: "x" })).toBe("server");
  expect(code({ code: "invalid_prompt", message: "x" })).toBe("invalid_request");
});

test.each(refusedSettings)(
  "a refusal that names a setting says what to change: $name",
  ({ name, model, said, advice }) => {
    const anthropic = { ...service, name: "anthropic", label: "Anthropic", model };
    const { message, remedy } = toAgentError(answer(400, { type: "invalid_request_error", message: said }), anthropic);
    expect(remedy?.problem).toContain(`Anthropic refused the request because of its ${name} (400): `);
    expect(remedy?.problem).toContain(said.slice(0, -1));
    expect(message.endsWith(advice)).toBe(true);
  },
);
