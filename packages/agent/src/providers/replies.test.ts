import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { describe, expect, test } from "vitest";
import type { AssistantMessage } from "../messages.ts";
import type { Provider } from "../provider.ts";
import { validateEvent } from "../turn/validateEvent.ts";
import { createAnthropicState, finishAnthropic, reduceAnthropic } from "./anthropic/reply.ts";
import { createChatState, finishChat, reduceChat } from "./chat/reply.ts";
import type { Service } from "./errors/wireErrors.ts";
import { toResponsesItems } from "./openai/mapping.ts";
import { createResponsesState, finishResponses, reduceResponses } from "./openai/reply.ts";

const service: Service = {
  name: "test",
  label: "Test",
  model: "m",
  baseURL: undefined,
  keyVariable: undefined,
  secrets: [],
};

function callsOf({ content }: AssistantMessage) {
  return content.flatMap((block) => (block.type === "tool-call" ? [{ name: block.name, args: block.args }] : []));
}

describe("chat completions", () => {
  function replyTo(deltas: readonly object[], finish_reason = "stop") {
    const state = createChatState(service);
    for (const delta of deltas) reduceChat(state, { choices: [{ index: 0, delta, finish_reason: null }] } as never);
    reduceChat(state, { choices: [{ index: 0, delta: {}, finish_reason }] } as unknown as ChatCompletionChunk);
    return finishChat(state, "test/m");
  }
  const piece = (fields: object, name: string | undefined, args: unknown) => ({
    tool_calls: [{ ...fields, function: { name, arguments: args } }],
  });
  const two = [
    { name: "a", args: { n: 1 } },
    { name: "b", args: { n: 2 } },
  ];

  test.each<[string, object[]]>([
    ["without an index", [piece({ id: "1" }, "a", '{"n":1}'), piece({ id: "2" }, "b", '{"n":2}')]],
    ["without an index or an id", [piece({}, "a", '{"n":1}'), piece({}, "b", '{"n":2}')]],
    [
      "with the index 0 for all",
      [piece({ index: 0, id: "1" }, "a", '{"n":1}'), piece({ index: 0, id: "2" }, "b", '{"n":2}')],
    ],
    [
      "in pieces that repeat id and name",
      [
        piece({ index: 0, id: "1" }, "a", '{"n"'),
        piece({ index: 0, id: "1" }, "a", ":1}"),
        piece({ index: 1, id: "2" }, "b", ""),
        piece({ index: 1 }, undefined, '{"n":2}'),
      ],
    ],
    [
      "with arguments as objects",
      [piece({ index: 0, id: "1" }, "a", { n: 1 }), piece({ index: 1, id: "2" }, "b", { n: 2 })],
    ],
  ])("reads two calls %s as two, and runs them whatever the finish reason is", (_how, deltas) => {
    const reply = replyTo(deltas, "eos");
    expect(callsOf(reply.message)).toEqual(two);
    expect(reply.stop).toBe("tool-calls");
  });

  test("gives calls without an id, or with the same, ids of their own", () => {
    const event = replyTo([
      piece({ index: 0 }, "a", "{}"),
      piece({ index: 1, id: "x" }, "b", "{}"),
      piece({ index: 2, id: "x" }, "c", "{}"),
    ]);
    const reply = validateEvent({ name: "test" } as Provider, event, new Set());
    const content = reply.type === "reply" ? reply.message.content : [];
    const ids = content.flatMap((block) => (block.type === "tool-call" ? [block.id] : []));
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[\w-]{1,64}$/);
  });

  test("joins the pieces of a reasoning block and keeps encrypted ones apart, for an unchanged replay", () => {
    const detail = (fields: object) => ({ reasoning_details: [{ type: "reasoning.text", index: 0, ...fields }] });
    const { message } = replyTo([
      { ...detail({ text: "Hm, " }), reasoning: "Hm, " },
      { ...detail({ text: "so.", signature: "sig" }), reasoning: "so." },
      { reasoning_details: [{ type: "reasoning.encrypted", index: 1, data: "x" }] },
      { content: [{ type: "text", text: "Yes." }] },
    ]);
    const reasoning_details = [
      { type: "reasoning.text", index: 0, text: "Hm, so.", signature: "sig" },
      { type: "reasoning.encrypted", index: 1, data: "x" },
    ];
    expect(message.content).toEqual([
      { type: "reasoning", text: "Hm, so.", opaque: { provider: "test", data: { reasoning_details } } },
      { type: "text", text: "Yes." },
    ]);
  });

  test("keeps reasoning in the field it came in", () => {
    const { message } = replyTo([{ reasoning_content: "Hm" }, { content: "Yes." }]);
    expect(message.content[0]).toMatchObject({ text: "Hm", opaque: { data: { reasoning_content: "Hm" } } });
  });
});

describe("Messages", () => {
  function replyTo(blocks: readonly [start: object, ...deltas: object[]][], stop_reason: string) {
    const state = createAnthropicState(service);
    const push = (event: object) => reduceAnthropic(state, event as RawMessageStreamEvent);
    for (const [index, [content_block, ...deltas]] of blocks.entries()) {
      push({ type: "content_block_start", index, content_block });
      for (const delta of deltas) push({ type: "content_block_delta", index, delta });
      push({ type: "content_block_stop", index });
    }
    push({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 1, input_tokens: null } });
    push({ type: "message_stop" });
    return finishAnthropic(state, "anthropic/m");
  }

  test("thinking that was cut before its signature is shown, but not sent back", () => {
    const { message } = replyTo(
      [
        [
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: "Hm" },
        ],
      ],
      "max_tokens",
    );
    expect(message.content).toEqual([{ type: "reasoning", text: "Hm" }]);
  });

  test("redacted thinking and the blocks of hosted tools are sent back unchanged", () => {
    const redacted = { type: "redacted_thinking", data: "x==" };
    const search = { type: "server_tool_use", id: "srv", name: "web_search", input: {} };
    const { message, stop } = replyTo(
      [[redacted], [search, { type: "input_json_delta", partial_json: '{"query":"q"}' }]],
      "pause_turn",
    );
    expect(message.content.map((block) => block.opaque?.data)).toEqual([
      redacted,
      { ...search, input: { query: "q" } },
    ]);
    expect(stop).toBe("pause");
  });

  test("a call whose arguments were complete before the token limit is complete", () => {
    const use = { type: "tool_use", id: "a", name: "t", input: {} };
    const whole = replyTo([[use, { type: "input_json_delta", partial_json: '{"n":1}' }]], "max_tokens");
    expect(callsOf(whole.message)).toEqual([{ name: "t", args: { n: 1 } }]);
    expect(whole.message.content[0]).not.toHaveProperty("malformed");
    expect(replyTo([[use]], "max_tokens").message.content[0]).toMatchObject({ args: {}, malformed: "cut off" });
  });
});

describe("Responses", () => {
  function replyTo(
    output: readonly object[],
    events: readonly object[] = [],
    fields: object = { status: "completed" },
  ) {
    const state = createResponsesState(service);
    const shown = [...events, { type: "response.completed", response: { output, ...fields } }].flatMap((event) =>
      reduceResponses(state, event as ResponseStreamEvent),
    );
    return { shown, reply: finishResponses(state, "openai/m") };
  }
  const message = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "Yes." }] };

  test("items that arrive only at the end are shown and kept", () => {
    const { shown, reply } = replyTo([message]);
    expect(shown).toEqual([{ type: "text-delta", text: "Yes." }]);
    expect(reply.message.content).toMatchObject([{ type: "text", text: "Yes.", opaque: { provider: "openai" } }]);
  });

  test("the items of hosted tools keep their place", () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } };
    const { reply } = replyTo([search, message]);
    expect(reply.message.content[0]).toEqual({
      type: "reasoning",
      text: "",
      opaque: { provider: "openai", data: search },
    });
  });

  test("reasoning without its encrypted content is shown but not sent back", () => {
    const { reply } = replyTo([
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm" }] },
      message,
    ]);
    expect(reply.message.content[0]).toMatchObject({ type: "reasoning", text: "Hm" });
    // With its id the service would look for the reasoning.
    expect(toResponsesItems(reply.message, "openai/m")).toEqual([{ role: "assistant", content: "Yes." }]);
  });

  test("a call that was still being written at the token limit is cut off", () => {
    const item = { type: "function_call", id: "fc", call_id: "c", name: "t", arguments: "" };
    const events = [
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"n":' },
    ];
    const { reply } = replyTo([], events, {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
    expect(reply.message.content[0]).toMatchObject({ args: {}, malformed: "cut off" });
    expect(reply.stop).toBe("token-limit");
  });
});
