import { inspect } from "node:util";
import { expect, test } from "vitest";
import { AgentError } from "./errors.ts";

test("an error that nobody caught prints only what is known of it", () => {
  const error = new AgentError({ code: "rate_limit", message: "Too many requests.", status: 429, retryable: true });
  expect(inspect(error)).not.toContain("undefined");
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    name: "AgentError",
    code: "rate_limit",
    status: 429,
    retryable: true,
    message: "Too many requests.",
  });
  expect([error.reason, error.text, error.pending]).toEqual([undefined, undefined, undefined]);
});
