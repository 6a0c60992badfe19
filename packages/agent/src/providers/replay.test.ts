import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { describe, expect, test } from "vitest";
import type { AssistantMessage } from "../messages.ts";
import type { Provider, ReplyEvent } from "../provider.ts";
import { validateEvent } from "../turn/validateEvent.ts";
import { toAnthropicTurn } from "./anthropic/mapping.ts";
import { createAnthropicState, finishAnthropic, reduceAnthropic } from "./anthropic/reply.ts";
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

/** The reply as history and journal keep it. */
function kept(event: ReplyEvent): AssistantMessage {
  const checked = validateEvent({ name: "test" } as Provider, event, new Set());
  if (checked.type !== "reply") throw new Error("no reply");
  return JSON.parse(JSON.stringify(checked.message)) as AssistantMessage;
}

describe("Messages", () => {
  function messageOf(
    blocks: readonly [start: object, ...deltas: object[]][],
    stop_reason = "tool_use",
  ): AssistantMessage {
    const state = createAnthropicState(service);
    const push = (event: object) => reduceAnthropic(state, event as RawMessageStreamEvent);
    for (const [index, [content_block, ...deltas]] of blocks.entries()) {
      push({ type: "content_block_start", index, content_block });
      for (const delta of deltas) push({ type: "content_block_delta", index, delta });
    }
    push({ type: "message_delta", delta: { stop_reason }, usage: {} });
    return kept(finishAnthropic(state, "anthropic/m"));
  }
  const sent = (message: AssistantMessage): string => JSON.stringify(toAnthropicTurn(message, true).content);

  const whole = [
    { type: "thinking", thinking: "", signature: "c2ln" },
    { type: "redacted_thinking", data: "x==" },
    { citations: null, type: "text", text: "\n\n" },
    { type: "thinking", thinking: "Hm, \u2028so.", signature: "c2lnMg" },
    { citations: [{ type: "char_location", cited_text: "a" }], type: "text", text: "Read it." },
    { type: "a_block_of_next_year", nested: { z: 1, a: [null, ""] } },
    { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "q" } },
    { type: "web_search_tool_result", tool_use_id: "srv_1", content: [{ encrypted_content: "e", url: "u" }] },
    { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a", n: 1.5 }, caller: { type: "direct" } },
    { type: "tool_use", id: "toolu_2", name: "read", input: {} },
  ];

  test("every block goes back byte for byte and in order, empty thinking and unknown kinds too", () => {
    expect(sent(messageOf(whole.map((block) => [block])))).toBe(JSON.stringify(whole));
  });

  test("so it does when it came in pieces, citations and compactions included", () => {
    const message = messageOf([
      [
        { type: "thinking", thinking: "", signature: "" },
        { type: "signature_delta", signature: "c2ln" },
      ],
      [
        { citations: null, type: "text", text: "" },
        { type: "text_delta", text: "Read " },
        { type: "citations_delta", citation: { type: "char_location" } },
        { type: "text_delta", text: "it." },
      ],
      [
        { type: "compaction", content: null, encrypted_content: null },
        { type: "compaction_delta", content: "So far.", encrypted_content: "e==" },
      ],
      [
        { type: "tool_use", id: "toolu_1", name: "read", input: {}, caller: { type: "direct" } },
        { type: "input_json_delta", partial_json: '{"path": ' },
        { type: "input_json_delta", partial_json: '"a"}' },
      ],
    ]);
    expect(sent(message)).toBe(
      JSON.stringify([
        { type: "thinking", thinking: "", signature: "c2ln" },
        { citations: [{ type: "char_location" }], type: "text", text: "Read it." },
        { type: "compaction", content: "So far.", encrypted_content: "e==" },
        { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" }, caller: { type: "direct" } },
      ]),
    );
  });

  test("what the service would refuse is mended once: blank text alone, broken arguments, names and ids", () => {
    const message = messageOf([
      [{ citations: null, type: "text", text: " \n" }],
      [{ citations: null, type: "text", text: "" }],
      [
        { type: "tool_use", id: "a", name: "functions.read", input: {}, caller: { type: "direct" } },
        { type: "input_json_delta", partial_json: '{"path": ' },
      ],
      [{ type: "tool_use", id: "a", name: "read", input: { half: "\ud800" } }],
    ]);
    expect(sent(message)).toBe(
      JSON.stringify([
        { type: "tool_use", id: "a", name: "read", input: {}, caller: { type: "direct" } },
        { type: "tool_use", id: "call_2", name: "read", input: { half: "\ufffd" } },
      ]),
    );
  });
});

describe("Responses", () => {
  function messageOf(output: readonly object[], status = "completed"): AssistantMessage {
    const state = createResponsesState(service);
    for (const [output_index, item] of output.entries()) {
      reduceResponses(state, {
        type: "response.output_item.added",
        output_index,
        item: { ...item, encrypted_content: "incomplete" },
      } as never as ResponseStreamEvent);
      reduceResponses(state, { type: "response.output_item.done", output_index, item } as never as ResponseStreamEvent);
    }
    reduceResponses(state, {
      type: "response.completed",
      response: { output, status },
    } as never as ResponseStreamEvent);
    return kept(finishResponses(state, "openai/m"));
  }
  const sent = (message: AssistantMessage): string => JSON.stringify(toResponsesItems(message, "openai/m"));

  const part = { type: "output_text", annotations: [], logprobs: [], text: "I read it." };
  const whole = [
    { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "x==" },
    { id: "msg_1", type: "message", status: "completed", content: [part], phase: "commentary", role: "assistant" },
    { id: "rs_2", type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }], encrypted_content: "y==" },
    {
      id: "fc_1",
      type: "function_call",
      status: "completed",
      arguments: '{ "path":"a", "n": 1.50 }',
      call_id: "call_1",
      name: "read",
    },
    { id: "fc_2", type: "function_call", status: "completed", arguments: "{}", call_id: "call_2", name: "read" },
    { id: "it_1", type: "an_item_of_next_year", data: [null, { z: 1 }] },
    {
      id: "msg_2",
      type: "message",
      status: "completed",
      content: [part, { type: "refusal", refusal: "No." }],
      phase: "final_answer",
      role: "assistant",
    },
  ];

  test("every item goes back byte for byte and in order, with ids, phase, arguments and encrypted reasoning", () => {
    expect(sent(messageOf(whole))).toBe(JSON.stringify(whole));
  });

  test("what the service would refuse is mended once: broken arguments, doubled ids", () => {
    const call = { id: "fc_1", type: "function_call", status: "completed", call_id: "a", name: "read" };
    const message = messageOf([
      { ...call, arguments: '{"path"' },
      { ...call, id: "fc_2", arguments: "" },
    ]);
    expect(JSON.parse(sent(message))).toEqual([
      { ...call, arguments: "{}" },
      { ...call, id: "fc_2", call_id: "call_2", arguments: "{}" },
    ]);
  });
});
