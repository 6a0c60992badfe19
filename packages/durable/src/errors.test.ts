import { AgentError, isAgentError } from "@toolcrib/agent";
import { expect, test } from "vitest";
import { reviveError, toPlainError } from "./errors.ts";

const recorded = (error: unknown): unknown => JSON.parse(JSON.stringify(toPlainError(error)));

test("an AgentError is the same after a round trip as JSON", () => {
  const error = new AgentError({
    code: "ended",
    message: "The turn ended.",
    reason: "approval",
    text: "so far",
    pending: [{ callId: "call_1", name: "remove", args: { path: "a" }, question: { text: "Remove a?" } }],
    status: 429,
    retryable: true,
    retryAfterMs: 10,
  });
  const revived = reviveError(recorded(error));
  expect(isAgentError(revived)).toBe(true);
  expect(JSON.stringify(revived)).toBe(JSON.stringify(error));
});

test("other errors keep name and message, and nothing makes recording throw", () => {
  expect(reviveError(recorded(new RangeError("too far")))).toMatchObject({ name: "RangeError", message: "too far" });
  for (const odd of [
    null,
    undefined,
    7,
    "text",
    {},
    new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
      },
    ),
  ]) {
    expect(typeof toPlainError(odd).message).toBe("string");
  }
  for (const odd of [null, undefined, 7, "text", {}, { name: "AgentError" }, { message: 3 }]) {
    expect(reviveError(odd)).toBeInstanceOf(Error);
  }
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const error = new AgentError({ code: "server", message: "down", pending: [circular as never] });
  expect(reviveError(recorded(error))).toMatchObject({ code: "server", message: "down" });
});
