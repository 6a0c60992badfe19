import { answerWith, jsonOf, sharedWireServer, sse, streamOf, type WireRequest, wireFormats } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { wireProvider } from "../../../testing/wireFaultRun.ts";
import { Agent } from "../../agent.ts";
import ends from "../fixtures/endsOfTurns.json" with { type: "json" };
import { endOfTurn } from "./endWords.ts";

const key = "sk-test-abcdefgh12345678";

const server = await sharedWireServer();

describe.each(wireFormats)("over the %s wire", (format) => {
  test.each([
    [413, "Request exceeds the maximum size", "context-limit"],
    [400, "The response was filtered due to the content management policy", "content-filter"],
  ])("status %s with %j ends the turn with that text as detail, and the next turn works", async (...row) => {
    const [status, said, reason] = row;
    const agent = new Agent(wireProvider(format, server.url));
    server.script(jsonOf({ type: "error", error: { message: said } }, { status }), answerWith({ text: "Fine." }));
    await expect(agent.chat("Go.")).rejects.toMatchObject({ code: "ended", reason, detail: said, text: "" });
    expect(await agent.chat("And now?")).toBe("Fine.");
  });
});

const refused = (refusal: string) => ({
  status: "completed",
  output: [{ type: "message", id: "msg_1", role: "assistant", content: [{ type: "refusal", refusal }] }],
});
const refusals: Record<WireRequest["format"], (said: string) => Parameters<typeof sse>[0]> = {
  messages: (explanation) => [
    { event: "message_start", data: { type: "message_start", message: { usage: {} } } },
    {
      event: "message_delta",
      data: { type: "message_delta", delta: { stop_reason: "refusal", stop_details: { explanation } }, usage: {} },
    },
    { event: "message_stop", data: { type: "message_stop" } },
  ],
  responses: (refusal) => [
    { event: "response.completed", data: { type: "response.completed", response: refused(refusal) } },
  ],
  chat: (refusal) => [{ data: { choices: [{ index: 0, delta: { refusal }, finish_reason: "stop" }] } }],
};

test.each(wireFormats)("a refusal over the %s wire says why", async (format) => {
  server.script(streamOf(sse(refusals[format]("I cannot help with that."))));
  await expect(new Agent(wireProvider(format, server.url)).chat("Go.")).rejects.toMatchObject({
    reason: "refusal",
    detail: "I cannot help with that.",
  });
});

test("a filter behind a gateway is reported with its own text", async () => {
  const reason = { finish_reason: "content_filter", native_finish_reason: "SAFETY" };
  const choice = { index: 0, delta: { content: "So" }, ...reason };
  server.script(streamOf(sse([{ data: { choices: [choice] } }])));
  await expect(new Agent(wireProvider("chat", server.url)).chat("Go.")).rejects.toMatchObject({
    reason: "content-filter",
    detail: "SAFETY",
    text: "So",
  });
});

test("a full context window and a content filter end the turn instead of failing it, with the service's text", () => {
  const end = (status: number, body: object) =>
    endOfTurn(Object.assign(new Error(`${status} x`), { status, error: body }), [key]);
  for (const { status, body, stop } of ends) expect(end(status, body)).toEqual({ stop, detail: body.message });
  expect(end(400, { message: "unknown field" })).toBeUndefined();
  expect(end(500, { message: "out of memory" })).toBeUndefined();
  expect(end(401, { message: "context length" })).toBeUndefined();
});

test.each([
  ["as JSON", '{"error":{"message":"prompt is too long: 300000 tokens > 200000 maximum"}}'],
  ["as text", "prompt is too long: 300000 tokens > 200000 maximum"],
  ["as an object", { message: "prompt is too long: 300000 tokens > 200000 maximum" }],
])("what a gateway passes on of the maker's own error %s is read", (_, raw) => {
  const error = { code: 400, message: "Provider returned error", metadata: { raw, provider_name: "Anthropic" } };
  const detail = "Anthropic: prompt is too long: 300000 tokens > 200000 maximum";
  const refused = Object.assign(new Error("400 Provider returned error"), { status: 400, error });
  expect(endOfTurn(refused, [])).toEqual({ stop: "context-limit", detail });
  // In mid-stream the error has no status of its own.
  expect(endOfTurn(Object.assign(new Error("x"), { error }), [])).toEqual({ stop: "context-limit", detail });
});

test("the service's text about an end is one line without markup and keys, or the status if there is none", () => {
  const page = new Error(`413 <html>\n<head><title>413 Too large</title></head> <body>key ${key}</body></html>`);
  expect(endOfTurn(Object.assign(page, { status: 413 }), [key])?.detail).toBe("413 Too large key [redacted]");
  expect(endOfTurn({ status: 413, message: "" }, [])?.detail).toBe("HTTP status 413");
  expect(endOfTurn({ status: 413, message: "x".repeat(100_000) }, [])?.detail).toHaveLength(501);
});
