import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Block, callsOf, chatReply, kept, messagesReply, responsesReply } from "../../testing/replies.ts";
import type { AssistantMessage } from "../messages.ts";
import { toAnthropicTurn } from "./anthropic/mapping.ts";
import wholeReplies from "./fixtures/wholeReplies.json" with { type: "json" };
import { toResponsesItems } from "./openai/mapping.ts";

describe("chat completions", () => {
  const piece = (fields: object, name: string | undefined, args: unknown) => ({
    tool_calls: [{ ...fields, function: { name, arguments: args } }],
  });
  /** A piece as `index id name arguments`, with - for what it has not, and = before arguments that are no text. */
  const pieceOf = (text: string): object => {
    const [index, id, name, args] = text.split(" ").map((part) => (part === "-" ? undefined : part));
    const fields = { ...(index && { index: Number(index) }), ...(id && { id }) };
    return piece(fields, name, args?.startsWith("=") ? JSON.parse(args.slice(1)) : args);
  };
  const two = [
    { name: "a", args: { n: 1 } },
    { name: "b", args: { n: 2 } },
  ];

  test.each<[string, ...string[]]>([
    ["without an index", '- 1 a {"n":1}', '- 2 b {"n":2}'],
    ["without an index or an id", '- - a {"n":1}', '- - b {"n":2}'],
    ["with the index 0 for all", '0 1 a {"n":1}', '0 2 b {"n":2}'],
    ["in pieces that repeat id and name", '0 1 a {"n"', "0 1 a :1}", "1 2 b ", '1 - - {"n":2}'],
    ["with arguments as objects", '0 1 a ={"n":1}', '1 2 b ={"n":2}'],
    ["whose arguments come with another index", "0 1 a", '1 - - {"n":1}', "1 2 b ", '7 - - {"n":2}'],
    ["whose id says more than the index", "0 1 a ", "1 2 b ", '1 1 - {"n":1}', '0 2 - {"n":2}'],
    [
      "with a new id for each piece, of which that with a name begins one",
      '0 1 a {"n"',
      "0 x - :1}",
      '- 2 b {"n"',
      "- y - :2}",
    ],
    ["whole, at one index and without ids", '0 - a {"n":1}', '0 - b {"n":2}'],
    ["at one index and without ids, of which one begins without arguments", '0 - a {"n":1}', "0 - b ", '0 - - {"n":2}'],
    ["of one id, which begin without arguments", "0 1 a ", "1 1 b ", '0 - - {"n":1}', '1 - - {"n":2}'],
    ["whose id comes before the name", "0 1", '0 - a {"n":1}', "1 2 - ", '1 - b {"n":2}'],
  ])("reads two calls %s as two, and runs them whatever the finish reason is", (_how, ...deltas) => {
    const reply = chatReply(deltas.map(pieceOf), "eos");
    expect(callsOf(reply.message)).toEqual(two);
    expect(reply.stop).toBe("tool-calls");
  });

  test("keeps an id that comes before the name", () => {
    const deltas = [
      piece({ index: 0, id: "x" }, "a", "{}"),
      piece({ index: 1, id: "y" }, undefined, ""),
      piece({ index: 1 }, "b", "{}"),
    ];
    expect(kept(chatReply(deltas)).content).toMatchObject([{ id: "x" }, { id: "y" }]);
  });

  test("parses long arguments that come in many pieces once", () => {
    const text = JSON.stringify({ n: "x".repeat(1000) });
    const parse = vi.spyOn(JSON, "parse");
    onTestFinished(() => parse.mockRestore());
    const { message } = chatReply([...text].map((part) => piece({ index: 0 }, "a", part)));
    expect(callsOf(message)).toHaveLength(1);
    expect(parse.mock.calls.length).toBeLessThan(10);
  });

  test("gives calls without an id, or with the same, ids of their own", () => {
    const deltas = [{ index: 0 }, { index: 1, id: "x" }, { index: 2, id: "x" }].map((one) => piece(one, "a", "{}"));
    const ids = kept(chatReply(deltas)).content.flatMap((block) => (block.type === "tool-call" ? [block.id] : []));
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[\w-]{1,64}$/);
  });

  test("joins the pieces of a reasoning block and keeps encrypted ones apart, for an unchanged replay", () => {
    const detail = (fields: object) => ({ reasoning_details: [{ type: "reasoning.text", index: 0, ...fields }] });
    const { message } = chatReply([
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
    const { message } = chatReply([{ reasoning_content: "Hm" }, { content: "Yes." }]);
    expect(message.content[0]).toMatchObject({ text: "Hm", opaque: { data: { reasoning_content: "Hm" } } });
  });
});

describe("Messages", () => {
  test("redacted thinking and the blocks of hosted tools are sent back unchanged", () => {
    const redacted = { type: "redacted_thinking", data: "x==" };
    const search = { type: "server_tool_use", id: "srv", name: "web_search", input: {} };
    const { message, stop } = messagesReply(
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
    const whole = messagesReply([[use, { type: "input_json_delta", partial_json: '{"n":1}' }]], "max_tokens");
    expect(callsOf(whole.message)).toEqual([{ name: "t", args: { n: 1 } }]);
    expect(whole.message.content[0]).not.toHaveProperty("malformed");
    expect(messagesReply([[use]], "max_tokens").message.content[0]).toMatchObject({ args: {}, malformed: "cut off" });
  });

  const messageOf = (blocks: readonly Block[]): AssistantMessage => kept(messagesReply(blocks, "tool_use"));
  const sent = (message: AssistantMessage): string => JSON.stringify(toAnthropicTurn(message, true).content);

  const whole = wholeReplies.messages;

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
  const message = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "Yes." }] };

  test("items that arrive only at the end are shown and kept", () => {
    const { shown, reply } = responsesReply([message]);
    expect(shown).toEqual([{ type: "text-delta", text: "Yes." }]);
    expect(reply.message.content).toMatchObject([{ type: "text", text: "Yes.", opaque: { provider: "openai" } }]);
  });

  test("the items of hosted tools keep their place", () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } };
    const { reply } = responsesReply([search, message]);
    expect(reply.message.content[0]).toEqual({
      type: "reasoning",
      text: "",
      opaque: { provider: "openai", data: search },
    });
  });

  test("reasoning without its encrypted content is shown but not sent back", () => {
    const { reply } = responsesReply([
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
    const { reply } = responsesReply([], events, {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
    expect(reply.message.content[0]).toMatchObject({ args: {}, malformed: "cut off" });
    expect(reply.stop).toBe("token-limit");
  });

  function messageOf(output: readonly object[]): AssistantMessage {
    const events = output.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item: { ...item, encrypted_content: "incomplete" } },
      { type: "response.output_item.done", output_index, item },
    ]);
    return kept(responsesReply(output, events).reply);
  }
  const sent = (message: AssistantMessage): string => JSON.stringify(toResponsesItems(message, "openai/m"));

  const whole = wholeReplies.responses;

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
