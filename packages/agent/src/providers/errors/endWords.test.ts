import { answerWith, jsonOf, sharedWireServer, sse, streamOf } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { failureOf } from "../../../testing/turns.ts";
import { wireProvider } from "../../../testing/wireFaultRun.ts";
import { Agent } from "../../agent.ts";
import { endMeaning } from "./endWords.ts";

const server = await sharedWireServer();

test.each([
  ["stop", "STOP end_turn eos eos_token stop_sequence complete stop:</s>"],
  ["token-limit", "length max_tokens MAX_TOKENS model_length"],
  ["context-limit", "model_context_window_exceeded"],
  ["content-filter", "content_filter SAFETY sensitive RECITATION"],
  ["tool-calls", "tool_calls tool_call tool_use function_call Tool_Call:look"],
  ["fault", "error network_error insufficient_system_resource abort MALFORMED_FUNCTION_CALL"],
  [undefined, "toString __proto__ later later:stop :stop"],
])("%s is what these words mean: %s", (meaning, words) => {
  for (const word of words.split(" ")) expect(endMeaning(word), word).toBe(meaning);
});

const told = [
  "network_error",
  "insufficient_system_resource",
  "abort",
  "MALFORMED_FUNCTION_CALL",
  "a_word_of_next_year",
];

describe.each(["chat", "messages"] as const)("over the %s wire", (format) => {
  describe.each([true, false])("streamed: %s", (stream) => {
    const agentOf = (attempts = 1): Agent =>
      new Agent(wireProvider(format, server.url, { stream }), { attempts, baseDelayMs: 1 });

    test.each(told)(
      "an end with %s is no answer: it is tried again, then an error that names the word",
      async (stop) => {
        server.script(answerWith({ text: "Half of", stop }), answerWith({ text: "All of it." }));
        expect(await agentOf(2).chat("Go.")).toBe("All of it.");
        server.script(answerWith({ text: "Half of", stop }));
        const agent = agentOf();
        expect(await failureOf(agent.chat("Go."))).toMatchObject({
          retryable: true,
          message: expect.stringContaining(stop),
        });
        expect(agent.sessionContext).toHaveLength(1);
      },
    );

    test.each([
      ["eos", undefined],
      ["SAFETY", "content-filter"],
      ["sensitive", "content-filter"],
      ["model_length", "token-limit"],
      ["model_context_window_exceeded", "context-limit"],
    ])("an end with %s ends the turn with the reason %s", async (stop, reason) => {
      server.script(answerWith({ text: "So far", stop }));
      const chatted = agentOf().chat("Go.");
      if (reason === undefined) expect(await chatted).toBe("So far");
      else expect(await failureOf(chatted)).toMatchObject({ code: "ended", reason, text: "So far" });
    });

    test("an end that promises calls and brings none is tried again", async () => {
      const stop = format === "chat" ? "tool_calls" : "tool_use";
      server.script(answerWith({ text: "Let me look.", stop }), answerWith({ text: "Seen." }));
      expect(await agentOf(2).chat("Go.")).toBe("Seen.");
      server.script(answerWith({ text: "Let me look.", stop }));
      const code = { code: "bad_reply", retryable: true, message: expect.stringContaining(stop) };
      expect(await failureOf(agentOf().chat("Go."))).toMatchObject(code);
    });
  });
});

test.each([true, false])(
  "over Messages an end with calls of hosted tools alone is an answer (streamed: %s)",
  async (stream) => {
    const content = [
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
      { type: "text", text: "Found." },
    ];
    const message = { type: "message", role: "assistant", stop_reason: "tool_use", usage: {} };
    const events = [
      { type: "message_start", message: { ...message, content: [] } },
      ...content.map((content_block, index) => ({ type: "content_block_start", index, content_block })),
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} },
      { type: "message_stop" },
    ];
    server.script(
      stream ? streamOf(sse(events.map((data) => ({ event: data.type, data })))) : jsonOf({ ...message, content }),
    );
    expect(await new Agent(wireProvider("messages", server.url, { stream })).chat("Go.")).toBe("Found.");
  },
);

test.each(["cancelled", "in_progress", "a_status_of_next_year"])(
  "over Responses the status %s is no end of a whole reply, streamed or not",
  async (status) => {
    const output = [{ type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "Half" }] }];
    const response = { id: "r", object: "response", status, output };
    for (const stream of [true, false]) {
      const event = { event: "response.completed", data: { type: "response.completed", response } };
      server.script(stream ? streamOf(sse([event])) : jsonOf(response));
      const agent = new Agent(wireProvider("responses", server.url, { stream }), { attempts: 1 });
      const failure = { code: "bad_reply", retryable: true, message: expect.stringContaining(status) };
      expect(await failureOf(agent.chat("Go."))).toMatchObject(failure);
    }
  },
);
