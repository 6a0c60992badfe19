import { describe, expect, test } from "vitest";
import { addressSlip } from "../models/address.ts";
import { type Service, serviceFault, toAgentError } from "./wireErrors.ts";

const service: Service = {
  name: "openai-compatible",
  label: "The model server",
  model: "m",
  baseURL: "http://127.0.0.1:9/v1",
  keyVariable: undefined,
  secrets: [],
};
const answered = (status: number, error: object, headers = {}) =>
  toAgentError(Object.assign(new Error("x"), { status, error, headers: new Headers(headers) }), service);

describe("what an account has used up is told at once", () => {
  test.each([
    [429, { message: "You've reached kimi monthly usage limit for this billing cycle. It will be refreshed then." }],
    [429, { type: "exceeded_current_quota_error", message: "Please check your account." }],
    [429, { code: "1113", message: "Please recharge." }],
    [429, { message: "Insufficient balance or no resource package." }],
    [429, { message: "You exceeded your current quota: generate_requests_per_model_per_day, limit 250" }],
    [429, { type: "usage_limit_reached", message: "Come back on Monday." }],
    [400, { message: "Your credit balance is too low to access the Anthropic API." }],
    [403, { message: "You have run out of credits." }],
    [402, { message: "Payment required" }],
  ])("%s %j", (status, error) => {
    expect(answered(status, error)).toMatchObject({ code: "rate_limit", retryable: false });
    expect(answered(status, error).message).toContain("Add credit");
  });

  test.each([
    [{ message: "Rate limit reached on requests per day: limit 200. Please try again in 7m12s." }, {}],
    [{ message: "You exceeded your current quota: requests_per_minute." }, {}],
    [{ message: "You have reached your usage limit." }, { "retry-after": "20" }],
    [{ message: "The engine is currently overloaded, please try again later" }, {}],
  ])("but not a limit that ends soon: %j", (error, headers) => {
    expect(answered(429, error, headers)).toMatchObject({ code: "rate_limit", retryable: true });
  });

  test("in mid-stream too", () => {
    for (const type of ["insufficient_quota", "exceeded_current_quota_error", "insufficient_balance"])
      expect(toAgentError(serviceFault({ type, message: "x" }), service)).toMatchObject({ retryable: false });
  });
});

test.each([
  [500, "model name=LFM2.5-2.6B failed to load"],
  [500, "unable to load model: blobs/sha256-1"],
  [404, 'Failed to load model "qwen". Error: insufficient memory'],
  [500, "model requires more system memory (11.1 GiB) than is available (7.9 GiB)"],
])("a model that the server cannot load (%s %s) is not asked for again", (status, message) => {
  expect(answered(status, { message })).toMatchObject({ code: "server", retryable: false });
  expect(answered(status, { message }).message).toContain("See the log of the server");
});

test("a server that still loads its model is given time", () => {
  const loading = answered(503, { message: "Loading model", type: "unavailable_error" });
  expect(loading).toMatchObject({ code: "server", retryable: true, retryAfterMs: 10_000 });
  expect(answered(503, { message: "Loading model" }, { "retry-after": "1" }).retryAfterMs).toBe(1000);
});

test.each([
  ["openai-compatible", "http://127.0.0.1:11434/", "Most servers have their API below /v1."],
  ["openai-compatible", "http://h/v1/chat/completions", "The address must be without /chat/completions,"],
  ["openai", "http://h/v1/responses/", "The address must be without /responses,"],
  ["anthropic", "http://h/v1/", "The address must be without /v1,"],
  ["anthropic", "http://h", ""],
  ["openai-compatible", "http://h/api/v3", ""],
  ["openai", undefined, ""],
])("of the address of %s, %s, a 404 says: %j", (name, baseURL, slip) => {
  expect(addressSlip({ name, baseURL })).toMatch(slip === "" ? /^$/ : slip);
});
