import { describe, expect, test } from "vitest";
import {
  answerWith,
  jsonOf,
  sharedWireServer,
  sse,
  streamOf,
  type WireRequest,
  wireFormats,
  wireProvider,
} from "../../../../../testing/src/index.ts";
import { Agent } from "../../agent.ts";
import { endOfTurn } from "./endOfTurn.ts";

const key = "sk-test-abcdefgh12345678";

const server = await sharedWireServer();

describe.each(wireFormats)("over the %s wire", (format) => {
  test.each([
    [413, "Request exceeds the maximum size", "context-limit"],
    [400, "prompt is too long: 300000 tokens > 200000 maximum", "context-limit"],
    [400, "Your input exceeds the context window of this model", "context-limit"],
    [400, "The response was filtered due to the content management policy", "content-filter"],
  ])(
    "status %s with %j ends the turn with that text as detail, and the next turn works",
    async (status, said, reason) => {
      const agent = new Agent(wireProvider(format, server.url));
      server.script(jsonOf({ type: "error", error: { type: "invalid_request_error", message: said } }, { status }));
      await expect(agent.chat("Go.")).rejects.toMatchObject({ code: "ended", reason, detail: said, text: "" });
      server.script(jsonOf({ type: "error", error: { message: said } }, { status }), answerWith({ text: "Fine." }));
      const events = [];
      for await (const event of agent.streamChat("Go.")) events.push(event);
      expect(events.at(-1)).toEqual({ type: "end", reason, text: "", detail: said });
      expect(await agent.chat("And now?")).toBe("Fine.");
    },
  );
});

const refusals: Record<WireRequest["format"], (said: string) => Parameters<typeof sse>[0]> = {
  messages: (explanation) => [
    { event: "message_start", data: { type: "message_start", message: { usage: {} } } },
    {
      event: "message_delta",
      data: {
        type: "message_delta",
        delta: { stop_reason: "refusal", stop_details: { type: "refusal", category: "cyber", explanation } },
        usage: {},
      },
    },
    { event: "message_stop", data: { type: "message_stop" } },
  ],
  responses: (refusal) => [
    {
      event: "response.completed",
      data: {
        type: "response.completed",
        response: {
          status: "completed",
          output: [{ type: "message", id: "msg_1", role: "assistant", content: [{ type: "refusal", refusal }] }],
        },
      },
    },
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
  const choice = {
    index: 0,
    delta: { content: "So" },
    finish_reason: "content_filter",
    native_finish_reason: "SAFETY",
  };
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
  const ends: [status: number, body: { message: string; code?: string }, stop: string][] = [
    [400, { code: "context_length_exceeded", message: "too long" }, "context-limit"],
    [400, { code: "exceed_context_size_error", message: "it does not fit" }, "context-limit"],
    [400, { message: "prompt is too long: 210000 tokens > 200000 maximum" }, "context-limit"],
    [400, { message: "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000" }, "context-limit"],
    [400, { message: "This model's maximum context length is 8192 tokens." }, "context-limit"],
    [400, { message: "This model's maximum prompt length is 131072 but the request contains 140000" }, "context-limit"],
    [400, { message: "The input token count (9) exceeds the maximum number of tokens allowed (8)." }, "context-limit"],
    [400, { message: "Input is too long for requested model." }, "context-limit"],
    [422, { message: "Your input exceeds the context window of this model." }, "context-limit"],
    [500, { message: "the request exceeds the available context size" }, "context-limit"],
    [413, { message: "Request too large" }, "context-limit"],
    [400, { code: "content_filter", message: "filtered" }, "content-filter"],
    [400, { message: "Output blocked by content filtering policy" }, "content-filter"],
  ];
  for (const [status, body, stop] of ends) expect(end(status, body)).toEqual({ stop, detail: body.message });
  expect(end(400, { message: "unknown field" })).toBeUndefined();
  expect(end(500, { message: "out of memory" })).toBeUndefined();
  expect(end(401, { message: "context length" })).toBeUndefined();
});

test("the service's text about an end is one line without markup and keys, or the status if there is none", () => {
  const page = new Error(`413 <html>\n<head><title>413 Too large</title></head> <body>key ${key}</body></html>`);
  expect(endOfTurn(Object.assign(page, { status: 413 }), [key])?.detail).toBe("413 Too large key [redacted]");
  expect(endOfTurn({ status: 413, message: "" }, [])?.detail).toBe("HTTP status 413");
  expect(endOfTurn({ status: 413, message: "x".repeat(100_000) }, [])?.detail).toHaveLength(501);
});
